package parser

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// duplicateIndex records which page was the first with some content, for all parsers of a crawl and
// permanently: the decision about a page is remembered, so that it is the same when the page is
// parsed again.
//
// Pages are in lists by 16 bits of their digest. Those that repeat no other page are also in four
// lists, one for each 16 bits of their simhash. If two hashes differ in at most three bits, at
// least one such quarter is equal. If they differ in at most seven bits, one quarter differs in at
// most one bit. So all near pages are in the lists of a hash's quarters and, for a distance over
// three, in those one bit away from them. The number of lists, which determines the memory in the
// NATS server, is bounded: a crawl has at most 5 × 65,536.
//
// Two pages that are nearly equal and are parsed at the same moment may both count as the first.
type duplicateIndex struct {
	// open returns the lists. It is called when they are first needed, which most crawls never do.
	open func(context.Context) (listStore, error)
}

// listStore is the required part of a KV bucket.
type listStore interface {
	Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error)
	jsclient.KeyStore
}

var _ listStore = jetstream.KeyValue(nil)

// pageFingerprint is the remembered form of a page.
type pageFingerprint struct {
	digest, simhash uint64 // simhash 0 is near nothing
	visit           messages.Visit
	of              messages.Visit // the page it nearly repeats, zero for none
}

// duplicatesIn returns the index of duplicates of a cluster.
func duplicatesIn(bus *stages.Bus) duplicateIndex {
	var opened atomic.Pointer[jetstream.KeyValue]
	return duplicateIndex{open: func(ctx context.Context) (listStore, error) {
		if kv := opened.Load(); kv != nil {
			return *kv, nil
		}
		kv, err := bus.JS.KeyValue(ctx, messages.BucketDuplicates)
		if err != nil {
			return nil, fmt.Errorf("open bucket %s: %w", messages.BucketDuplicates, err)
		}
		opened.Store(&kv)
		return kv, nil
	}}
}

const (
	sightingSize = 8 + 8 + 2*visitSize
	visitSize    = 16 + 8
	// maxSightings bounds a list, to a quarter of the size of a message. Later pages are compared
	// with those in the list, and not remembered.
	maxSightings = (256 << 10) / sightingSize
	quarters     = 4
	// maxContention is how often other parsers may change a list between reading and writing it, or
	// seem to because the replica that was read is cut off. That ends eventually: the waits are
	// half a minute in total.
	maxContention     = 64
	maxContentionWait = 500 * time.Millisecond
)

// contend waits before a list is read again.
func contend(ctx context.Context, tries int) error {
	if err := sleep.For(ctx, min(time.Millisecond<<min(tries, 10), maxContentionWait)); err != nil {
		return fmt.Errorf("read list of duplicates again: %w", err)
	}
	return nil
}

// duplicateMatch is the page that a page repeats, if any.
type duplicateMatch struct {
	of    messages.Visit
	exact bool
}

// notNear is the distance at which no page is near another.
const notNear = -1

// classify returns the page that a page repeats: one with the same digest, or one whose simhash
// differs in at most distance bits.
func (d *duplicateIndex) classify(ctx context.Context, crawl string, s pageFingerprint, distance int) (duplicateMatch, error) {
	lists := messages.Incarnation(crawl, s.visit.Incarnation())
	key := exactKey(lists, s.digest)
	for tries := range maxContention {
		l, err := d.read(ctx, key)
		if err != nil {
			return duplicateMatch{}, err
		}
		for _, other := range l.pages {
			switch {
			case other.digest != s.digest:
			case other.visit.URL == s.visit.URL:
				return duplicateMatch{of: other.of}, d.remember(ctx, lists, other, distance)
			case other.original().URL == s.visit.URL: // the first page itself, now with the content of a near duplicate
				return duplicateMatch{}, d.remember(ctx, lists, s, distance)
			default:
				return duplicateMatch{of: other.original(), exact: true}, nil
			}
		}
		if s.of, err = d.near(ctx, lists, s, distance); err != nil {
			return duplicateMatch{}, err
		}
		stored, err := d.add(ctx, key, l, s)
		if err != nil {
			return duplicateMatch{}, err
		}
		if stored {
			return duplicateMatch{of: s.of}, d.remember(ctx, lists, s, distance)
		}
		if err := contend(ctx, tries); err != nil {
			return duplicateMatch{}, err
		}
	}
	return duplicateMatch{}, fmt.Errorf("list %s of duplicates changed %d times while it was read", key, maxContention)
}

// DuplicateOf returns the page that a parsed page repeats, as decided by the parser: zero if none,
// or if the crawl does not look for duplicates. exact reports whether they are identical byte for
// byte.
func DuplicateOf(ctx context.Context, bus *stages.Bus, page *messages.Page) (of messages.Visit, exact bool, err error) {
	digest, err := hex.DecodeString(page.Digest)
	if err != nil || len(digest) < 8 {
		return of, false, nil // the digest is the only key of the list
	}
	known := duplicatesIn(bus)
	l, err := known.read(ctx, exactKey(messages.Incarnation(page.Crawl, page.Visit.Incarnation()), binary.BigEndian.Uint64(digest)))
	if err != nil {
		return of, false, err
	}
	for _, other := range l.pages {
		switch {
		case other.digest != binary.BigEndian.Uint64(digest):
		case other.visit.URL == page.Visit.URL:
			return other.of, false, nil
		case other.original().URL == page.Visit.URL:
			return of, false, nil
		default:
			return other.original(), true, nil
		}
	}
	return of, false, nil
}

