package crawlspec

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"seine/pkg/messages"
)

// Revision is a spec and the revision of its key; or the revision of the crawl's last deletion, if
// it has had no spec since.
type Revision struct {
	*Spec
	Rev uint64
	// Time is when the NATS server stored it, zero for the default of a crawl that never had one.
	Time time.Time
	// Deletion is the last deletion of the crawl's name, nil if there is none.
	Deletion *messages.Deletion
	// Unusable is why the newest stored spec cannot be used, "" if it can be. Stalled means that no
	// earlier one can be used either: see Stall.
	Unusable string
	Stalled  bool
}

// Deleted reports whether a message made under a revision of the spec belongs to a deleted crawl. A
// stage drops such a message: its effects would restore the crawl.
func (r Revision) Deleted(rev uint64) bool { return r.Deletion != nil && rev < r.Deletion.Rev }

// Since returns the revision of the crawl's last deletion, before which everything belongs to a
// deleted crawl; 0 if there is none.
func (r Revision) Since() uint64 {
	if r.Deletion == nil {
		return 0
	}
	return r.Deletion.Rev
}

// Deletions returns how often the crawl's name was deleted.
func (r Revision) Deletions() uint32 {
	if r.Deletion == nil {
		return 0
	}
	return r.Deletion.Count
}

// ErrStandsStill is returned for work that waits until its crawl has a usable spec.
var ErrStandsStill = errors.New("the crawl is blocked: its spec is unusable")

// Stall returns the spec of a crawl without a usable one: nothing is sent, nothing is excluded and
// nothing abandoned.
func (r Revision) Stall(why string) Revision {
	r.Spec, r.Stalled, r.Unusable = stalledSpec(), true, why
	return r
}

// Blocked returns ErrStandsStill with the reason if the crawl is stalled.
func (r Revision) Blocked() error {
	if !r.Stalled {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStandsStill, r.Unusable)
}

// stalledSpec is shared by all stalled crawls. It must not be changed.
var stalledSpec = sync.OnceValue(func() *Spec {
	s := Default()
	s.State, s.Scope, s.Traps = Paused, ScopeAny, Traps{}
	s.MaxAttempts, s.MaxRedirects = 100, 50
	return &s
})

// Change reports that a spec or a deletion of a crawl, stored at a revision, has become known.
type Change struct {
	Crawl string
	Rev   uint64
	// Generation counts the changes that this process has seen, from 1.
	Generation uint64
}

// Progress is how far the bucket of specs has been read. Revisions of different buckets are not
// comparable.
type Progress struct {
	// Bucket is the creation time of the bucket, Unix ns; 0 if nothing has been read.
	Bucket int64 `json:"bucket,omitempty"`
	// Rev is the revision up to which everything is known.
	Rev uint64 `json:"rev,omitempty"`
}

// UnusableText describes a newest spec that cannot be used, with the reason, and whether the crawl
// is stalled because of it.
func UnusableText(why string, stalled bool) string {
	means := "the previous revision applies"
	if stalled {
		means = "nothing is sent"
	}
	return fmt.Sprintf("the newest cannot be used (%s): %s until another is stored (seine spec apply)", why, means)
}
