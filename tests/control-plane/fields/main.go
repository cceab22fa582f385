// Prints, for every struct of the served kinds, the fields as Go's encoding/json treats them: facts that OpenAPI does
// not contain and an equivalent decoder needs (pointers, omitempty, the type names in its errors).
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type field struct {
	Type    string `json:"type"`
	Pointer bool   `json:"pointer"`
	Empty   bool   `json:"omitempty"`
	Zero    bool   `json:"omitzero"`
	// The embedded structs that contain the field.
	Via string `json:"via"`
	// The numbers of the field in protobuf: of those structs', then its own, with dots between.
	Number string `json:"number"`
}

var structs = map[string]map[string]field{}

// nameOf is the name of the type's OpenAPI definition.
func nameOf(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(host, append(parts[1:], t.Name())...), ".")
}

func visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		visit(t.Elem())
	case reflect.Struct:
		if _, seen := structs[nameOf(t)]; seen {
			return
		}
		fields := map[string]field{}
		structs[nameOf(t)] = fields
		fill(t, fields, "", "")
	}
}

// number is the number in a tag such as `protobuf:"bytes,1,opt,name=metadata"`.
func number(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func fill(t reflect.Type, fields map[string]field, via, numbers string) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			// The fields of an embedded struct are in the message only if that struct has a number.
			inner := "-"
			if own := number(f); own != "" {
				inner = numbers + own + "."
			}
			fill(f.Type, fields, via+f.Name+".", inner)
			continue
		}
		if !f.IsExported() || name == "-" || name == "" {
			continue
		}
		own := number(f)
		if own != "" {
			own = numbers + own
		}
		if strings.HasPrefix(own, "-") {
			own = ""
		}
		fields[name] = field{
			Type:    f.Type.String(),
			Pointer: f.Type.Kind() == reflect.Pointer,
			Empty:   strings.Contains(options, "omitempty"),
			Zero:    strings.Contains(options, "omitzero"),
			Via:     via,
			Number:  own,
		}
		visit(f.Type)
	}
}

func main() {
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, coordinationv1.AddToScheme,
		eventsv1.AddToScheme, discoveryv1.AddToScheme, schedulingv1.AddToScheme, certificatesv1.AddToScheme, storagev1.AddToScheme, storagemigrationv1.AddToScheme,
		apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, flowcontrolv1.AddToScheme, nodev1.AddToScheme, resourcev1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme,
	} {
		scheme := runtime.NewScheme()
		if err := add(scheme); err != nil {
			panic(err)
		}
		for _, t := range scheme.AllKnownTypes() {
			visit(t)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(structs); err != nil {
		panic(err)
	}
}
