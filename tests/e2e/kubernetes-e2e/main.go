// The parts of Kubernetes' own end-to-end tests that need no kubelet, in one program: `python -m tests.e2e` runs it.
package main

import (
	"flag"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"

	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/feature"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/scheduling"
)

// suite tells Ginkgo's verdict by the exit code.
type suite struct{ failed bool }

func (s *suite) Fail() { s.failed = true }

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	settings, reporting := framework.CreateGinkgoConfig()
	settings.RandomizeAllSpecs = false
	verdict := &suite{}
	ginkgo.RunSpecs(verdict, "Kubernetes e2e", settings, reporting)
	if verdict.failed {
		os.Exit(1)
	}
}
