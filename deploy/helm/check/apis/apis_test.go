package apis

import (
	"os"
	"strings"
	"testing"

	keda "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"seine/deploy/helm/check"
)

// Packages run beside each other in folders of their own; those of the chart are named from the one above.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// KEDA takes its objects, with no field that it does not know.
func TestScaledObjectsDecodeStrictly(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := keda.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	found := 0
	for name, text := range check.Cases {
		for _, doc := range documents(t, text) {
			if !strings.Contains(doc, "\nkind: ScaledObject\n") {
				continue
			}
			found++
			o, _, err := strict.Decode([]byte(doc), nil, nil)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, doc)
				continue
			}
			s := o.(*keda.ScaledObject)
			if err := keda.CheckReplicaCountBoundsAreValid(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := keda.CheckFallbackValid(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d objects of KEDA", found)
	}
}

// kubectl apply -k finds every file, and gives the broker its configuration.
func TestKustomizationBuilds(t *testing.T) {
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), check.Root+"/deploy/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]int)
	config, used := "", ""
	for _, r := range m.Resources() {
		kinds[r.GetKind()]++
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		switch o := decode(t, text).(type) {
		case *core.ConfigMap:
			config = o.Name
		case *apps.StatefulSet:
			if o.Name == "seine-nats" {
				used = o.Spec.Template.Spec.Volumes[0].ConfigMap.Name
			}
		}
	}
	if kinds["ConfigMap"] != 1 || kinds["StatefulSet"] != 3 || kinds["Deployment"] != 2 || kinds["Namespace"] != 1 {
		t.Errorf("it has %v", kinds)
	}
	if config == "" || config != used {
		t.Errorf("the broker has the configuration %q, want %q", used, config)
	}
}

// decode is nil for kinds that do not matter here.
func decode(t *testing.T, text []byte) runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, apps.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	o, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		if runtime.IsNotRegisteredError(err) {
			return nil
		}
		t.Fatalf("%v\n%s", err, text)
	}
	return o
}

func documents(t *testing.T, text string) []string {
	t.Helper()
	v, err := check.ParseValues(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Render(v, "")
	if err != nil {
		t.Fatal(err)
	}
	return r.Documents()
}
