// Package v2 contains a second version of FooBar, with the fields of the first.
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	testv1 "kubewright.dev/benches/controller-runtime/api/v1"
)

var GroupVersion = schema.GroupVersion{Group: "test.example.com", Version: "v2"}

// AddToScheme registers FooBar.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &FooBar{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// FooBar has the fields of the first version.
type FooBar struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   testv1.FooBarSpec   `json:"spec"`
	Status testv1.FooBarStatus `json:"status,omitempty"`
}

// DeepCopyObject is what controller-gen would generate.
func (in *FooBar) DeepCopyObject() runtime.Object {
	out := &FooBar{TypeMeta: in.TypeMeta}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
	in.Status.DeepCopyInto(&out.Status)
	return out
}

// ConvertTo writes this object as one of the hub.
func (in *FooBar) ConvertTo(hub conversion.Hub) error {
	out := hub.(*testv1.FooBar)
	out.ObjectMeta, out.Spec, out.Status = in.ObjectMeta, in.Spec, in.Status
	return nil
}

// ConvertFrom reads this object from one of the hub.
func (in *FooBar) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*testv1.FooBar)
	in.ObjectMeta, in.Spec, in.Status = from.ObjectMeta, from.Spec, from.Status
	return nil
}
