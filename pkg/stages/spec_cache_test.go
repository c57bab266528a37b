package stages

import (
	"testing"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

func TestPerSpecMakesOncePerRevision(t *testing.T) {
	c := SpecCache[*weburl.Normalizer]{Make: (*crawlspec.Spec).Normalizer}
	a, b := crawlspec.Default(), crawlspec.Default()
	b.Normalize = crawlspec.Normalize{}
	first := c.Get("c", &a)
	if first == nil || c.Get("c", &a) != first {
		t.Error("the rules of one spec were compiled twice")
	}
	if c.Get("c", &b) != nil || c.Get("d", &a) == nil {
		t.Error("the rules are not those of the spec")
	}
}
