package check

import (
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// scaledObject is what the chart says to KEDA. The types of KEDA itself, which take minutes to build, are in the package
// apis.
type scaledObject struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		ScaleTargetRef  struct{ Name string } `json:"scaleTargetRef"`
		MinReplicaCount int32                 `json:"minReplicaCount"`
		MaxReplicaCount int32                 `json:"maxReplicaCount"`
		PollingInterval int32                 `json:"pollingInterval"`
		CooldownPeriod  int32                 `json:"cooldownPeriod"`
		Fallback        struct {
			FailureThreshold int32  `json:"failureThreshold"`
			Replicas         int32  `json:"replicas"`
			Behavior         string `json:"behavior"`
		} `json:"fallback"`
		Advanced map[string]any `json:"advanced"`
		Triggers []trigger      `json:"triggers"`
	} `json:"spec"`
}

// trigger is what a stage scales by.
type trigger struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	MetricType string            `json:"metricType"`
	Metadata   map[string]string `json:"metadata"`
}

// DeepCopyObject implements runtime.Object; the tests change none.
func (s *scaledObject) DeepCopyObject() runtime.Object { return s }

func decodeScaledObject(t *testing.T, doc string) *scaledObject {
	t.Helper()
	s := new(scaledObject)
	if err := yaml.UnmarshalStrict([]byte(doc), s); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return s
}
