// validate CRD.json OBJECT.json: how often per second the schema of the CRD's first version validates the object, the way the API
// server does it: against the OpenAPI schema, then sets and maps. The same in Rust is benches/peers/validate.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func main() {
	var crd v1.CustomResourceDefinition
	must(json.Unmarshal(read(1), &crd))
	var object map[string]interface{}
	must(utiljson.Unmarshal(read(2), &object))
	var props apiextensions.JSONSchemaProps
	must(v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil))
	validator, _, err := validation.NewSchemaValidator(&props)
	must(err)
	structural, err := schema.NewStructural(&props)
	must(err)

	validate := func() {
		errs := validation.ValidateCustomResource(nil, object, validator)
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
		if len(errs) > 0 {
			panic(errs.ToAggregate())
		}
	}
	began, count := time.Now(), 0
	for time.Since(began) < 2*time.Second {
		for i := 0; i < 100; i++ {
			validate()
		}
		count += 100
	}
	fmt.Printf("%.0f\n", float64(count)/time.Since(began).Seconds())
}

func read(at int) []byte {
	text, err := os.ReadFile(os.Args[at])
	must(err)
	return text
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
