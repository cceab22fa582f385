// Runs the operator, with the flags of the other two that the benchmark needs.
package main

import (
	"flag"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	testv1 "kubewright.dev/benches/controller-runtime/api/v1"
	testv2 "kubewright.dev/benches/controller-runtime/api/v2"
)

// Set by the linker: no events are recorded.
var silent string

func main() {
	var probes, namespace, certificates string
	var workers, webhooks int
	var elect bool
	flag.StringVar(&probes, "health-probe-bind-address", ":8081", "address of the probes")
	flag.IntVar(&workers, "max-concurrent-reconciles", 1, "objects reconciled at the same time")
	flag.BoolVar(&elect, "leader-elect", false, "work only while holding the lease")
	flag.StringVar(&namespace, "leader-election-namespace", "default", "namespace of the lease")
	flag.IntVar(&webhooks, "webhook-port", 0, "port of the webhooks; 0 turns them off")
	flag.StringVar(&certificates, "webhook-cert-path", "", "folder for their certificate")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	options := ctrl.Options{HealthProbeBindAddress: probes, LeaderElection: elect,
		LeaderElectionID: "bench-controller-runtime", LeaderElectionNamespace: namespace}
	if webhooks != 0 {
		server, err := serveWebhooks(webhooks, certificates)
		if err != nil {
			ctrl.Log.Error(err, "cannot serve webhooks")
			os.Exit(1)
		}
		options.WebhookServer = server
	}
	if err := run(workers, options); err != nil {
		ctrl.Log.Error(err, "cannot run")
		os.Exit(1)
	}
}

func run(workers int, options ctrl.Options) error {
	config := ctrl.GetConfigOrDie()
	// No client-side limit, as in the other operators: the API server limits.
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, testv1.AddToScheme, testv2.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	options.Scheme = scheme
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	reconciler := &FooBarReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}
	if silent == "" {
		reconciler.Recorder = mgr.GetEventRecorder("foobar")
	}
	if err := reconciler.SetupWithManager(mgr, workers); err != nil {
		return err
	}
	if options.WebhookServer != nil {
		if err := registerWebhooks(mgr); err != nil {
			return err
		}
	}
	// Caches are filled without the lease too, as in the generated operator; controllers would start theirs with it.
	signals := ctrl.SetupSignalHandler()
	for _, object := range []client.Object{&testv1.FooBar{}, &corev1.ConfigMap{}} {
		if _, err := mgr.GetCache().GetInformer(signals, object, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	// Ready means, as in the generated operator, that the caches are filled.
	if err := mgr.AddReadyzCheck("caches", cachesFilled(mgr)); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.Start(signals)
}
