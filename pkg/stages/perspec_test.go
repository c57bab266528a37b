package stages

import (
	"testing"

	"seine/internal/weburl"
	"seine/pkg/messages"
)

func TestPerSpecMakesOncePerRevision(t *testing.T) {
	c := PerSpec[*weburl.Normalizer]{Make: Normalizer}
	a, b := messages.DefaultSpec(), messages.DefaultSpec()
	b.Normalize = messages.Normalize{}
	first := c.Of("c", &a)
	if first == nil || c.Of("c", &a) != first {
		t.Error("the rules of one spec were compiled twice")
	}
	if c.Of("c", &b) != nil || c.Of("d", &a) == nil {
		t.Error("the rules are not those of the spec")
	}
}
