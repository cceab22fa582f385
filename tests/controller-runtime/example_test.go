package example

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// teams keeps a ConfigMap `team` in each namespace that has the label `team`.
type teams struct{ client.Client }

func (t *teams) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var namespace corev1.Namespace
	if err := t.Get(ctx, request.NamespacedName, &namespace); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	name, ok := namespace.Labels["team"]
	if !ok {
		return reconcile.Result{}, nil
	}
	team := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "team"}}
	_, err := controllerutil.CreateOrUpdate(ctx, t.Client, team, func() error {
		team.Data = map[string]string{"name": name}
		return nil
	})
	return reconcile.Result{}, err
}

func TestANamespaceGetsItsTeam(t *testing.T) {
	environment := &envtest.Environment{}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer environment.Stop()

	operator, err := manager.New(config, manager.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	reconciler := &teams{operator.GetClient()}
	if err := builder.ControllerManagedBy(operator).For(&corev1.Namespace{}).Complete(reconciler); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go operator.Start(ctx)

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "blue"}}}
	if err := operator.GetClient().Create(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	// It reads the API server, not the cache of the operator.
	reader, team := operator.GetAPIReader(), &corev1.ConfigMap{}
	err = wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		err := reader.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "team"}, team)
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil || team.Data["name"] != "blue" {
		t.Fatalf("%v: %v", err, team.Data)
	}
}
