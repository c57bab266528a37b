package check

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podsecurity "k8s.io/pod-security-admission/api"
	podpolicy "k8s.io/pod-security-admission/policy"
)

// Every pod passes Pod Security Admission at its strictest level, of the newest version.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := podpolicy.NewEvaluator(podpolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			results := evaluator.EvaluatePod(podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}, &w.pod.ObjectMeta, &w.pod.Spec)
			if r := podpolicy.AggregateCheckResults(results); !r.Allowed {
				t.Errorf("%s: %s: %s", &w, r.ForbiddenReason(), r.ForbiddenDetail())
			}
		}
	})
}

// What the level does not ask for: a user that nobody else is, a root file system that is only read, no token of the
// cluster, no variables from services, limits for everything.
func TestPodsAreHardened(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			s := w.pod.Spec
			if s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken || s.EnableServiceLinks == nil || *s.EnableServiceLinks {
				t.Errorf("%s: token of the cluster %v, service links %v", &w, s.AutomountServiceAccountToken, s.EnableServiceLinks)
			}
			if c := s.SecurityContext; *c.RunAsUser != 65532 || *c.RunAsGroup != 65532 || *c.FSGroup != 65532 || *c.FSGroupChangePolicy != core.FSGroupChangeOnRootMismatch {
				t.Errorf("%s runs as %v", &w, c)
			}
			for _, c := range s.Containers {
				if !*c.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("%s: %s can write to its root", &w, c.Name)
				}
				for _, what := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory, core.ResourceEphemeralStorage} {
					if c.Resources.Requests[what] == (core.ResourceList{})[what] || c.Resources.Limits[what] == (core.ResourceList{})[what] {
						t.Errorf("%s: %s has no request or no limit of %s", &w, c.Name, what)
					}
				}
			}
		}
	})
}

// The drain ends before the kubelet kills.
func TestDrainIsShorterThanGrace(t *testing.T) {
	for _, text := range []string{`{}`, `{drainSeconds: 300}`} {
		for _, w := range workloads(rendered(t, text)) {
			drain, err := time.ParseDuration(w.environment()["SEINE_DRAIN"])
			if grace := time.Duration(*w.pod.Spec.TerminationGracePeriodSeconds) * time.Second; err != nil || grace < drain+20*time.Second {
				t.Errorf("%s drains for %s, %v, and is killed after %s", &w, drain, err, grace)
			}
		}
	}
}

// The kubelet waits at the start for as long as the process waits for NATS, and restarts none for not being ready.
func TestProbes(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			if w.component() == "" {
				continue
			}
			c := w.pod.Spec.Containers[0]
			for probe, path := range map[*core.Probe]string{c.StartupProbe: "/healthz", c.LivenessProbe: "/healthz", c.ReadinessProbe: "/readyz"} {
				if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "metrics" || c.Ports[0].Name != "metrics" || c.Ports[0].ContainerPort != 9400 {
					t.Errorf("%s is probed at %s of port %s", &w, probe.HTTPGet.Path, probe.HTTPGet.Port.String())
				}
			}
			if wait := w.environment()["SEINE_NATS_WAIT"]; wait != "" {
				waits, err := time.ParseDuration(wait)
				if patience := time.Duration(c.StartupProbe.PeriodSeconds*c.StartupProbe.FailureThreshold) * time.Second; err != nil || patience < waits+30*time.Second {
					t.Errorf("%s waits for NATS for %s, %v, and is killed after %s", &w, waits, err, patience)
				}
			}
		}
	})
}

// Pods of a workload are spread if that is possible, and run together if it is not.
func TestSpreadIsSoft(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			if w.component() == "" {
				continue
			}
			if len(w.pod.Spec.TopologySpreadConstraints) != 2 {
				t.Errorf("%s is spread over %d topologies", &w, len(w.pod.Spec.TopologySpreadConstraints))
			}
			for _, c := range w.pod.Spec.TopologySpreadConstraints {
				if found := selected(t, all, c.LabelSelector); c.WhenUnsatisfiable != core.ScheduleAnyway || len(found) != 1 || found[0].object != w.object {
					t.Errorf("%s: %v", &w, c)
				}
			}
		}
	})
}