func exactKey(lists string, digest uint64) string {
	return lists + ".exact." + strconv.FormatUint(digest>>48, 16)
}

// original returns the page that a repeat of this one repeats.
func (f *pageFingerprint) original() messages.Visit {
	if f.of.IsZero() {
		return f.visit
	}
	return f.of
}

// near returns the page with the nearest simhash. Of several it returns the one with the smallest
// hash of its URL, so that the result does not depend on their lists.
func (d *duplicateIndex) near(ctx context.Context, lists string, s pageFingerprint, distance int) (messages.Visit, error) {
	var best messages.Visit
	if distance == notNear || s.simhash == 0 {
		return best, nil
	}
	least := distance + 1
	for _, key := range probes(lists, s.simhash, distance) {
		l, err := d.read(ctx, key)
		if err != nil {
			return best, err
		}
		for _, other := range l.pages {
			n := bits.OnesCount64(other.simhash ^ s.simhash)
			switch {
			case other.visit.URL == s.visit.URL:
			case n < least, n == least && least <= distance && string(other.visit.URL[:]) < string(best.URL[:]):
				least, best = n, other.visit
			}
		}
	}
	return best, nil
}

// remember stores a page that repeats no other, for comparison with later ones.
func (d *duplicateIndex) remember(ctx context.Context, lists string, s pageFingerprint, distance int) error {
	if distance == notNear || s.simhash == 0 || !s.of.IsZero() {
		return nil
	}
	for q := range quarters {
		if err := d.rememberIn(ctx, quarterKey(lists, q, s.simhash), s); err != nil {
			return err
		}
	}
	return nil
}

func (d *duplicateIndex) rememberIn(ctx context.Context, key string, s pageFingerprint) error {
	for tries := range maxContention {
		l, err := d.read(ctx, key)
		if err != nil || l.has(s) {
			return err
		}
		if stored, err := d.add(ctx, key, l, s); err != nil || stored {
			return err
		}
		if err := contend(ctx, tries); err != nil {
			return err
		}
	}
	return fmt.Errorf("list %s of duplicates changed %d times while it was read", key, maxContention)
}

// probes returns the keys of the lists that contain all near pages.
func probes(lists string, simhash uint64, distance int) []string {
	var keys []string
	for q := range quarters {
		keys = append(keys, quarterKey(lists, q, simhash))
		for bit := 0; distance >= quarters && bit < 16; bit++ {
			keys = append(keys, quarterKey(lists, q, simhash^1<<(16*q+bit)))
		}
	}
	return keys
}

func quarterKey(lists string, q int, simhash uint64) string {
	return lists + ".near" + strconv.Itoa(q) + "." + strconv.FormatUint(simhash>>(16*q)&0xffff, 16)
}

// list is a list in the form in which it was read.
type list struct {
	pages    []pageFingerprint
	revision uint64 // 0 if it does not exist
}

func (l *list) has(s pageFingerprint) bool {
	for _, other := range l.pages {
		if other.visit.URL == s.visit.URL && other.simhash == s.simhash {
			return true
		}
	}
	return false
}

func (d *duplicateIndex) read(ctx context.Context, key string) (list, error) {
	kv, err := d.open(ctx)
	if err != nil {
		return list{}, err
	}
	e, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return list{}, nil
	}
	if err != nil {
		return list{}, fmt.Errorf("read list %s of duplicates: %w", key, err)
	}
	return list{pages: decodeSightings(e.Value()), revision: e.Revision()}, nil
}

// add stores a list with one more page, and returns false if it has changed since it was read.
func (d *duplicateIndex) add(ctx context.Context, key string, l list, s pageFingerprint) (bool, error) {
	if len(l.pages) >= maxSightings {
		return true, nil
	}
	value := encodeSightings(append(l.pages, s))
	kv, err := d.open(ctx)
	if err != nil {
		return false, err
	}
	_, err = jsclient.Swap(ctx, kv, key, value, l.revision)
	if jsclient.IsConflict(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store list %s of duplicates: %w", key, err)
	}
	return true, nil
}

func encodeSightings(pages []pageFingerprint) []byte {
	b := make([]byte, 0, len(pages)*sightingSize)
	for _, s := range pages {
		b = binary.BigEndian.AppendUint64(b, s.digest)
		b = binary.BigEndian.AppendUint64(b, s.simhash)
		for _, v := range []messages.Visit{s.visit, s.of} {
			b = append(b, v.URL[:]...)
			b = binary.BigEndian.AppendUint64(b, v.Round)
		}
	}
	return b
}

// decodeSightings decodes the output of encodeSightings; it ignores an incomplete rest.
func decodeSightings(b []byte) []pageFingerprint {
	pages := make([]pageFingerprint, 0, len(b)/sightingSize+1)
	for ; len(b) >= sightingSize; b = b[sightingSize:] {
		s := pageFingerprint{digest: binary.BigEndian.Uint64(b), simhash: binary.BigEndian.Uint64(b[8:])}
		for i, v := range []*messages.Visit{&s.visit, &s.of} {
			from := b[16+i*visitSize:]
			copy(v.URL[:], from)
			v.Round = binary.BigEndian.Uint64(from[16:])
		}
		pages = append(pages, s)
	}
	return pages
}
