// Package e2e runs those end-to-end tests of Kubernetes that need no kubelet. It leaves out what the suite of Kubernetes does before its
// tests: it waits for nodes and for the Pods of the cluster's own components.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	conformance "k8s.io/kubernetes/test/conformance/testdata"
	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/apps"
	_ "k8s.io/kubernetes/test/e2e/auth"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/e2e/framework/testfiles"
	_ "k8s.io/kubernetes/test/e2e/kubectl"
	manifests "k8s.io/kubernetes/test/e2e/testing-manifests"
	fixtures "k8s.io/kubernetes/test/fixtures"
)

var (
	names   = flag.String("names", "", "file with the full names of the tests to run, one in a line; without it, those that ginkgo's flags choose")
	outcome = flag.String("outcome", "", "file for the outcomes: lines of state, seconds and name, separated by tabs")
)

func TestMain(m *testing.M) {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	testfiles.AddFileSource(manifests.GetE2ETestingManifestsFS())
	testfiles.AddFileSource(fixtures.GetTestFixturesFS())
	testfiles.AddFileSource(conformance.GetConformanceTestdataFS())
	framework.AfterReadingAllFlags(&framework.TestContext)
	// Tests choose addresses by the family of the Service `kubernetes`, which is IPv4 on both servers.
	framework.TestContext.IPFamily = "ipv4"
	os.Exit(m.Run())
}

func TestE2E(t *testing.T) {
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	if *names != "" {
		text, err := os.ReadFile(*names)
		if err != nil {
			t.Fatal(err)
		}
		suite.SkipStrings = nil
		for _, name := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			suite.FocusStrings = append(suite.FocusStrings, " "+regexp.QuoteMeta(name)+"$")
		}
	}
	ginkgo.RunSpecs(t, "e2e", suite, reporter)
}

var _ = ginkgo.ReportAfterSuite("outcomes", func(report ginkgo.Report) {
	// The framework previews all tests, to check their names.
	if *outcome == "" || report.SuiteConfig.DryRun {
		return
	}
	var lines strings.Builder
	for _, spec := range report.SpecReports {
		if spec.LeafNodeType == types.NodeTypeIt && spec.State != types.SpecStateSkipped || spec.Failure.Message != "" {
			fmt.Fprintf(&lines, "%s\t%.1f\t%s\n", spec.State, spec.RunTime.Seconds(), spec.FullText())
		}
	}
	if err := os.WriteFile(*outcome, []byte(lines.String()), 0o644); err != nil {
		framework.Failf("cannot write the outcomes: %v", err)
	}
})
