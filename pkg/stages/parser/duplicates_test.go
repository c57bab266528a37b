package parser

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// seen returns the fingerprint of a page with a URL, a digest and a simhash.
func seen(url string, digest, simhash uint64) pageFingerprint {
	return pageFingerprint{digest: digest << 48, simhash: simhash, visit: messages.Visit{URL: messages.HashURL("https://a.test/" + url), Round: 1}}
}

func openDuplicateIndex(t *testing.T) *duplicateIndex {
	t.Helper()
	d := duplicatesIn(newParser(t, nil).bus)
	return &d
}

func (d *duplicateIndex) mustJudge(t *testing.T, s pageFingerprint, distance int) duplicateMatch {
	t.Helper()
	v, err := d.classify(t.Context(), "c", s, distance)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFirstPageWithSomeContentCounts(t *testing.T) {
	d := openDuplicateIndex(t)
	first, near, far := seen("first", 1, 0b1111), seen("near", 2, 0b1000), seen("far", 3, 0xffff_ffff)
	tests := []struct {
		is       string
		page     pageFingerprint
		distance int
		want     duplicateMatch
	}{
		{"the first", first, 3, duplicateMatch{}},
		{"the same bytes elsewhere", seen("copy", 1, 0b1111), 3, duplicateMatch{of: first.visit, exact: true}},
		{"nearly the same", near, 3, duplicateMatch{of: first.visit}},
		{"the bytes of what is nearly the same", seen("near-copy", 2, 0b1000), 3, duplicateMatch{of: first.visit, exact: true}},
		{"something else", far, 3, duplicateMatch{}},
		{"no text to compare", seen("empty", 4, 0), 3, duplicateMatch{}},
		{"a bit too far", seen("too-far", 5, 0b1111_0000_0000_1111), 3, duplicateMatch{}},
		{"near only with more distance", seen("wide", 6, 0xff_ffff_ffff_00ff^0xffff_ffff), 0, duplicateMatch{}},
		{"other bytes of the same text", seen("same-text", 7, 0b1111), 0, duplicateMatch{of: first.visit}},
		{"the same text, not compared", seen("not-compared", 8, 0b1111), notNear, duplicateMatch{}},
		{"the first again", first, 3, duplicateMatch{}},
		{"the first, with the bytes of what was near", seen("first", 2, 0b1000), 3, duplicateMatch{}},
		{"what was near, again", near, 3, duplicateMatch{of: first.visit}},
		{"what was far, again", far, 3, duplicateMatch{}},
	}
	for _, tt := range tests {
		if got := d.mustJudge(t, tt.page, tt.distance); got != tt.want {
			t.Errorf("%s: repeats %v, want %v", tt.is, got, tt.want)
		}
	}
}

func TestDistanceFindsWhatDiffersInEveryQuarter(t *testing.T) {
	d := openDuplicateIndex(t)
	first := seen("first", 1, 0x8000_4000_2000_1000)
	d.mustJudge(t, first, crawlspec.MaxDistance)
	for i, tt := range []struct {
		bits uint64
		want messages.Visit
	}{
		{0x0003_0003_0003_0001, first.visit}, // seven bits, at least one in each quarter
		{0x0300_0300_0300_0300, messages.Visit{}},
	} {
		got := d.mustJudge(t, seen(fmt.Sprint(i), uint64(2+i), first.simhash^tt.bits), crawlspec.MaxDistance)
		if got.of != tt.want {
			t.Errorf("%x: repeats %v, want %v", tt.bits, got.of, tt.want)
		}
	}
}

// If a parser dies before it has stored all of a page's lists, the missing ones are stored when the
// page is parsed again.
func TestHalfRememberedPageIsMadeUpFor(t *testing.T) {
	d := openDuplicateIndex(t)
	broken := &duplicateIndex{open: func(ctx context.Context) (listStore, error) {
		kv, err := d.open(ctx)
		return failing{kv, "near2"}, err
	}}
	first := seen("first", 1, 7)
	if _, err := broken.classify(t.Context(), "c", first, 3); err == nil {
		t.Fatal("no error")
	}
	d.mustJudge(t, first, 3)
	if l, err := d.read(t.Context(), quarterKey("c", 2, 7)); err != nil || !l.has(first) {
		t.Errorf("list %v, %v", l, err)
	}
}

// failing does not store lists of one quarter.
type failing struct {
	listStore
	quarter string
}

func (f failing) Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error) {
	if key[len("c."):len("c.")+len(f.quarter)] == f.quarter {
		return 0, errors.New("refused")
	}
	return f.listStore.Create(ctx, key, value, opts...)
}

// lagging is a bucket whose reads go to a replica that is cut off and lacks a list, and whose
// writes go to the leader, which has it.
type lagging struct {
	listStore
	until time.Time
	taken bool
}

func (l *lagging) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	l.taken = l.taken || time.Now().After(l.until)
	return nil, jetstream.ErrKeyNotFound
}

func (l *lagging) Create(context.Context, string, []byte, ...jetstream.KVCreateOpt) (uint64, error) {
	if !l.taken {
		return 0, jetstream.ErrKeyExists
	}
	return 1, nil
}

func TestListsAreReadAgainWhileAReplicaIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &lagging{until: time.Now().Add(25 * time.Second)}
		d := &duplicateIndex{open: func(context.Context) (listStore, error) { return store, nil }}
		if v := d.mustJudge(t, seen("first", 1, 0), notNear); !v.of.IsZero() {
			t.Errorf("it repeats %v", v.of)
		}
		store.until, store.taken = time.Now().Add(time.Hour), false
		if _, err := d.classify(t.Context(), "c", seen("second", 2, 0), notNear); err == nil {
			t.Error("a list that can never be stored was")
		}
	})
}

func TestOneOfManyAtOnceIsTheFirst(t *testing.T) {
	d := openDuplicateIndex(t)
	const pages = 16
	var firsts sync.Map
	var wg sync.WaitGroup
	for i := range pages {
		wg.Go(func() {
			s := seen(fmt.Sprint(i), 1, 0)
			v, err := d.classify(t.Context(), "c", s, 0)
			if err != nil {
				t.Error(err)
			}
			if v.of.IsZero() {
				firsts.Store(s.visit, true)
			}
		})
	}
	wg.Wait()
	n := 0
	firsts.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d pages are the first", n)
	}
}

func TestListsAreBounded(t *testing.T) {
	d := openDuplicateIndex(t)
	full := list{pages: make([]pageFingerprint, maxSightings)}
	if stored, err := d.add(t.Context(), "c.exact.1", full, seen("more", 1, 1)); !stored || err != nil {
		t.Errorf("stored %t, %v", stored, err)
	}
	if l, err := d.read(t.Context(), "c.exact.1"); err != nil || len(l.pages) != 0 {
		t.Errorf("%d pages, %v", len(l.pages), err)
	}
}
