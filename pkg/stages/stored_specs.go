package stages

import (
	"sync"
	"time"
	"unique"

	"seine/internal/base/recent"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// storedSpec is the compact record of a crawl's spec. One is kept for every crawl ever, so it is as
// small as possible. Equal texts are stored once. The zero value is the default spec.
type storedSpec struct {
	text    unique.Handle[string]
	rev     uint64
	at      int64        // when the NATS server stored it, Unix ns; 0 for the default
	expires bool         // the spec has a Keep
	seeded  bool         // the spec lists seeds
	trouble *specTrouble // nil nearly always
}

// noText is the text of the default spec.
var noText unique.Handle[string]

// defaultAfter returns the default spec after a deletion, with the revision of the deletion.
func defaultAfter(d *messages.Deletion) storedSpec {
	s := storedSpec{rev: d.Rev}
	if !d.Time.IsZero() {
		s.at = d.Time.UnixNano()
	}
	return s
}

// specTrouble is why the newest stored spec of a crawl cannot be used, and whether the crawl is
// stalled because of it.
type specTrouble struct {
	why   string
	still bool
}

// own reports whether a spec was stored for this crawl.
func (s *storedSpec) own() bool { return s.text != noText || s.still() }

func (s *storedSpec) still() bool { return s.trouble != nil && s.trouble.still }

// specTexts decodes the texts of specs, and caches the recently used ones. It is safe for
// concurrent use.
type specTexts struct {
	recent recent.Cache[unique.Handle[string], *crawlspec.Spec]
}

// stored returns the record of a spec's text. If the text cannot be used, it returns the error and
// the record of a stalled crawl.
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

// revised returns the spec of a record, with the last deletion of its crawl. The caller must not
// change it: crawls with equal specs share one.
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

// defaultSpec returns the spec shared by all crawls without their own. It must not be changed.
var defaultSpec = sync.OnceValue(func() *crawlspec.Spec {
	d := crawlspec.Default()
	return &d
})
