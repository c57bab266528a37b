package cluster

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"seine/deploy/helm/check"
)

// The API server takes every rendering without a warning, in a dry run and for good, in a namespace of the level
// restricted, and under a policy that wants more than that. What it has then is what was sent: sent again, it
// changes nothing.
func TestAPIServerTakesEveryRendering(t *testing.T) {
	c := newCluster(t)
	c.installTypes(t)
	for _, namespace := range []string{check.Namespace, "monitoring"} {
		c.createNamespace(t, namespace)
		c.createAccount(t, namespace)
	}
	c.harden(t)
	for _, name := range slices.Sorted(maps.Keys(check.Cases)) {
		t.Run(name, func(t *testing.T) { c.take(t, documents(t, name), "-f", "-") })
	}
	t.Run("kubectl", func(t *testing.T) { c.take(t, "", "-k", check.Root+"/deploy/kubernetes") })
}

// take has the API server take what -f or -k name, and removes it.
func (c *cluster) take(t *testing.T, stdin string, what ...string) {
	t.Helper()
	kubectl := func(args ...string) string {
		t.Helper()
		return c.kubectl(t, stdin, append(args, what...)...)
	}
	// It has the namespace, too: that was made without --server-side, and only controllers remove it.
	kustomize := slices.Contains(what, "-k")
	if !kustomize {
		kubectl("apply", "--server-side", "--dry-run=server", "--warnings-as-errors")
	}
	kubectl("apply", "--dry-run=server", "--warnings-as-errors")
	kubectl("apply", "--warnings-as-errors")
	if diff := kubectl("diff"); diff != "" {
		t.Errorf("it is not as it was sent:\n%s", diff)
	}
	versions := func() string { return kubectl("get", "-o", "jsonpath={.items[*].metadata.resourceVersion}") }
	before := versions()
	said := kubectl("apply", "--warnings-as-errors")
	if after := versions(); after != before {
		t.Errorf("sent again, it changes:\n%s\n%s\n%s", said, before, after)
	}
	if !kustomize {
		kubectl("delete")
	}
}

// What the API server is asked in these tests it does refuse: a pod that is not restricted, a workload that is not
// hardened, a field that is not there.
func TestAPIServerRefuses(t *testing.T) {
	c := newCluster(t)
	c.createNamespace(t, check.Namespace)
	c.createAccount(t, check.Namespace)
	c.harden(t)
	text := documents(t, "defaults")
	for what, change := range map[string][2]string{
		"a privileged container":      {"allowPrivilegeEscalation: false", "privileged: true"},
		"a root that can be written":  {"readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"},
		"a field that does not exist": {"podManagementPolicy:", "podManagementPolicies:"},
	} {
		if changed := strings.ReplaceAll(text, change[0], change[1]); changed == text {
			t.Errorf("there is no %q to change", change[0])
		} else if _, said, err := c.command(t, "kubectl", changed, "apply", "--dry-run=server", "--warnings-as-errors", "-f", "-"); err == nil {
			t.Errorf("%s is taken: %s", what, said)
		}
	}
}
