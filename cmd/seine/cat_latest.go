package main

import (
	"cmp"
	"crypto/sha256"
	"strconv"
	"time"

	"seine/pkg/messages"
)

// latest finds the last record of each key, and of each page the records without a key of
// its last visit, by several looks at the same lines. It has 120 bytes for each key and
// page, and for each visit that a replay has made again.
type latest struct {
	kind string // that is asked for, "" if all are but those of pages that are gone
	look latestLook
	// newest is where the last record of each identity was made, of those that are there.
	newest map[identity]edition
	// visited is the last visit of each page that records were made of: what an earlier one
	// found there is not there any more, unless it has a key.
	visited map[identity]edition
	// replayed is the last replay of each visit that was made again: what was made
	// of it before, perhaps with another key, is not there any more.
	replayed map[identity]edition
	// gone is when each page was last found gone. What was made of it before is not there
	// any more, wherever it stands: a replay may have made it later.
	gone map[identity]moment
	// found is when each page that was gone was last found after all, if that is asked for.
	found map[identity]moment
}

// latestLook is what lines are looked at for.
type latestLook int

const (
	lookForGone   latestLook = iota // which pages are gone and visits replayed; if none is, which records are the last
	lookForNewest                   // which records are the last
	lookAtAll                       // nothing is left to find out
)

// identity tells pages apart, or what the last record is of.
type identity [sha256.Size]byte

// identified is what tells a record from others.
type identified struct {
	crawl, kind, url, key string
	visit, generation     string // of its page; "" if it does not say so
	made                  moment
}

// edition is what was made at one time: by a visit, or by a replay of what it found.
type edition struct {
	made moment
	by   [8]byte // of the hash of its name
}

func newEdition(made moment, name string) edition {
	sum := sha256.Sum256([]byte(name))
	return edition{made, [8]byte(sum[:])}
}

func newLatest(kind string) *latest {
	return &latest{kind: kind, newest: make(map[identity]edition), visited: make(map[identity]edition),
		replayed: make(map[identity]edition), gone: make(map[identity]moment), found: make(map[identity]moment)}
}

// next begins the next look. The second is needed only if pages are gone, or replayed.
func (l *latest) next() {
	if l.look++; l.look == lookForNewest && len(l.gone) == 0 && len(l.replayed) == 0 {
		l.look++
	}
	if l.look == lookForNewest {
		clear(l.newest)
		clear(l.visited)
	}
}

// learn takes a record into account, and reports whether that is all to be done with it.
func (l *latest) learn(r *identified) bool {
	if l.look == lookAtAll {
		return false
	}
	is := r.kind == messages.KindGone
	if id := r.page(); is && l.look == lookForGone && !r.made.before(l.gone[id]) {
		l.gone[id] = r.made
	}
	if l.look == lookForGone && r.generation != "" && !is && r.visit != "" {
		l.replayed[r.ofVisit()] = later(l.replayed[r.ofVisit()], newEdition(r.made, r.generation))
	}
	if !is && (l.isGone(r) || l.isReplaced(r)) {
		return true
	}
	if l.kind == messages.KindGone && !is {
		if id := r.page(); !r.made.before(l.found[id]) {
			l.found[id] = r.made
		}
	}
	if !is && r.visit != "" {
		l.visited[r.page()] = later(l.visited[r.page()], r.visitEdition())
	}
	if l.wants(r) {
		l.newest[r.identity()] = later(l.newest[r.identity()], r.edition())
	}
	return true
}

// later returns b, unless that was made before a. Of one edition it keeps the last moment.
func later(a, b edition) edition {
	if b.made.before(a.made) {
		return a
	}
	return b
}

// isGone reports whether the page of a record was found gone after that was made.
func (l *latest) isGone(r *identified) bool {
	gone, is := l.gone[r.page()]
	return is && r.made.before(gone)
}

// isReplaced reports whether a later replay has made again what the record is of.
func (l *latest) isReplaced(r *identified) bool {
	last, is := l.replayed[r.ofVisit()]
	return is && r.isOfRule() && last.by != newEdition(r.made, r.generation).by
}

// wants reports whether records of its kind are asked for.
func (l *latest) wants(r *identified) bool {
	return r.kind == l.kind || l.kind == "" && r.kind != messages.KindGone
}

// has reports whether a record is a last one.
func (l *latest) has(r *identified) bool {
	if found, ok := l.found[r.page()]; !l.wants(r) || r.kind == messages.KindGone && ok && r.made.before(found) {
		return false
	}
	switch {
	case r.key == "" && r.url == "":
		return true
	case l.isReplaced(r):
		return false
	case r.isPart() && l.visited[r.page()].by != r.visitEdition().by:
		return false
	}
	return l.newest[r.identity()].by == r.edition().by
}

// isPart reports whether the record is one of those that a rule has made of a page, told
// from the others by its place alone.
func (r *identified) isPart() bool { return r.key == "" && r.isOfRule() }

// isOfRule reports whether the record is one of those that a rule has made of a visit.
func (r *identified) isOfRule() bool {
	return r.visit != "" && r.url != "" && r.kind != messages.KindPage && r.kind != messages.KindGone
}

// visitEdition is what all records of a visit have in common.
func (r *identified) visitEdition() edition { return newEdition(r.made, r.visit) }

// edition is what a record has in common with those that are as new: of parts of a page
// those of the same visit and replay, else none.
func (r *identified) edition() edition {
	if r.isPart() {
		return newEdition(r.made, r.visit+"\x00"+r.generation)
	}
	return newEdition(r.made, strconv.Itoa(r.made.n))
}

func (r *identified) page() identity { return sha256.Sum256([]byte(r.crawl + "\x00" + r.url)) }

// ofVisit is what a visit has found.
func (r *identified) ofVisit() identity {
	return sha256.Sum256([]byte(r.crawl + "\x00" + r.url + "\x00" + r.visit))
}

func (r *identified) identity() identity {
	return sha256.Sum256([]byte(r.crawl + "\x00" + r.kind + "\x00" + cmp.Or(r.key, r.url)))
}

// moment is when a record was made: by the clock, or if it does not say so, by the place
// of its line.
type moment struct {
	at time.Time
	n  int
}

func momentOf(text string, n int) moment {
	at, _ := time.Parse(time.RFC3339Nano, text) // none if it is no time
	return moment{at, n}
}

// before reports whether m was before o.
func (m moment) before(o moment) bool {
	if m.at.IsZero() || o.at.IsZero() || m.at.Equal(o.at) {
		return m.n < o.n
	}
	return m.at.Before(o.at)
}
