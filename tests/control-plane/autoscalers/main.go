// Prints what kube-controller-manager's autoscaler makes of metrics: a line for each autoscaler with its spec, the first
// replicas of its target, and steps ten seconds apart. A step has the metrics of all Pods, the replicas that somebody else
// sets, and what follows: the replicas of the target, those of the status (current, desired), and the reasons of the three
// conditions. The specs and metrics are arbitrary, from a fixed seed. Time is virtual.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	v1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	autoscalinginformers "k8s.io/client-go/informers/autoscaling/v2"
	coreinformers "k8s.io/client-go/informers/core/v1"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	corelisters "k8s.io/client-go/listers/core/v1"
	scaleclient "k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

const (
	autoscalers = 72
	steps       = 16
	period      = 10 * time.Second
	// The default of --horizontal-pod-autoscaler-downscale-stabilization.
	window = 5 * time.Minute
	// The default of --horizontal-pod-autoscaler-tolerance.
	tolerance = 0.1
)

var dice = rand.New(rand.NewSource(38))

func pick[T any](of ...T) T { return of[dice.Intn(len(of))] }

func pointer[T any](value T) *T { return &value }

// world is a target with its autoscaler, its Pods and their metrics. It takes the place of an API server.
type world struct {
	replicas int32
	// The metrics by name, in thousandths: of a Pod, or of an object or something external.
	metrics map[string]int64
	scalers cache.Indexer
	pods    cache.Indexer
	handler cache.ResourceEventHandler
}

func indexer() cache.Indexer {
	by := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, by)
}

func (w *world) scale(replicas int32) {
	w.replicas = replicas
	var pods []interface{}
	for i := range replicas {
		requests := v1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}
		pods = append(pods, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"}},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: requests}}}},
			Status: v1.PodStatus{
				Phase: v1.PodRunning, StartTime: pointer(metav1.Now()),
				Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}},
			},
		})
	}
	must(w.pods.Replace(pods, ""))
}

// informer is always synchronized; the world notifies its handler.
type informer struct {
	cache.SharedIndexInformer
	world *world
}

func (i informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	i.world.handler = handler
	return nil, nil
}
func (informer) HasSynced() bool { return true }

type scalerInformer struct{ *world }

func (i scalerInformer) Informer() cache.SharedIndexInformer { return informer{world: i.world} }
func (i scalerInformer) Lister() autoscalinglisters.HorizontalPodAutoscalerLister {
	return autoscalinglisters.NewHorizontalPodAutoscalerLister(i.scalers)
}

type podInformer struct{ *world }

func (i podInformer) Informer() cache.SharedIndexInformer { return informer{world: i.world} }
func (i podInformer) Lister() corelisters.PodLister       { return corelisters.NewPodLister(i.pods) }

var (
	_ autoscalinginformers.HorizontalPodAutoscalerInformer = scalerInformer{}
	_ coreinformers.PodInformer                            = podInformer{}
)

// events drops all events.
type events struct{ coreclient.EventInterface }

func (events) Events(string) coreclient.EventInterface { return events{} }
func (events) CreateWithEventNamespace(event *v1.Event) (*v1.Event, error) {
	return event, nil
}
func (events) PatchWithEventNamespace(event *v1.Event, _ []byte) (*v1.Event, error) {
	return event, nil
}

type scales struct {
	scaleclient.ScaleInterface
	*world
}

func (s scales) Scales(string) scaleclient.ScaleInterface { return s }
func (s scales) Get(context.Context, schema.GroupResource, string, metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       autoscalingv1.ScaleSpec{Replicas: s.replicas},
		Status:     autoscalingv1.ScaleStatus{Replicas: s.replicas, Selector: "app=web"},
	}, nil
}
func (s scales) Update(_ context.Context, _ schema.GroupResource, scale *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	s.scale(scale.Spec.Replicas)
	return scale, nil
}

type scalers struct {
	autoscalingclient.HorizontalPodAutoscalerInterface
	*world
}

func (s scalers) HorizontalPodAutoscalers(string) autoscalingclient.HorizontalPodAutoscalerInterface {
	return s
}
func (s scalers) UpdateStatus(_ context.Context, scaler *autoscalingv2.HorizontalPodAutoscaler, _ metav1.UpdateOptions) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	return scaler, s.scalers.Update(scaler)
}

func (w *world) metric(name string) (int64, error) {
	if value, is := w.metrics[name]; is {
		return value, nil
	}
	return 0, errors.New("not measured")
}

func (w *world) each(name string) (metricsclient.PodMetricsInfo, time.Time, error) {
	value, err := w.metric(name)
	all := metricsclient.PodMetricsInfo{}
	for _, key := range w.pods.ListKeys() {
		all[strings.TrimPrefix(key, "default/")] = metricsclient.PodMetric{Timestamp: time.Now(), Value: value}
	}
	return all, time.Now(), err
}

