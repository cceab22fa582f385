// Prints objects of every served kind in both of their encodings: a line for each, with the group version and kind, the
// body in Protobuf as hexadecimal digits, and the JSON. The objects are arbitrary, from a fixed seed, and each field is
// set in some of them; values that JSON and Protobuf encode in different ways are chosen on purpose.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var dice = rand.New(rand.NewSource(36))

var names = []string{"a", "b-1", "c.d", "É", ""}

var schemas = []string{
	`{"type":"string"}`, `{}`, `{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}}`,
	`{"type":"object","additionalProperties":false,"dependencies":{"a":["b","c"],"d":{"type":"string"}}}`,
	`{"items":[{"type":"string"},{"items":{"x-kubernetes-int-or-string":true}}],"additionalItems":true}`,
	`{"default":{"a":[1,2.5,null]},"enum":["x",1,null],"example":"é","minimum":0,"multipleOf":0.5,"not":{"nullable":true}}`,
}

const definition = `{"metadata":{"name":"things.example.com","annotations":{"a":"b"}},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"things","kind":"Thing","shortNames":["th"]},"versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.replicas","priority":1}],"selectableFields":[{"jsonPath":".spec.color"}],
"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","default":{"color":"red","replicas":1},
"x-kubernetes-validations":[{"rule":"self.replicas < 10","message":"too many","fieldPath":".replicas","reason":"FieldValueForbidden"}],
"properties":{"replicas":{"type":"integer","format":"int32","minimum":0,"maximum":12,"exclusiveMaximum":true,"multipleOf":1,"default":1},"color":{"type":"string","enum":["red","blue"],"default":"red","example":"blue"},
"ratio":{"type":"number","multipleOf":0.5,"default":1.5},"port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
"items":{"type":"array","maxItems":5,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":9}}}},
"labels":{"type":"object","additionalProperties":{"type":"string","nullable":true}},"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"a":[1,null,{"b":2.5}]}},
"pod":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},"flags":{"type":"object","additionalProperties":true}}},
"status":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"replicas":{"type":"integer"}}}}}}}]}}`

var documents = []string{`null`, `"text"`, `1`, `-1.5`, `true`, `[]`, `{}`, `{"a":[1,{"b":null}]}`, `""`}

// special sets values of the types whose two encodings differ; false for all others.
func special(v reflect.Value) bool {
	switch v.Addr().Interface().(type) {
	case *resource.Quantity:
		texts := []string{"0", "100m", "1Gi", "1500", "-2", "1e3", "12345678901234567890", "0.5", "1.5Gi"}
		v.Set(reflect.ValueOf(resource.MustParse(texts[dice.Intn(len(texts))])))
	case *metav1.Time:
		seconds := []int64{1, -1, 1700000000, 253402300799, -62135596800, 0}
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(seconds[dice.Intn(len(seconds))], 0).UTC())))
	case *metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(time.Unix(1700000000, int64(dice.Intn(3))*123456000).UTC())))
	case *intstr.IntOrString:
		choices := []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(-7), intstr.FromInt32(8080), intstr.FromString("50%"), intstr.FromString("")}
		v.Set(reflect.ValueOf(choices[dice.Intn(len(choices))]))
	case *runtime.RawExtension:
		v.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(documents[7])}))
	case *metav1.FieldsV1:
		v.Set(reflect.ValueOf(*metav1.NewFieldsV1(`{"f:a":{"k:{\"b\":1}":{".":{}}}}`)))
	case *apiextensionsv1.JSON:
		v.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte(documents[dice.Intn(len(documents))])}))
	case *apiextensionsv1.JSONSchemaProps:
		var props apiextensionsv1.JSONSchemaProps
		if err := json.Unmarshal([]byte(schemas[dice.Intn(len(schemas))]), &props); err != nil {
			panic(err)
		}
		v.Set(reflect.ValueOf(props))
	case *metav1.TypeMeta:
	default:
		return false
	}
	return true
}

func fill(v reflect.Value, depth int) {
	if special(v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(names[dice.Intn(len(names))])
	case reflect.Bool:
		v.SetBool(dice.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 80, 1 << 30}[dice.Intn(5)])
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -2.5}[dice.Intn(3)])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, 255, 10}[:dice.Intn(4)])
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+dice.Intn(2), 2))
		for i := 0; i < v.Len(); i++ {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := 0; i <= dice.Intn(2); i++ {
			item := reflect.New(v.Type().Elem()).Elem()
			fill(item, depth+1)
			v.SetMapIndex(reflect.ValueOf([]string{"k", "a/b", ""}[dice.Intn(3)]).Convert(v.Type().Key()), item)
		}
	case reflect.Struct:
		fields := []int{}
		for i := 0; i < v.NumField(); i++ {
			if v.Type().Field(i).IsExported() {
				fields = append(fields, i)
			}
		}
		for _, i := range fields {
			// Deep down, few: the objects would grow without end.
			if f := v.Field(i); f.Kind() == reflect.Struct || dice.Intn(2+depth*len(fields)/6) == 0 {
				fill(f, depth+1)
			}
		}
	}
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	encoder := protobuf.NewSerializer(scheme, scheme)
	var kinds []schema.GroupVersionKind
	wanted := map[string]bool{}
	for _, line := range os.Args[1:] {
		wanted[line] = true
	}
	for kind := range scheme.AllKnownTypes() {
		if wanted[kind.GroupVersion().String()+"/"+kind.Kind] {
			kinds = append(kinds, kind)
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, kind := range kinds {
		// Of definitions more, because of the forms of schemas, and a valid one.
		count := 2
		if kind.Kind == "CustomResourceDefinition" {
			count = 9
		}
		for i := 0; i < count; i++ {
			object, err := scheme.New(kind)
			if err != nil {
				panic(err)
			}
			if i < 8 {
				fill(reflect.ValueOf(object).Elem(), 0)
			} else if err := json.Unmarshal([]byte(definition), object); err != nil {
				panic(err)
			}
			object.GetObjectKind().SetGroupVersionKind(kind)
			text, err := json.Marshal(object)
			if err != nil {
				continue // A time that JSON cannot express.
			}
			// JSON leaves out some values that Protobuf has, such as empty bytes: both encodings are of what JSON contains.
			read, err := scheme.New(kind)
			if err != nil {
				panic(err)
			}
			if err := json.Unmarshal(text, read); err != nil {
				panic(err)
			}
			read.GetObjectKind().SetGroupVersionKind(kind)
			var body bytes.Buffer
			if err := encoder.Encode(read, &body); err != nil {
				panic(err)
			}
			fmt.Fprintf(out, "%s %s\t%s\t%s\n", kind.GroupVersion(), kind.Kind, hex.EncodeToString(body.Bytes()), strings.TrimSpace(string(text)))
		}
	}
}
