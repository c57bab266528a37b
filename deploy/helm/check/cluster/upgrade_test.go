package cluster

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/deploy/helm/check"
)

// claimsChange are the cases that give the writer other claims than the defaults do: a StatefulSet cannot change its own, so
// the README says what to do.
var claimsChange = []string{"everything", "s3", "postgres", "shared-files"}

// releases has a cluster with controllers, where releases are installed and no pod runs.
func releases(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t)
	c.installTypes(t)
	c.startControllers(t)
	for _, namespace := range []string{check.Namespace, "monitoring"} {
		c.createNamespace(t, namespace)
	}
	return c
}

// valuesFile writes the values of a case.
func valuesFile(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, []byte(check.Cases[name]), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// From the defaults, an upgrade leads to every other case and a rollback back again, since no field that cannot be changed
// differs; where the claims of the writer do, this is refused, and goes once its StatefulSet was removed without its pods.
func TestUpgradesFromTheDefaults(t *testing.T) {
	c := releases(t)
	chart := c.chart(t, check.ChartFolder)
	for _, name := range slices.Sorted(maps.Keys(check.Cases)) {
		t.Run(name, func(t *testing.T) {
			c.helm(t, "install", check.Release, chart, "-n", check.Namespace)
			to := []string{"upgrade", check.Release, chart, "-n", check.Namespace, "-f", valuesFile(t, name)}
			if slices.Contains(claimsChange, name) {
				_, _, err := c.command(t, "helm", "", to...)
				if err == nil || !strings.Contains(err.Error(), "spec.volumeClaimTemplates") {
					t.Errorf("an upgrade that changes claims: %v", err)
				}
				c.kubectl(t, "", "-n", check.Namespace, "delete", "statefulset", "seine-writer", "--cascade=orphan")
				c.helm(t, to...)
			} else {
				c.helm(t, to...)
				c.helm(t, "rollback", check.Release, "1", "-n", check.Namespace)
			}
			c.helm(t, "uninstall", check.Release, "-n", check.Namespace, "--wait")
			c.kubectl(t, "", "-n", check.Namespace, "delete", "pvc", "--all")
		})
	}
}

// The first chart that there was is upgraded to this one.
func TestUpgradeFromTheFirstChart(t *testing.T) {
	program(t, "helm")
	git := func(args ...string) []byte {
		out, err := exec.Command("git", append([]string{"-C", check.Root}, args...)...).Output()
		if err != nil {
			t.Skipf("git %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	commits := strings.Fields(string(git("log", "--diff-filter=A", "--format=%H", "--", "deploy/helm/seine/Chart.yaml")))
	if len(commits) == 0 {
		t.Skip("the history of the chart is not here")
	}
	dir := t.TempDir()
	extract := exec.Command("tar", "-x", "-C", dir)
	extract.Stdin = strings.NewReader(string(git("archive", commits[len(commits)-1], "deploy/helm/seine")))
	if out, err := extract.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := releases(t)
	for _, name := range slices.Sorted(maps.Keys(check.Cases)) {
		values := []string{"-n", check.Namespace, "-f", valuesFile(t, name)}
		c.helm(t, append([]string{"install", check.Release, c.chart(t, filepath.Join(dir, "deploy/helm/seine"))}, values...)...)
		c.helm(t, append([]string{"upgrade", check.Release, c.chart(t, check.ChartFolder)}, values...)...)
		c.helm(t, "uninstall", check.Release, "-n", check.Namespace, "--wait")
	}
}

// Whoever scales by hand has the replicas: an upgrade whose values say another number is refused and leaves theirs; it
// goes with the same number, or by force. An autoscaler begins with one pod.
func TestReplicasBelongToWhoScales(t *testing.T) {
	c := releases(t)
	release := []string{check.Release, c.chart(t, check.ChartFolder), "-n", check.Namespace}
	for _, component := range []string{"fetcher", "frontier"} {
		t.Run(component, func(t *testing.T) {
			kind := "deployment"
			if component == "frontier" {
				kind = "statefulset"
			}
			name, value := kind+"/seine-"+component, component+".replicas="
			scale := func(n string) { c.kubectl(t, "", "-n", check.Namespace, "scale", name, "--replicas", n) }
			upgrade := func(args ...string) error {
				_, _, err := c.command(t, "helm", "", append(append([]string{"upgrade"}, release...), append(args, "--reset-then-reuse-values")...)...)
				return err
			}
			replicas := func(want string) {
				t.Helper()
				if have := c.kubectl(t, "", "-n", check.Namespace, "get", name, "-o", "jsonpath={.spec.replicas}"); have != want {
					t.Errorf("there should be %s pods, not %s", want, have)
				}
			}
			c.helm(t, append([]string{"install"}, append(release, "--set", value+"2")...)...)
			defer c.helm(t, "uninstall", check.Release, "-n", check.Namespace)
			scale("5")
			if err := upgrade("--set", value+"5"); err != nil {
				t.Error(err)
			}
			scale("6")
			if err := upgrade("--set", "image.tag=0.2.0"); err == nil || !strings.Contains(err.Error(), "conflict with") || !strings.Contains(err.Error(), ".spec.replicas") {
				t.Errorf("another number than that of kubectl: %v", err)
			}
			replicas("6")
			if err := upgrade("--set", value+"6", "--set", "image.tag=0.2.0"); err != nil {
				t.Error(err)
			}
			replicas("6")
			if err := upgrade("--set", value+"3", "--force-conflicts"); err != nil {
				t.Error(err)
			}
			replicas("3")
			if component == "fetcher" {
				if err := upgrade("--set", "autoscaling.mode=keda"); err != nil {
					t.Error(err)
				}
				replicas("1")
			}
		})
	}
}
