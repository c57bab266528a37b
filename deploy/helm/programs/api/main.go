// Command api is the part of Kubernetes that keeps objects, and what asks it: etcd, the API server, kubectl and Helm in one
// executable. It is the program that it is called as, by links that scripts/kubernetes makes: one executable takes a
// fraction of the time and of the disk that one for each takes.
//
// It is for tests on one machine, and in a module of its own, so that nothing else depends on Kubernetes.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	helm "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kubectl":
		util.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
	case "helm":
		os.Exit(runHelm())
	default:
		fmt.Fprintf(os.Stderr, "%s: call it as etcd, kube-apiserver, kubectl or helm, by a link (scripts/kubernetes makes them)\n", name)
		os.Exit(2)
	}
}

// runHelm returns the status that Helm ends with.
func runHelm() int {
	kube.ManagedFieldsManager = "helm" // not the name of the executable
	command, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		return 1
	}
	if err := command.Execute(); err != nil {
		var status helm.CommandError
		if errors.As(err, &status) {
			return status.ExitCode
		}
		return 1
	}
	return 0
}
