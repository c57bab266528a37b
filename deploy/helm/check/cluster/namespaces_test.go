package cluster

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"seine/deploy/helm/check"
	"seine/internal/testing/await"
)

// moduleDir is the folder of a module's source, which is brought if it is not there.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jsErr := json.Unmarshal(out, &m); err != nil || jsErr != nil || m.Dir == "" {
		t.Fatalf("go mod download %s: %v, %v, %s", module, err, jsErr, m.Error)
	}
	return m.Dir
}

// versionOf is the version of a module that the checks of the chart use.
func versionOf(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out[:len(out)-1])
}

// prometheusOperator has the definitions of the Prometheus operator's objects: those of a year ago, as clusters have them
// that are not new.
const prometheusOperator = "github.com/prometheus-operator/prometheus-operator@v0.85.0"

// installTypes has the cluster know the objects of KEDA, by the definitions of the version whose types the chart is checked
// with, and of the Prometheus operator.
func (c *cluster) installTypes(t *testing.T) {
	t.Helper()
	keda := moduleDir(t, "github.com/kedacore/keda/v2@"+versionOf(t, "github.com/kedacore/keda/v2"))
	prometheus := moduleDir(t, prometheusOperator)
	for _, dir := range []string{
		filepath.Join(keda, "config/crd/bases"),
		filepath.Join(prometheus, "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"),
		filepath.Join(prometheus, "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"),
	} {
		c.kubectl(t, "", "apply", "--server-side", "-f", dir)
	}
	c.kubectl(t, "", "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
}

// createNamespace makes a namespace whose pods must be restricted, and whose workloads get a warning where theirs would not
// be.
func (c *cluster) createNamespace(t *testing.T, name string) {
	t.Helper()
	const level = "pod-security.kubernetes.io/"
	c.kubectl(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+", labels: {"+
		level+"enforce: restricted, "+level+"warn: restricted, "+level+"audit: restricted}}}", "apply", "-f", "-")
}

// createAccount makes the account of pods that name none, which a controller does elsewhere.
func (c *cluster) createAccount(t *testing.T, namespace string) {
	t.Helper()
	c.kubectl(t, "", "-n", namespace, "create", "serviceaccount", "default")
}

// hardening is a policy as clusters have them, beyond the restricted level. The API server compiles it some time after it
// is made.
const hardening = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: hardening}
spec:
  matchConstraints:
    resourceRules:
      - {apiGroups: [apps], apiVersions: [v1], resources: [deployments, statefulsets, daemonsets], operations: [CREATE, UPDATE]}
  validations:
    - {expression: "object.spec.template.spec.containers.all(c, c.securityContext.readOnlyRootFilesystem)", message: "a root file system is not read-only"}
    - {expression: "object.spec.template.spec.containers.all(c, ['cpu', 'memory'].all(r, r in c.resources.requests) && 'memory' in c.resources.limits)", message: "no requests, or no limit of memory"}
    - {expression: "object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest') && c.image.contains(':'))", message: "an image without a version"}
    - {expression: "!object.spec.template.spec.automountServiceAccountToken", message: "a token of the cluster is mounted"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: hardening}
spec: {policyName: hardening, validationActions: [Deny]}
`

// bare is a workload that the policy and the level refuse.
const bare = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: bare, namespace: seine}
spec:
  selector: {matchLabels: {app: bare}}
  template:
    metadata: {labels: {app: bare}}
    spec: {containers: [{name: bare, image: "bare:latest", securityContext: {privileged: true, readOnlyRootFilesystem: false}, resources: {requests: {cpu: 1m}, limits: {memory: 1M}}}], automountServiceAccountToken: true}
`

// harden makes the policy, and waits until it acts.
func (c *cluster) harden(t *testing.T) {
	t.Helper()
	c.kubectl(t, hardening, "apply", "-f", "-")
	await.Eventually(t, "the policy refuses what is not hardened", func() bool {
		_, _, err := c.command(t, "kubectl", bare, "apply", "--dry-run=server", "-f", "-")
		return err != nil
	})
}

// quota has the pods of a namespace ask for all that it counts.
func (c *cluster) quota(t *testing.T, namespace string) {
	t.Helper()
	c.kubectl(t, "", "-n", namespace, "create", "quota", "all", "--hard=requests.cpu=40,requests.memory=80Gi,limits.memory=200Gi,limits.cpu=100,pods=60,persistentvolumeclaims=30,requests.storage=3Ti")
}

// documents is what the chart makes of a case, with the pod of `helm test`, as a text for kubectl.
func documents(t *testing.T, name string) (text string) {
	t.Helper()
	v, err := check.ParseValues(check.Cases[name])
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Render(v, os.Getenv("SEINE_NATS_CHART"))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append(r.Documents(), r["templates/tests/doctor.yaml"]) {
		text += "---\n" + doc
	}
	return text
}
