// Package v1 has a kind with the Kubernetes types that specs usually embed; the same as in
// scaffolds/schema/tests/embedded. controller-gen writes its schema.
// +groupName=test.example.com
package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
type FooBar struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FooBarSpec `json:"spec"`
}

type FooBarSpec struct {
	Template    corev1.PodTemplateSpec         `json:"template"`
	Claims      []corev1.PersistentVolumeClaim `json:"claims"`
	Selector    *metav1.LabelSelector          `json:"selector,omitempty"`
	Tolerations []corev1.Toleration            `json:"tolerations,omitempty"`
	Resources   corev1.ResourceRequirements    `json:"resources,omitempty"`
	Affinity    *corev1.Affinity               `json:"affinity,omitempty"`
	Env         []corev1.EnvVar                `json:"env,omitempty"`
	Ports       []corev1.ServicePort           `json:"ports,omitempty"`
	Volumes     map[string]corev1.Volume       `json:"volumes,omitempty"`
	PullSecret  *corev1.LocalObjectReference   `json:"pullSecret,omitempty"`
	Password    corev1.SecretKeySelector       `json:"password"`
	// +structType=granular
	Reference corev1.TypedLocalObjectReference `json:"reference"`
}
