// Package deadletters reads and redrives dead letters, for "seine dead" (cmd/seine/dead_letters.go)
// and the overview. pkg/stages/dead_letters.go decides which messages become dead letters.
package deadletters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// DeadLetter is a message that could not be handled.
type DeadLetter struct {
	Seq      uint64    `json:"seq"` // in DEAD
	Stage    string    `json:"stage"`
	Crawl    string    `json:"crawl"`
	Reason   string    `json:"reason"`
	URL      string    `json:"url,omitempty"` // URL of the message, if known
	Time     time.Time `json:"time"`
	Stream   string    `json:"stream"` // stream of the original message
	Subject  string    `json:"subject"`
	Sequence uint64    `json:"sequence"`
	Tries    int       `json:"tries"`
	Redriven int       `json:"redriven"`
	// Message is the message on DEAD.
	Message *nats.Msg `json:"-"`
}

// Filter selects dead letters. Empty fields select all.
type Filter struct {
	Stage, Crawl string
	Reason       string // substring
	Host         string // of the URL
	Since        time.Time
}

// Chooses reports whether f selects a letter that was read without f.
func (f *Filter) Chooses(l *DeadLetter) bool {
	return (f.Stage == "" || f.Stage == l.Stage) && (f.Crawl == "" || f.Crawl == l.Crawl) && !l.Time.Before(f.Since) && f.matches(l)
}

// matches checks the fields that the server cannot filter by.
func (f *Filter) matches(l *DeadLetter) bool {
	if f.Reason != "" && !strings.Contains(strings.ToLower(l.Reason), strings.ToLower(f.Reason)) {
		return false
	}
	if f.Host == "" {
		return true
	}
	u, err := url.Parse(l.URL)
	return err == nil && (strings.EqualFold(u.Host, f.Host) || strings.EqualFold(u.Hostname(), f.Host))
}

// subject returns the filter for the server.
func (f *Filter) subject() string {
	return messages.SubjectDead(cmp.Or(f.Stage, "*"), cmp.Or(f.Crawl, "*"))
}

// HasContent reports whether the payload may contain extracted data or text of pages, which only
// readers of records may see.
func (l *DeadLetter) HasContent() bool {
	return !slices.Contains([]string{messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamResults}, l.Stream)
}

// Each calls do for every current letter that f selects, the oldest first, until do returns an
// error.
func Each(ctx context.Context, bus *stages.Bus, f Filter, do func(*DeadLetter) error) error {
	var config jetstream.OrderedConsumerConfig
	if !f.Since.IsZero() {
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &f.Since
	}
	return each(ctx, bus, f, config, math.MaxUint64, do)
}

// ahead is the number of letters fetched at a time.
const ahead = 256

// each calls do for the letters before sequence end that f selects, from the start position of
// config, as long as letters are available.
func each(ctx context.Context, bus *stages.Bus, f Filter, config jetstream.OrderedConsumerConfig, end uint64, do func(*DeadLetter) error) error {
	config.FilterSubjects = []string{f.subject()}
	var failed error // error of do
	err := bus.EachOrdered(ctx, messages.StreamDead, config, ahead, func(m jetstream.Msg, at *jetstream.MsgMetadata) bool {
		if at.Sequence.Stream >= end {
			return false
		}
		if l := read(at.Sequence.Stream, m.Subject(), m.Headers(), m.Data()); f.matches(l) {
			failed = do(l)
		}
		return failed == nil
	})
	if err != nil {
		return fmt.Errorf("read DEAD: %w", err)
	}
	return failed
}

// ErrNone is returned if a letter does not exist.
var ErrNone = errors.New("no such dead letter (it was redriven or removed, or has expired)")

// Get returns one letter.
func Get(ctx context.Context, bus *stages.Bus, seq uint64) (*DeadLetter, error) {
	s, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return nil, fmt.Errorf("open DEAD: %w", err)
	}
	m, err := s.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, fmt.Errorf("%d: %w", seq, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("read DEAD: %w", err)
	}
	return read(m.Sequence, m.Subject, m.Header, m.Data), nil
}

// read decodes a letter. Missing headers leave fields empty, because any client may publish to
// DEAD.
func read(seq uint64, subject string, h nats.Header, data []byte) *DeadLetter {
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(h.Get(name), 10, 64)
		return n
	}
	l := &DeadLetter{
		Seq: seq, Stage: h.Get(messages.HeaderDeadStage), Reason: h.Get(messages.HeaderDeadReason),
		Stream: h.Get(messages.HeaderDeadStream), Subject: h.Get(messages.HeaderDeadSubject),
		Sequence: number(messages.HeaderDeadSequence), Tries: int(number(messages.HeaderDeadTries)),
		Redriven: int(number(messages.HeaderRedriven)), Message: &nats.Msg{Subject: subject, Header: h, Data: data},
	}
	l.Time, _ = time.Parse(time.RFC3339Nano, h.Get(messages.HeaderDeadTime))
	if tokens := strings.Split(subject, "."); len(tokens) == 4 {
		l.Crawl = tokens[3]
		if l.Stage == "" {
			l.Stage = tokens[2]
		}
	}
	l.URL = urlOf(h, data)
	return l
}

// urlOf returns the URL of a message, "" if it is unknown.
func urlOf(h nats.Header, data []byte) string {
	if page, err := messages.DecodePage(h); err == nil {
		return page.URL
	}
	var about struct {
		URL string `json:"url"`
	}
	_ = jsontext.Unmarshal(data, &about)
	return about.URL
}
