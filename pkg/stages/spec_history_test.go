package stages

import (
	"errors"
	"testing"
	"time"

	"seine/pkg/crawlspec"
)

// Former specs of a crawl can be read, and a spec is stored only over the one that its writer has
// seen.
func TestSpecsOfACrawlHaveAHistory(t *testing.T) {
	s, _ := openSpecs(t)
	var revs []uint64
	for i := range 3 {
		revs = append(revs, put(t, s, "c", time.Duration(i+1)*time.Second))
		put(t, s, "other", time.Duration(i+1)*time.Minute)
	}
	got, err := s.History.Revisions(t.Context(), "c")
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, r := range got {
		if want := time.Duration(3-i) * time.Second; r.Rev != revs[2-i] || time.Duration(r.Spec.Delay) != want || r.Time.IsZero() {
			t.Errorf("%d. %+v has delay %s, want %s", i, r, time.Duration(r.Spec.Delay), want)
		}
	}
	if none, err := s.History.Revisions(t.Context(), "nobody"); err != nil || len(none) != 0 {
		t.Errorf("a crawl without a spec: %+v, %v", none, err)
	}
	spec := crawlspec.Default()
	if _, err := s.History.PutAt(t.Context(), "c", &spec, revs[1]); !errors.Is(err, ErrRevision) {
		t.Errorf("over another revision than was seen: %v", err)
	}
	if _, err := s.History.PutAt(t.Context(), "c", &spec, 0); !errors.Is(err, ErrRevision) {
		t.Errorf("over one where none was seen: %v", err)
	}
	rev, err := s.History.PutAt(t.Context(), "c", &spec, revs[2])
	if err != nil || get(t, s, "c", rev).Rev != rev {
		t.Errorf("over the one that was seen: %d, %v", rev, err)
	}
	if first, err := s.History.PutAt(t.Context(), "new", &spec, 0); err != nil || first == 0 {
		t.Errorf("the first one: %d, %v", first, err)
	}
}
