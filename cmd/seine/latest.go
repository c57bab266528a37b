package main

import (
	"cmp"
	"crypto/sha256"
	"time"

	"seine/pkg/messages"
)

// latest finds the last record of each page and key, by several looks at the same lines.
// It has 40 bytes for each, and 100 for each page that is gone.
type latest struct {
	kind string // that is asked for, "" if all are but those of pages that are gone
	look latestLook
	// newest is the place of the last record of each identity, of those that are there.
	newest map[identity]int
	// gone is when each page was last found gone. What was made of it before is not there
	// any more, wherever it stands: a replay may have made it later.
	gone map[identity]moment
	// found is when each page that was gone was last found after all, if that is asked for.
	found map[identity]moment
}

// latestLook is what lines are looked at for.
type latestLook int

const (
	lookForGone   latestLook = iota // which pages are gone; if none is, which records are the last
	lookForNewest                   // which records are the last
	lookAtAll                       // nothing is left to find out
)

// identity tells pages apart, or what the last record is of.
type identity [sha256.Size]byte

// identified is what tells a record from others.
type identified struct {
	crawl, kind, url, key string
	made                  moment
}

func newLatest(kind string) *latest {
	return &latest{kind: kind, newest: make(map[identity]int), gone: make(map[identity]moment), found: make(map[identity]moment)}
}

// next begins the next look. The second is needed only if pages are gone.
func (l *latest) next() {
	if l.look++; l.look == lookForNewest && len(l.gone) == 0 {
		l.look++
	}
	if l.look == lookForNewest {
		clear(l.newest)
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
	if !is && l.isGone(r) {
		return true
	}
	if l.kind == messages.KindGone && !is {
		if id := r.page(); !r.made.before(l.found[id]) {
			l.found[id] = r.made
		}
	}
	if l.wants(r) {
		l.newest[r.identity()] = r.made.n
	}
	return true
}

// isGone reports whether the page of a record was found gone after that was made.
func (l *latest) isGone(r *identified) bool {
	gone, is := l.gone[r.page()]
	return is && r.made.before(gone)
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
	return r.key == "" && r.url == "" || l.newest[r.identity()] == r.made.n
}

func (r *identified) page() identity { return sha256.Sum256([]byte(r.crawl + "\x00" + r.url)) }

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
