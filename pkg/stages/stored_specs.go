package stages

import (
	"sync"
	"time"
	"unique"

	"seine/internal/base/recent"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// storedSpec is what is kept of a crawl's spec, for every crawl ever: as little as can
// be. Texts that are equal are there once. The zero value stands for the default.
type storedSpec struct {
	text    unique.Handle[string]
	rev     uint64
	at      int64        // when the NATS server stored it, Unix ns; 0 for the default
	expires bool         // it has a Keep
	seeded  bool         // it lists seeds
	trouble *specTrouble // nil as nearly always
}

// noText is that of the default.
var noText unique.Handle[string]

// defaultAfter stands for the default after a deletion, which has its revision.
func defaultAfter(d *messages.Deletion) storedSpec {
	s := storedSpec{rev: d.Rev}
	if !d.Time.IsZero() {
		s.at = d.Time.UnixNano()
	}
	return s
}

// specTrouble says why the newest spec that is stored of a crawl cannot be used, and
// whether the crawl is stalled for that.
type specTrouble struct {
	why   string
	still bool
}

// own reports whether something was stored for the crawl itself.
func (s *storedSpec) own() bool { return s.text != noText || s.still() }

func (s *storedSpec) still() bool { return s.trouble != nil && s.trouble.still }

// specTexts decodes the texts of specs, and remembers those that were asked for last.
// It is safe for concurrent use.
type specTexts struct {
	recent recent.Cache[unique.Handle[string], *crawlspec.Spec]
}

// stored returns what is kept of a text; if it cannot be used, why, and what stands for
// it then.
func (t *specTexts) stored(text []byte, rev uint64, at time.Time) (storedSpec, error) {
	s := storedSpec{rev: rev, at: at.UnixNano()}
	handle := unique.Make(string(text))
	spec, err := t.decode(handle)
	if err != nil {
		s.trouble = &specTrouble{why: err.Error(), still: true}
		return s, err
	}
	s.text, s.expires, s.seeded = handle, spec.Keep > 0, len(spec.Seeds) > 0
	return s, nil
}

func (t *specTexts) decode(text unique.Handle[string]) (*crawlspec.Spec, error) {
	if spec, ok := t.recent.Get(text); ok {
		return spec, nil
	}
	spec, err := crawlspec.Decode([]byte(text.Value()))
	if err != nil {
		return nil, err
	}
	t.recent.Put(text, spec)
	return spec, nil
}

// revised returns the spec that is kept, with the last deletion of its crawl. It must not be
// changed: crawls of equal specs share one.
func (t *specTexts) revised(s storedSpec, d *messages.Deletion) crawlspec.Revision {
	r := crawlspec.Revision{Rev: s.rev, Deletion: d}
	if s.trouble != nil {
		r.Unusable = s.trouble.why
	}
	switch {
	case s.still():
		r = r.Stall(s.trouble.why)
	case s.text == noText:
		r.Spec = defaultSpec()
	default:
		spec, err := t.decode(s.text)
		if err != nil {
			panic(err) // it was decoded before it was kept
		}
		r.Spec = spec
	}
	if s.at != 0 {
		r.Time = time.Unix(0, s.at).UTC()
	}
	return r
}

// defaultSpec is shared by all crawls without a spec. It must not be changed.
var defaultSpec = sync.OnceValue(func() *crawlspec.Spec {
	d := crawlspec.Default()
	return &d
})