func (w *world) GetResourceMetric(_ context.Context, name v1.ResourceName, _ string, _ labels.Selector, _ string) (metricsclient.PodMetricsInfo, time.Time, error) {
	return w.each(string(name))
}
func (w *world) GetRawMetric(name, _ string, _, _ labels.Selector) (metricsclient.PodMetricsInfo, time.Time, error) {
	return w.each(name)
}
func (w *world) GetObjectMetric(name, _ string, _ *autoscalingv2.CrossVersionObjectReference, _ labels.Selector) (int64, time.Time, error) {
	value, err := w.metric(name)
	return value, time.Now(), err
}
func (w *world) GetExternalMetric(name, _ string, _ labels.Selector) ([]int64, time.Time, error) {
	value, err := w.metric(name)
	return []int64{value}, time.Now(), err
}

// aMetric returns an arbitrary metric, its name, and its target in thousandths; the target of a utilization is in percent.
func aMetric() (autoscalingv2.MetricSpec, string, int64) {
	quantity := func(texts ...string) *resource.Quantity { return pointer(resource.MustParse(pick(texts...))) }
	value := func(q *resource.Quantity) autoscalingv2.MetricTarget {
		return autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: q}
	}
	average := func(q *resource.Quantity) autoscalingv2.MetricTarget {
		return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: q}
	}
	percent := pick[int32](30, 50, 70, 80, 150)
	utilization := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}
	named := func(name string) autoscalingv2.MetricIdentifier { return autoscalingv2.MetricIdentifier{Name: name} }
	switch dice.Intn(8) {
	case 0, 1:
		source := &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: utilization}
		return autoscalingv2.MetricSpec{Type: "Resource", Resource: source}, "cpu", int64(percent)
	case 2:
		source := &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: "main", Target: utilization}
		return autoscalingv2.MetricSpec{Type: "ContainerResource", ContainerResource: source}, "cpu", int64(percent)
	case 3:
		q := quantity("64Mi", "100M", "2Gi")
		source := &autoscalingv2.ResourceMetricSource{Name: "memory", Target: average(q)}
		return autoscalingv2.MetricSpec{Type: "Resource", Resource: source}, "memory", q.MilliValue()
	case 4:
		q := quantity("10", "2500m", "333m")
		source := &autoscalingv2.PodsMetricSource{Metric: named("requests"), Target: average(q)}
		return autoscalingv2.MetricSpec{Type: "Pods", Pods: source}, "requests", q.MilliValue()
	case 5:
		q := quantity("100", "1k", "7500m")
		source := &autoscalingv2.ExternalMetricSource{Metric: named("queue"), Target: value(q)}
		return autoscalingv2.MetricSpec{Type: "External", External: source}, "queue", q.MilliValue()
	case 6:
		q := quantity("30", "1500m")
		source := &autoscalingv2.ExternalMetricSource{Metric: named("backlog"), Target: average(q)}
		return autoscalingv2.MetricSpec{Type: "External", External: source}, "backlog", 5 * q.MilliValue()
	default:
		q := quantity("20", "250m")
		target, wanted := value(q), q.MilliValue()
		if dice.Intn(2) == 0 {
			target, wanted = average(q), 5*q.MilliValue()
		}
		object := autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Service", Name: "web"}
		source := &autoscalingv2.ObjectMetricSource{DescribedObject: object, Metric: named("hits"), Target: target}
		return autoscalingv2.MetricSpec{Type: "Object", Object: source}, "hits", wanted
	}
}

func rules(windows ...int32) *autoscalingv2.HPAScalingRules {
	rules := &autoscalingv2.HPAScalingRules{
		SelectPolicy: pointer(pick(autoscalingv2.MaxChangePolicySelect, autoscalingv2.MaxChangePolicySelect,
			autoscalingv2.MinChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect)),
		StabilizationWindowSeconds: pointer(pick(windows...)),
	}
	for range 1 + dice.Intn(2) {
		policy := autoscalingv2.HPAScalingPolicy{Type: "Pods", Value: pick[int32](1, 2, 3, 5), PeriodSeconds: pick[int32](10, 15, 30, 60)}
		if dice.Intn(2) == 0 {
			policy.Type, policy.Value = "Percent", pick[int32](10, 33, 50, 100, 150)
		}
		rules.Policies = append(rules.Policies, policy)
	}
	if dice.Intn(2) == 0 {
		rules.Tolerance = pointer(resource.MustParse(pick("0", "50m", "0.3")))
	}
	return rules
}