// A profile of a node is read as the OCI runtime has it, whatever else Docker knows: conditions that it does not know must
// not matter.
func TestSeccompProfileOfRenderersIsPortable(t *testing.T) {
	text, err := os.ReadFile(Root + "/deploy/seccomp/browser.json")
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		DefaultAction string
		Syscalls      []struct {
			Names              []string
			Action             string
			Includes, Excludes map[string]any
		}
	}
	if err := json.Unmarshal(text, &profile); err != nil {
		t.Fatal(err)
	}
	for _, s := range profile.Syscalls {
		for _, condition := range []string{"caps"} {
			if s.Includes[condition] != nil || len(s.Excludes) > 0 {
				t.Errorf("%v would be allowed without its condition", s.Names)
			}
		}
		if s.Action != "SCMP_ACT_ALLOW" && s.Action != "SCMP_ACT_ERRNO" {
			t.Errorf("%v: %s", s.Names, s.Action)
		}
	}
	for _, w := range workloads(rendered(t, `renderer: {enabled: true}`)) {
		p := w.pod.Spec.SecurityContext.SeccompProfile
		if renderer := w.component() == "renderer"; renderer != (p.Type == core.SeccompProfileTypeLocalhost) {
			t.Errorf("%s has the profile %s", &w, p.Type)
		} else if renderer {
			nodes, err := os.ReadFile(Root + "/deploy/kubernetes/seccomp-nodes.yaml")
			if err != nil || !strings.Contains(string(nodes), "/"+*p.LocalhostProfile+"]") || !*w.pod.Spec.ShareProcessNamespace {
				t.Errorf("%s: profile %s is not what seccomp-nodes.yaml brings, or nobody reaps", &w, *p.LocalhostProfile)
			}
		}
	}
}

// helm test asks seine doctor, as the operator where there are users, in a pod that the namespace and the policies let run.
func TestDoctorPod(t *testing.T) {
	for text, secret := range map[string]string{`{}`: "", Cases["users"]: "seine-nats-operator"} {
		r, err := Render(values(t, text), "")
		if err != nil {
			t.Fatal(err)
		}
		pod := decode(t, split(r["templates/tests/doctor.yaml"]))[0].(*core.Pod)
		evaluator, err := podpolicy.NewEvaluator(podpolicy.DefaultChecks(), nil)
		if err != nil {
			t.Fatal(err)
		}
		results := evaluator.EvaluatePod(podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}, &pod.ObjectMeta, &pod.Spec)
		if a := podpolicy.AggregateCheckResults(results); !a.Allowed {
			t.Errorf("%s: %s", a.ForbiddenReason(), a.ForbiddenDetail())
		}
		if c := pod.Spec.Containers[0]; c.Image != "seine/frontier:0.1.0" || len(c.Command) != 2 {
			t.Errorf("it runs %v of %s", c.Command, c.Image)
		}
		if (secret != "") != (len(pod.Spec.Volumes) == 1) || secret != "" && pod.Spec.Volumes[0].Secret.SecretName != secret {
			t.Errorf("it logs in by %v", pod.Spec.Volumes)
		}
		_, _, out := isolated(decode(t, r.Documents()), pod.Labels, networking.PolicyTypeEgress)
		if !slices.ContainsFunc(out, func(rule networking.NetworkPolicyEgressRule) bool { return lets(rule.To, broker) }) {
			t.Error("it does not reach NATS")
		}
		for _, w := range workloads(decode(t, r.Documents())) {
			if sel, err := meta.LabelSelectorAsSelector(w.selector); err != nil || sel.Matches(labels.Set(pod.Labels)) {
				t.Errorf("%s takes it for its own, %v", &w, err)
			}
		}
	}
}
