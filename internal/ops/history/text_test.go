package history

import (
	"strings"
	"testing"

	"seine/pkg/stages/frontier/frontierapi"
)

// Where no rule excludes a URL that is excluded, it is told what does, and how that was found.
func TestVerdictDoesNotContradictTheState(t *testing.T) {
	for reason, how := range map[string]string{
		frontierapi.ReasonAddress: "when it was asked for", frontierapi.ReasonNormalized: "under another URL", "trap_same_content": "feed it as a seed",
	} {
		got := verdict(&frontierapi.Verdict{Rev: 2, Reason: reason, Stands: true})
		if !strings.HasPrefix(got, "excluded by no rule of revision 2 of the spec; "+reason+" stands: ") || !strings.Contains(got, how) {
			t.Errorf("%s: %s", reason, got)
		}
	}
	if got, want := verdict(&frontierapi.Verdict{Reason: "exclude", Rule: "*/x*"}), "excluded by the defaults: exclude, */x*"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