func aSpec() (autoscalingv2.HorizontalPodAutoscalerSpec, map[string]int64) {
	least := pick[int32](1, 1, 2, 3)
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		MinReplicas:    &least,
		MaxReplicas:    pick[int32](5, 9, 17, 40),
	}
	targets := map[string]int64{}
	for range 1 + dice.Intn(2) {
		metric, name, target := aMetric()
		if _, is := targets[name]; !is {
			targets[name] = target
			spec.Metrics = append(spec.Metrics, metric)
		}
	}
	if dice.Intn(3) > 0 {
		down := rules(0, 10, 30, 60)
		if dice.Intn(4) == 0 {
			// The controller takes its own window.
			down.StabilizationWindowSeconds = nil
		}
		spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(0, 0, 10, 30, 60), ScaleDown: down}
	}
	return spec, targets
}

// measure sets arbitrary metrics around their targets, and returns them as the annotation has them.
func (w *world) measure(targets map[string]int64) string {
	w.metrics = map[string]int64{}
	names := make([]string, 0, len(targets))
	for name := range targets {
		names = append(names, name)
	}
	sort.Strings(names)
	var texts []string
	for _, name := range names {
		if dice.Intn(12) == 0 {
			continue
		}
		value := int64(float64(targets[name]) * pick(0, 0.1, 0.4, 0.8, 0.9, 0.93, 1, 1.04, 1.1, 1.2, 1.7, 2.5, 6))
		text := resource.NewMilliQuantity(value, resource.DecimalSI).String()
		if name == "cpu" {
			// A percentage of the request, which is a core.
			text = fmt.Sprint(value)
			value *= 10
		}
		w.metrics[name] = value
		texts = append(texts, name+"="+text)
	}
	return strings.Join(texts, ",")
}

func (w *world) reasons() string {
	found := map[autoscalingv2.HorizontalPodAutoscalerConditionType]string{}
	for _, condition := range w.scaler().Status.Conditions {
		found[condition.Type] = condition.Reason
	}
	return strings.Join([]string{found["AbleToScale"], found["ScalingActive"], found["ScalingLimited"]}, " ")
}

func (w *world) scaler() *autoscalingv2.HorizontalPodAutoscaler {
	object, _, err := w.scalers.GetByKey("default/web")
	must(err)
	return object.(*autoscalingv2.HorizontalPodAutoscaler)
}

type line struct {
	Spec     autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
	Replicas int32                                     `json:"replicas"`
	Steps    [][]any                                   `json:"steps"`
}

func run(mapper apimeta.RESTMapper) line {
	w := &world{scalers: indexer(), pods: indexer()}
	spec, targets := aSpec()
	made := line{Spec: spec, Replicas: pick[int32](1, 2, 3, 4, 6, 8, 12)}
	w.scale(made.Replicas)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	spec.DeepCopyInto(&scaler.Spec)
	must(w.scalers.Add(scaler))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	controller := podautoscaler.NewHorizontalController(ctx, events{}, scales{world: w}, scalers{world: w}, mapper, w,
		scalerInformer{w}, podInformer{w}, period, window, tolerance, 0, 0)
	go controller.Run(ctx, 1)
	for step := range steps {
		text := w.measure(targets)
		var others any
		if step > 0 && (w.replicas == 0 || dice.Intn(12) == 0) {
			w.scale(pick[int32](0, 1, 3, 7, 50))
			others = w.replicas
		}
		// The controller looks at a new autoscaler immediately, and then after each period.
		if step == 0 {
			w.handler.OnAdd(scaler, false)
		} else {
			time.Sleep(period)
		}
		synctest.Wait()
		status := w.scaler().Status
		made.Steps = append(made.Steps, []any{text, others, w.replicas, status.CurrentReplicas, status.DesiredReplicas, w.reasons()})
	}
	return made
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func record(*testing.T) {
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	mapper := apimeta.NewDefaultRESTMapper([]schema.GroupVersion{apps})
	mapper.Add(apps.WithKind("Deployment"), apimeta.RESTScopeNamespace)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for range autoscalers {
		must(out.Encode(run(mapper)))
	}
	// The goroutines of the controllers need not end.
	os.Exit(0)
}

func main() {
	// They wait until the virtual time, which begins in 2000, is that of the program's start.
	utilruntime.ErrorHandlers = nil
	klog.InitFlags(nil)
	must(flag.Set("logtostderr", "false"))
	must(flag.Set("stderrthreshold", "FATAL"))
	flag.Parse()
	klog.SetOutput(io.Discard)
	// The controller sees its own writes at once, and has no store to wait for.
	must(utilfeature.DefaultMutableFeatureGate.Set("StaleControllerConsistencyHPA=false"))
	all := []testing.InternalTest{{Name: "record", F: func(t *testing.T) { synctest.Test(t, record) }}}
	// A bubble of virtual time needs a test.
	testing.Main(func(_, _ string) (bool, error) { return true, nil }, all, nil, nil)
}
