package check

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

var update = flag.Bool("update", false, "write the goldens anew")

// Each case makes the objects that its golden lists, with what tells them from those of other cases.
func TestGoldens(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(Cases)) {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, o := range rendered(t, Cases[name]) {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), summary(o))))
			}
			slices.Sort(lines)
			got := strings.Join(lines, "\n") + "\n"
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%v (go test -run Goldens -update writes it anew); got\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// summary is what matters of an object, in a line.
func summary(o object) string {
	switch o := o.(type) {
	case *apps.Deployment, *apps.StatefulSet:
		w := workloads([]object{o.(object)})[0]
		return workloadSummary(&w)
	case *scaledObject:
		text := fmt.Sprintf("%d to %d", o.Spec.MinReplicaCount, o.Spec.MaxReplicaCount)
		for _, tr := range o.Spec.Triggers {
			text += fmt.Sprintf(", %s of %s/%s at %s, account %s, by %s", tr.Type, tr.Metadata["stream"], tr.Metadata["consumer"], tr.Metadata["natsServerMonitoringEndpoint"], tr.Metadata["account"], tr.Metadata["lagThreshold"])
		}
		return text
	case *autoscaling.HorizontalPodAutoscaler:
		text := fmt.Sprintf("%d to %d", *o.Spec.MinReplicas, o.Spec.MaxReplicas)
		for _, m := range o.Spec.Metrics {
			if m.External != nil {
				text += fmt.Sprintf(", %s of %s by %s", m.External.Metric.Name, m.External.Metric.Selector.MatchLabels["stage"], m.External.Target.AverageValue)
			} else {
				text += fmt.Sprintf(", %s by %d %%", m.Resource.Name, *m.Resource.Target.AverageUtilization)
			}
		}
		return text
	case *core.Service:
		return fmt.Sprintf("%s %d", cmp.Or(o.Spec.ClusterIP, "cluster"), o.Spec.Ports[0].Port)
	case *networking.NetworkPolicy:
		return fmt.Sprintf("%d rules in, %d out", len(o.Spec.Ingress), len(o.Spec.Egress))
	case *networking.Ingress:
		return fmt.Sprintf("%s by %s", o.Spec.Rules[0].Host, o.Spec.TLS[0].SecretName)
	}
	return ""
}

func workloadSummary(w *workload) string {
	c := w.pod.Spec.Containers[0]
	text := c.Image
	if w.replicas != nil {
		text = fmt.Sprintf("%d of %s", *w.replicas, text)
	}
	for _, claim := range w.claims {
		text += fmt.Sprintf(", claim %s of %s", claim.Name, claim.Spec.Resources.Requests.Storage())
	}
	for _, v := range w.pod.Spec.Volumes {
		text += ", volume " + v.Name
	}
	env := w.environment()
	for _, name := range []string{"SEINE_NATS_URL", "SEINE_NATS_CONTEXT", "SEINE_OUT", "SEINE_FROM"} {
		if v, ok := env[name]; ok {
			text += fmt.Sprintf(", %s=%s", name, v)
		}
	}
	if len(c.Args) > 0 {
		text += ", " + strings.Join(c.Args, " ")
	}
	return text
}
