package check

import (
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// selected are the workloads whose pods a selector finds.
func selected(t *testing.T, all []object, s *meta.LabelSelector) (found []workload) {
	t.Helper()
	sel, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range workloads(all) {
		if sel.Matches(labels.Set(w.pod.Labels)) {
			found = append(found, w)
		}
	}
	return found
}

func containerPorts(w workload) (names []string) {
	for _, c := range w.pod.Spec.Containers {
		for _, p := range c.Ports {
			names = append(names, p.Name)
		}
	}
	return names
}

// No two objects have one name, and all are in the namespace of the release.
func TestNamesAreTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		seen := make(map[string]bool)
		for _, o := range all {
			kind := o.GetObjectKind().GroupVersionKind().Kind
			if id := kind + "/" + o.GetNamespace() + "/" + o.GetName(); seen[id] {
				t.Errorf("two of %s", id)
			} else {
				seen[id] = true
			}
			if o.GetNamespace() != Namespace && kind != "Namespace" && kind != "ConfigMap" {
				t.Errorf("%s %s is in namespace %q", kind, o.GetName(), o.GetNamespace())
			}
		}
	})
}

// A selector of a workload finds its own pods and no others; services, budgets and monitors find pods, and ports of these.
func TestSelectorsAndPortsLeadToPods(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			if found := selected(t, all, w.selector); len(found) != 1 || found[0].object != w.object {
				t.Errorf("%s selects %d workloads", &w, len(found))
			}
		}
		for _, s := range of[*core.Service](all) {
			found := selected(t, all, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
			if len(found) != 1 {
				t.Errorf("service %s leads to %d workloads", s.Name, len(found))
				continue
			}
			for _, p := range s.Spec.Ports {
				if !slices.Contains(containerPorts(found[0]), p.TargetPort.StrVal) {
					t.Errorf("service %s: no container has port %s", s.Name, p.TargetPort.String())
				}
			}
		}
		for _, b := range of[*policy.PodDisruptionBudget](all) {
			if found := selected(t, all, b.Spec.Selector); len(found) != 1 || found[0].GetName() != b.Name || b.Spec.MaxUnavailable.IntVal != 1 {
				t.Errorf("budget %s: of %d workloads, at most %v unavailable", b.Name, len(found), b.Spec.MaxUnavailable)
			}
		}
		for _, m := range of[*monitoring.PodMonitor](all) {
			for _, w := range selected(t, all, &m.Spec.Selector) {
				if !slices.Contains(containerPorts(w), *m.Spec.PodMetricsEndpoints[0].Port) {
					t.Errorf("the monitor finds %s without a port for metrics", &w)
				}
			}
			if found := len(selected(t, all, &m.Spec.Selector)); found < 4 {
				t.Errorf("the monitor finds %d workloads", found)
			}
		}
	})
}

// Everything with pods has a budget, and an account, which is its own.
func TestEveryWorkloadHasBudgetAndAccount(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			named[*policy.PodDisruptionBudget](t, all, w.GetName())
			if w.component() == "" {
				continue
			}
			if w.pod.Spec.ServiceAccountName != w.GetName() {
				t.Errorf("%s has the account %q", &w, w.pod.Spec.ServiceAccountName)
			}
			named[*core.ServiceAccount](t, all, w.GetName())
			if w.service != "" {
				named[*core.Service](t, all, w.service)
			}
		}
	})
}

// What scales names what there is, which has no number of its own then.
func TestScalersLeadToWorkloadsWithoutReplicas(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		var targets []string
		for _, s := range of[*scaledObject](all) {
			targets = append(targets, s.Spec.ScaleTargetRef.Name)
			if s.Spec.Fallback.Behavior != "currentReplicas" || s.Spec.CooldownPeriod != 300 {
				t.Errorf("%s: falls back to %v, and cools down for %d s", s.Name, s.Spec.Fallback, s.Spec.CooldownPeriod)
			}
		}
		for _, h := range of[*autoscaling.HorizontalPodAutoscaler](all) {
			targets = append(targets, h.Spec.ScaleTargetRef.Name)
			if down := h.Spec.Behavior.ScaleDown.StabilizationWindowSeconds; *down != 300 {
				t.Errorf("%s goes down after %d s", h.Name, *down)
			}
		}
		for _, w := range workloads(all) {
			if scaled := slices.Contains(targets, w.GetName()); scaled == (w.replicas != nil) {
				t.Errorf("%s: scaled %v, and its replicas are %v", &w, scaled, w.replicas)
			}
			targets = slices.DeleteFunc(targets, func(name string) bool { return name == w.GetName() })
		}
		if len(targets) > 0 {
			t.Errorf("no workload is called %v", targets)
		}
	})
}

// The runbook of each alert is below the documentation that the values name, or the home of the chart.
func TestRunbooksAreInTheDocumentation(t *testing.T) {
	home, err := chartHome()
	if err != nil {
		t.Fatal(err)
	}
	for name, docs := range map[string]string{"everything": home + "/docs", "broker-metrics": "https://git.example.org/seine/docs"} {
		alerts := 0
		for _, g := range named[*monitoring.PrometheusRule](t, rendered(t, Cases[name]), "seine").Spec.Groups {
			for _, r := range g.Rules {
				if url := r.Annotations["runbook_url"]; r.Alert != "" && !strings.HasPrefix(url, docs+"/guides/runbook.md#") {
					t.Errorf("%s: the runbook of %s is at %q", name, r.Alert, url)
				} else if r.Alert != "" {
					alerts++
				}
			}
		}
		if alerts < 20 {
			t.Errorf("%s: %d alerts have a runbook", name, alerts)
		}
	}
}

// Each mount is of a volume or a claim of its pod, and each volume is mounted.
func TestMountsHaveVolumes(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			var volumes, mounts []string
			for _, v := range w.pod.Spec.Volumes {
				volumes = append(volumes, v.Name)
			}
			for _, c := range w.claims {
				volumes = append(volumes, c.Name)
			}
			for _, c := range w.pod.Spec.Containers {
				for _, m := range c.VolumeMounts {
					mounts = append(mounts, m.Name)
				}
			}
			slices.Sort(volumes)
			slices.Sort(mounts)
			if !slices.Equal(volumes, mounts) {
				t.Errorf("%s has the volumes %v and mounts %v", &w, volumes, mounts)
			}
		}
	})
}

// Ports that network policies and ingresses name are those of what they lead to.
func TestPoliciesAndIngressesNamePortsThatThereAre(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, p := range of[*networking.NetworkPolicy](all) {
			found := selected(t, all, &p.Spec.PodSelector)
			for _, in := range p.Spec.Ingress {
				for _, port := range in.Ports {
					if port.Port.Type == intstr.String && !slices.ContainsFunc(found, func(w workload) bool { return slices.Contains(containerPorts(w), port.Port.StrVal) }) {
						t.Errorf("policy %s: no pod has port %s", p.Name, port.Port.StrVal)
					}
				}
			}
		}
		for _, i := range of[*networking.Ingress](all) {
			b := i.Spec.Rules[0].HTTP.Paths[0].Backend.Service
			s := named[*core.Service](t, all, b.Name)
			if !slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return p.Name == b.Port.Name }) {
				t.Errorf("ingress %s: service %s has no port %s", i.Name, s.Name, b.Port.Name)
			}
		}
	})
}
