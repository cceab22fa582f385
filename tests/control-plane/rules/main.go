// Prints every function that a new validation rule of a CustomResourceDefinition can call, one overload a line: the function,
// the overload's id, and its signature, with the receiver before the dot.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"k8s.io/apiserver/pkg/cel/environment"
)

func main() {
	set := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	// A function can be called in new rules one release after it was introduced, so that the release before still compiles the rule.
	env, err := set.Env(environment.NewExpressions)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	functions := env.Functions()
	names := make([]string, 0, len(functions))
	for name, function := range functions {
		// Old names of operators can be evaluated but not called.
		if !function.IsDeclarationDisabled() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, name := range names {
		for _, overload := range functions[name].OverloadDecls() {
			fmt.Fprintln(out, name, overload.ID(), signature(overload))
		}
	}
}

func signature(overload *decls.OverloadDecl) string {
	arguments := make([]string, 0, len(overload.ArgTypes()))
	for _, argument := range overload.ArgTypes() {
		arguments = append(arguments, cel.FormatCELType(argument))
	}
	receiver := ""
	if overload.IsMemberFunction() {
		receiver, arguments = arguments[0]+".", arguments[1:]
	}
	return fmt.Sprintf("%s(%s) -> %s", receiver, strings.Join(arguments, ", "), cel.FormatCELType(overload.ResultType()))
}
