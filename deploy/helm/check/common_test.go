package check

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
)

// With values-openshift.yaml no pod asks for what restricted-v2, OpenShift's default constraint, refuses: ids, other seccomp
// profiles than the runtime's, capabilities, volumes of the node. The profile of renderers is another constraint's.
func TestOpenShiftAdmitsThePods(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(ChartFolder, "values-openshift.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	renders := map[string]func(*testing.T, string) []object{"alone": rendered}
	if os.Getenv("SEINE_NATS_CHART") != "" {
		renders["with NATS"] = official
	}
	for name, render := range renders {
		t.Run(name, func(t *testing.T) {
			all := workloads(render(t, string(text)+"\nserve: {enabled: true}\nwriter: {files: {existingClaim: crawls}}"))
			for _, w := range all {
				s := w.pod.Spec.SecurityContext
				if s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil || len(s.SupplementalGroups) > 0 || !*s.RunAsNonRoot || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
					t.Errorf("%s runs as %v", &w, s)
				}
				for _, c := range w.pod.Spec.Containers {
					if c := c.SecurityContext; c.RunAsUser != nil || *c.AllowPrivilegeEscalation || !slices.Equal(c.Capabilities.Drop, []core.Capability{"ALL"}) || len(c.Capabilities.Add) > 0 {
						t.Errorf("%s: a container runs as %v", &w, c)
					}
				}
				if slices.ContainsFunc(w.pod.Spec.Volumes, func(v core.Volume) bool { return v.HostPath != nil }) || w.pod.Spec.HostNetwork {
					t.Errorf("%s asks for the node's network or files", &w)
				}
			}
			if len(all) < 5 {
				t.Errorf("%d workloads", len(all))
			}
		})
	}
}

// Values of common are those of every workload, and a section's own go before them.
func TestCommonValues(t *testing.T) {
	all := rendered(t, `
common:
  podSecurityContext: {fsGroup: 1000}
  securityContext: {runAsUser: 1000}
  serviceAccount: {create: false, name: crawler}
  podDisruptionBudget: {enabled: false}
  env: {HTTP_PROXY: "http://proxy:3128"}
  envFrom: [{secretRef: {name: proxies}}]
  extraVolumes: [{name: ca, configMap: {name: ca}}]
  extraVolumeMounts: [{name: ca, mountPath: /etc/ssl/certs, readOnly: true}]
  livenessProbe: {periodSeconds: 30}
  readinessProbe: {httpGet: {path: /healthz}}
  topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
  nodeSelector: {pool: crawl}
fetcher:
  imageDigest: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  serviceAccount: {create: true, name: out}
  podDisruptionBudget: {enabled: true}
  nodeSelector: {pool: spot}
writers: {default: {extraVolumes: [], extraVolumeMounts: []}, archive: {from: pages}}
extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-ca", namespace: seine}}]`)
	named[*core.ConfigMap](t, all, "seine-ca")
	named[*core.ServiceAccount](t, all, "out")
	if accounts, budgets := of[*core.ServiceAccount](all), of[*policy.PodDisruptionBudget](all); len(accounts) != 1 || len(budgets) != 1 || budgets[0].Name != "seine-fetcher" {
		t.Errorf("%d accounts, and the budgets %v", len(accounts), budgets)
	}
	for _, b := range of[*policy.PodDisruptionBudget](rendered(t, `parser: {podDisruptionBudget: {enabled: false}}`)) {
		if b.Name == "seine-parser" {
			t.Error("the parser has a budget that it should not have")
		}
	}
	for _, w := range workloads(all) {
		wantCommon(t, &w)
		s, image := w.pod.Spec, w.pod.Spec.Containers[0].Image
		if w.component() == "fetcher" {
			if s.ServiceAccountName != "out" || s.NodeSelector["pool"] != "spot" || image != "seine/fetcher:0.1.0@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" {
				t.Errorf("%s has the account %s, the nodes %v, the image %s", &w, s.ServiceAccountName, s.NodeSelector, image)
			}
		} else if s.ServiceAccountName != "crawler" || s.NodeSelector["pool"] != "crawl" {
			t.Errorf("%s has the account %s, the nodes %v", &w, s.ServiceAccountName, s.NodeSelector)
		}
		volume := slices.ContainsFunc(s.Volumes, func(v core.Volume) bool { return v.Name == "ca" && v.ConfigMap.Name == "ca" })
		mount := slices.ContainsFunc(s.Containers[0].VolumeMounts, func(m core.VolumeMount) bool { return m.MountPath == "/etc/ssl/certs" })
		if want := w.GetName() != "seine-writer"; volume != want || mount != want {
			t.Errorf("%s has the volumes %v and mounts %v", &w, s.Volumes, s.Containers[0].VolumeMounts)
		}
	}
}

// wantCommon checks what no section of TestCommonValues changes.
func wantCommon(t *testing.T, w *workload) {
	t.Helper()
	s, c := w.pod.Spec, w.pod.Spec.Containers[0]
	if *s.SecurityContext.FSGroup != 1000 || *s.SecurityContext.RunAsUser != 65532 || *c.SecurityContext.RunAsUser != 1000 || !*c.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("%s runs as %v, its container as %v", w, s.SecurityContext, c.SecurityContext)
	}
	if w.environment()["HTTP_PROXY"] != "http://proxy:3128" || len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != "proxies" {
		t.Errorf("%s has the environment %v, and of %v", w, w.environment(), c.EnvFrom)
	}
	if p := c.LivenessProbe; p.PeriodSeconds != 30 || p.FailureThreshold != 6 || c.ReadinessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Port.StrVal != "metrics" {
		t.Errorf("%s is probed by %v and %v", w, p, c.ReadinessProbe)
	}
	if spread := s.TopologySpreadConstraints; len(spread) != 1 || spread[0].TopologyKey != "rack" || spread[0].LabelSelector.MatchLabels["app.kubernetes.io/component"] != w.component() {
		t.Errorf("%s is spread by %v", w, spread)
	}
}
