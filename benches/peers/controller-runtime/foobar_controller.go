package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	testv1 "kubewright.dev/benches/controller-runtime/api/v1"
)

const finalizer = "test.example.com/cleanup"

// FooBarReconciler keeps one ConfigMap for each FooBar.
type FooBarReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// SetupWithManager watches FooBars and the ConfigMaps they own.
func (r *FooBarReconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&testv1.FooBar{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// Reconcile handles finalizer, child and status of one FooBar.
func (r *FooBarReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var foobar testv1.FooBar
	if err := r.Get(ctx, req.NamespacedName, &foobar); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foobar.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.cleanup(ctx, &foobar)
	}
	if controllerutil.AddFinalizer(&foobar, finalizer) {
		if err := r.Update(ctx, &foobar); err != nil {
			return ctrl.Result{}, ignoreConflict(err)
		}
	}
	ready, err := r.applyChild(ctx, &foobar)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, ignoreConflict(r.updateStatus(ctx, &foobar, ready))
}

func (r *FooBarReconciler) applyChild(ctx context.Context, foobar *testv1.FooBar) (metav1.Condition, error) {
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: foobar.Namespace, Name: foobar.Name + "-foobar"}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = map[string]string{"target": foobar.Spec.Target}
		if foobar.Spec.Type != nil {
			child.Data["type"] = *foobar.Spec.Type
		}
		if child.UID != "" && !metav1.IsControlledBy(child, foobar) {
			return errNotOwned
		}
		return controllerutil.SetControllerReference(foobar, child, r.Scheme)
	})
	switch {
	case errors.Is(err, errNotOwned):
		return metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "ChildNotOwned",
			Message: "the ConfigMap has another owner"}, nil
	case err != nil:
		return metav1.Condition{}, err
	case result != controllerutil.OperationResultNone && r.Recorder != nil:
		r.Recorder.Eventf(foobar, child, corev1.EventTypeNormal, "Applied", "Apply", "the ConfigMap was brought in step")
	}
	return metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Applied",
		Message: "the ConfigMap is in step"}, nil
}

func (r *FooBarReconciler) updateStatus(ctx context.Context, foobar *testv1.FooBar, ready metav1.Condition) error {
	before := foobar.Status.DeepCopy()
	ready.ObservedGeneration = foobar.Generation
	foobar.Status.ObservedGeneration = foobar.Generation
	meta.SetStatusCondition(&foobar.Status.Conditions, ready)
	if equality.Semantic.DeepEqual(before, &foobar.Status) {
		return nil
	}
	return r.Status().Update(ctx, foobar)
}

func (r *FooBarReconciler) cleanup(ctx context.Context, foobar *testv1.FooBar) error {
	if !controllerutil.RemoveFinalizer(foobar, finalizer) {
		return nil
	}
	if r.Recorder != nil {
		r.Recorder.Eventf(foobar, nil, corev1.EventTypeNormal, "CleanedUp", "Cleanup", "nothing is left outside the cluster")
	}
	return client.IgnoreNotFound(ignoreConflict(r.Update(ctx, foobar)))
}

var errNotOwned = errors.New("not owned")

// The watch event of the other write requeues the object.
func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func cachesFilled(mgr ctrl.Manager) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled")
		}
		return nil
	}
}
