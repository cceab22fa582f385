// Package v1 contains FooBar as kubebuilder generates it.
// +kubebuilder:object:generate=true
// +groupName=test.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var GroupVersion = schema.GroupVersion{Group: "test.example.com", Version: "v1"}

// AddToScheme registers FooBar and its list.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &FooBar{}, &FooBarList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// FooBarSpec is the desired state of FooBar.
type FooBarSpec struct {
	// +kubebuilder:validation:MinLength=1
	Target string `json:"target"`
	// +optional
	Type *string `json:"type,omitempty"`
}

// FooBarStatus is the observed state of FooBar.
type FooBarStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FooBar has one ConfigMap.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=fb
type FooBar struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FooBarSpec   `json:"spec"`
	Status FooBarStatus `json:"status,omitempty"`
}

// FooBarList is a list of FooBars.
// +kubebuilder:object:root=true
type FooBarList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []FooBar `json:"items"`
}
