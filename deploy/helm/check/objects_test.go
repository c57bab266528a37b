package check

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// object is anything that the chart makes.
type object interface {
	runtime.Object
	meta.Object
}

// strict decodes objects as an API server does that refuses unknown and repeated fields.
var strict = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		core.AddToScheme, apps.AddToScheme, autoscaling.AddToScheme, networking.AddToScheme, policy.AddToScheme, monitoring.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
})

func decode(t *testing.T, docs []string) (all []object) {
	t.Helper()
	for _, doc := range docs {
		if strings.Contains(doc, "\nkind: ScaledObject\n") {
			all = append(all, decodeScaledObject(t, doc))
			continue
		}
		o, _, err := strict().Decode([]byte(doc), nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		all = append(all, o.(object))
	}
	return all
}

func values(t testing.TB, text string) Values {
	t.Helper()
	v, err := ParseValues(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func rendered(t *testing.T, text string) []object {
	t.Helper()
	r, err := Render(values(t, text), "")
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, r.Documents())
}

// each runs a test for the objects of every case, and for those of deploy/kubernetes.
func each(t *testing.T, test func(t *testing.T, all []object)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(Cases)) {
		t.Run(name, func(t *testing.T) { test(t, rendered(t, Cases[name])) })
	}
	t.Run("kubectl", func(t *testing.T) { test(t, kubectl(t)) })
}

// kubectl are the objects of deploy/kubernetes.
func kubectl(t *testing.T) (all []object) {
	t.Helper()
	for _, name := range []string{"namespace.yaml", "nats.yaml", "seine.yaml"} {
		text, err := os.ReadFile(Root + "/deploy/kubernetes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, decode(t, split(string(text)))...)
	}
	return all
}

// of are the objects of one type.
func of[T object](all []object) (found []T) {
	for _, o := range all {
		if t, ok := o.(T); ok {
			found = append(found, t)
		}
	}
	return found
}

// named is the object of a type and a name.
func named[T object](t *testing.T, all []object, name string) (found T) {
	t.Helper()
	for _, o := range of[T](all) {
		if o.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %T %s", found, name)
	return found
}

// workload is what makes pods.
type workload struct {
	object
	replicas *int32
	selector *meta.LabelSelector
	pod      *core.PodTemplateSpec
	claims   []core.PersistentVolumeClaim
	service  string
}

func (w *workload) String() string {
	return fmt.Sprintf("%s %s", w.GetObjectKind().GroupVersionKind().Kind, w.GetName())
}

func workloads(all []object) (found []workload) {
	for _, o := range all {
		switch w := o.(type) {
		case *apps.Deployment:
			found = append(found, workload{o, w.Spec.Replicas, w.Spec.Selector, &w.Spec.Template, nil, ""})
		case *apps.StatefulSet:
			found = append(found, workload{o, w.Spec.Replicas, w.Spec.Selector, &w.Spec.Template, w.Spec.VolumeClaimTemplates, w.Spec.ServiceName})
		case *apps.DaemonSet:
			found = append(found, workload{o, nil, w.Spec.Selector, &w.Spec.Template, nil, ""})
		}
	}
	return found
}

// component is the component of Seine that a workload is; empty is none.
func (w *workload) component() string {
	if w.pod.Labels["app.kubernetes.io/name"] != "seine" {
		return ""
	}
	return w.pod.Labels["app.kubernetes.io/component"]
}

// environment is that of the first container; what comes of a Secret is "secret".
func (w *workload) environment() map[string]string {
	env := make(map[string]string)
	for _, e := range w.pod.Spec.Containers[0].Env {
		env[e.Name] = e.Value
		if e.ValueFrom != nil {
			env[e.Name] = "secret"
		}
	}
	return env
}
