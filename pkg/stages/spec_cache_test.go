package stages

import (
	"testing"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

func TestPerSpecMakesOncePerRevision(t *testing.T) {
	c := SpecCache[*weburl.Normalizer]{Make: Normalizer}
	a, b := messages.DefaultSpec(), messages.DefaultSpec()
	b.Normalize = messages.Normalize{}
	first := c.Get("c", &a)
	if first == nil || c.Get("c", &a) != first {
		t.Error("the rules of one spec were compiled twice")
	}
	if c.Get("c", &b) != nil || c.Get("d", &a) == nil {
		t.Error("the rules are not those of the spec")
	}
}
