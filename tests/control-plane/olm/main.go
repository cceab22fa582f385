// Validates OLM bundles by the rules of `operator-sdk bundle validate`, those of operator-framework's own module, and their
// ClusterServiceVersions by the schema of OLM's CRD. Prints a line for each finding, `BUNDLE: LEVEL: TEXT`, and exits with 1 if there is an
// error.
//
//	validate DIR...
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operator-framework/api/crds"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schema "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// What `operator-sdk bundle validate` runs, and what it runs with `--select-optional suite=operatorframework`, but for the validators that
// need images.
var validators = append(validation.DefaultBundleValidators,
	validation.OperatorHubV2Validator,
	validation.StandardCapabilitiesValidator,
	validation.StandardCategoriesValidator,
	validation.ObjectValidator,
	validation.GoodPracticesValidator,
	validation.AlphaDeprecatedAPIsValidator,
)

func main() {
	failed := false
	for _, dir := range os.Args[1:] {
		bundle, err := manifests.GetBundleFromDir(dir)
		if err != nil {
			fmt.Printf("%s: error: %v\n", dir, err)
			failed = true
			continue
		}
		for _, result := range validators.Validate(objects(bundle)...) {
			print(dir, "error", result.Errors)
			print(dir, "warning", result.Warnings)
			failed = failed || result.HasError()
		}
		if err := stored(dir); err != nil {
			fmt.Printf("%s: error: %v\n", dir, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// Whether an API server would store the ClusterServiceVersion, whole.
func stored(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "manifests", "*.clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("%d ClusterServiceVersions: %v", len(files), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, &v1alpha1.ClusterServiceVersion{}); err != nil {
		return err
	}
	var csv map[string]interface{}
	if err := yaml.Unmarshal(text, &csv); err != nil {
		return err
	}
	var internal apiextensions.CustomResourceValidation
	version := crds.ClusterServiceVersion().Spec.Versions[0]
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, &internal, nil); err != nil {
		return err
	}
	validator, _, err := schema.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return err
	}
	return schema.ValidateCustomResource(nil, csv, validator).ToAggregate()
}

// The bundle, and its objects: some validators look at these alone.
func objects(bundle *manifests.Bundle) []interface{} {
	all := []interface{}{bundle, bundle.CSV}
	for _, crd := range bundle.V1CRDs {
		all = append(all, crd)
	}
	for _, object := range bundle.Objects {
		all = append(all, object)
	}
	return all
}

func print(dir, level string, found []errors.Error) {
	for _, one := range found {
		fmt.Printf("%s: %s: %s\n", dir, level, one.Error())
	}
}
