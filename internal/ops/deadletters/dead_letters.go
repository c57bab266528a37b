// Package deadletters reads DEAD for a person, and gives what is there to its
// stage again: for "seine dead" (cmd/seine/dead_letters.go) and the overview. What
// goes to DEAD is decided in pkg/stages/dead_letters.go.
package deadletters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
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
	URL      string    `json:"url,omitempty"` // that it is about
	Time     time.Time `json:"time"`
	Stream   string    `json:"stream"` // that it was read from
	Subject  string    `json:"subject"`
	Sequence uint64    `json:"sequence"`
	Tries    int       `json:"tries"`
	Redriven int       `json:"redriven"`
	// Message is as DEAD has it.
	Message *nats.Msg `json:"-"`
}

// Filter chooses letters; what is empty chooses all.
type Filter struct {
	Stage, Crawl string
	Reason       string // is in it
	Host         string // of the URL
	Since        time.Time
}

// Chooses reports whether f chooses a letter that was not read by way of it.
func (f *Filter) Chooses(l *DeadLetter) bool {
	return (f.Stage == "" || f.Stage == l.Stage) && (f.Crawl == "" || f.Crawl == l.Crawl) && !l.Time.Before(f.Since) && f.matches(l)
}

// matches looks at what the server does not.
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

// subject is the filter for the server.
func (f *Filter) subject() string {
	stage, crawl := f.Stage, f.Crawl
	if stage == "" {
		stage = "*"
	}
	if crawl == "" {
		crawl = "*"
	}
	return messages.SubjectDead(stage, crawl)
}

// HasContent reports whether the payload may have what was extracted of pages, or their text: that is for those who
// may read records.
func (l *DeadLetter) HasContent() bool {
	return !slices.Contains([]string{messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamResults}, l.Stream)
}

// Each calls do for every letter there is now that f chooses, the oldest first,
// until it returns an error.
func Each(ctx context.Context, bus *stages.Bus, f Filter, do func(*DeadLetter) error) error {
	var config jetstream.OrderedConsumerConfig
	if !f.Since.IsZero() {
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &f.Since
	}
	return each(ctx, bus, f, config, math.MaxUint64, do)
}

// ahead is how many letters are fetched at a time.
const ahead = 256

// each calls do for the letters before a sequence that f chooses, from where config begins, as far as there are some now.
func each(ctx context.Context, bus *stages.Bus, f Filter, config jetstream.OrderedConsumerConfig, end uint64, do func(*DeadLetter) error) error {
	config.FilterSubjects = []string{f.subject()}
	var failed error // of do
	err := bus.ReadOrdered(ctx, messages.StreamDead, config, func(c jetstream.Consumer) error {
		info, err := c.Info(ctx)
		if err != nil || info.NumPending == 0 {
			return err
		}
		it, err := c.Messages(jetstream.PullMaxMessages(ahead))
		if err != nil {
			return err
		}
		defer it.Stop()
		for failed == nil {
			m, err := it.Next(jetstream.NextContext(ctx))
			if err != nil {
				return err
			}
			meta, err := m.Metadata()
			if err != nil || meta.Sequence.Stream >= end {
				return err
			}
			if l := read(meta.Sequence.Stream, m.Subject(), m.Headers(), m.Data()); f.matches(l) {
				failed = do(l)
			}
			if meta.NumPending == 0 {
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read DEAD: %w", err)
	}
	return failed
}

// ErrNone is returned for a letter that is not there.
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

// read tells what a letter says. Whatever is missing stays empty: anyone may
// publish there.
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

// urlOf returns the URL that a message is about, "" if none can be told.
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

// Errors of Redrive.
var (
	ErrNoOrigin  = errors.New("the letter does not say where its message was read: it cannot go back there")
	ErrForgotten = errors.New("the letter does not hold the message, and its stream has forgotten it")
	ErrTooSoon   = errors.New("NATS would drop this message as a duplicate: try again in two minutes")
)

// Redriver gives messages to their stages again.
type Redriver struct {
	Bus *stages.Bus
	// Sent counts them. Several letters can be of one message.
	Sent int
	sent map[origin]bool
}

// origin is where a message was read.
type origin struct {
	stream   string
	sequence uint64
}

// Redrive puts the message of a letter into its stream again, and removes the
// letter. One that fails again has its count with it.
func (r *Redriver) Redrive(ctx context.Context, l *DeadLetter) error {
	if err := l.checkOrigin(); err != nil {
		return err
	}
	from := origin{l.Stream, l.Sequence}
	if l.isPart() && r.sent[from] {
		return Drop(ctx, r.Bus, l.Seq)
	}
	m, err := original(ctx, r.Bus, l)
	if err != nil {
		return err
	}
	all, err := route(m, r.Bus.Layout.Partitions)
	if err != nil {
		return err
	}
	for _, m := range all {
		ack, err := r.Bus.JS.PublishMsg(ctx, m, jetstream.WithExpectStream(l.Stream))
		if err != nil {
			return fmt.Errorf("publish to %s: %w", m.Subject, err)
		}
		if ack.Duplicate {
			return ErrTooSoon
		}
	}
	if r.sent == nil {
		r.sent = make(map[origin]bool)
	}
	r.sent[from] = true
	r.Sent++
	return Drop(ctx, r.Bus, l.Seq)
}

// isPart reports whether the payload is not that of the message, but a record
// that was made of the page in it.
func (l *DeadLetter) isPart() bool {
	return l.Stream == messages.StreamPages && !strings.HasSuffix(l.Message.Header.Get(nats.MsgIdHdr), ".0")
}

// refusedURL is the payload of a letter about one URL of a message of URLS, "" of another letter.
func (l *DeadLetter) refusedURL() string {
	if l.Stream != messages.StreamURLs || bytes.HasPrefix(l.Message.Data, []byte("{")) {
		return ""
	}
	return string(l.Message.Data)
}

// only returns the message of URLS, of those in a payload, that has a URL, with that URL alone. It does not end a
// visit: that has ended.
func only(url string, payload []byte) ([]byte, error) {
	for line := range bytes.Lines(payload) {
		c, err := messages.DecodeCandidates(line)
		if err != nil {
			continue
		}
		c.URLs = slices.DeleteFunc(c.URLs, func(u messages.Candidate) bool { return u.URL != url })
		if c.Ends = (messages.Visit{}); len(c.URLs) > 0 {
			return c.Encode(), nil
		}
	}
	return nil, ErrForeign
}

// stored returns the message of a letter as its stream still has it.
func stored(ctx context.Context, bus *stages.Bus, l *DeadLetter) (*jetstream.RawStreamMsg, error) {
	s, err := bus.JS.Stream(ctx, l.Stream)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", l.Stream, err)
	}
	was, err := s.GetMsg(ctx, l.Sequence)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, ErrForgotten
	case err != nil:
		return nil, fmt.Errorf("read stream %s: %w", l.Stream, err)
	case was.Subject != l.Subject:
		return nil, ErrForeign
	}
	if was.Header == nil {
		was.Header = make(nats.Header)
	}
	return was, nil
}

// partOf returns what of a stored message a letter is about: one of the messages of a batch, if the letter has the
// identity of one, or all of it.
func (l *DeadLetter) partOf(was *jetstream.RawStreamMsg) (nats.Header, []byte, error) {
	id := l.Message.Header.Get(messages.HeaderDeadID)
	i := slices.Index(was.Header[messages.HeaderBatchID], id)
	if i < 0 {
		return was.Header, was.Data, nil
	}
	parts, err := messages.SplitBatch(was.Header, was.Data)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says all
	}
	return parts[i].Header, parts[i].Data, nil
}

// original returns the message as it was before it failed. Letters of custom stages are not trusted: their messages are read from the
// stream.
func original(ctx context.Context, bus *stages.Bus, l *DeadLetter) (*nats.Msg, error) {
	m := &nats.Msg{Subject: l.Subject, Header: make(nats.Header), Data: l.Message.Data}
	refused, custom := l.refusedURL(), reads[l.stage()] == nil
	shortened := l.Message.Header.Get(messages.HeaderDeadSize) != ""
	if len(m.Data) == 0 || shortened || l.isPart() || refused != "" || custom {
		was, err := stored(ctx, bus, l)
		if err != nil {
			return nil, err
		}
		if m.Header, m.Data, err = l.partOf(was); err != nil {
			return nil, err
		}
	}
	if refused != "" {
		var err error
		if m.Data, err = only(refused, m.Data); err != nil {
			return nil, err
		}
		m.Header.Del(messages.HeaderBatch)
		m.Header.Del(messages.HeaderBatchID)
	}
	for name, values := range l.Message.Header {
		if !custom {
			m.Header[name] = values
		}
	}
	maps.DeleteFunc(m.Header, func(name string, _ []string) bool { return !isKept(name) })
	if id := l.Message.Header.Get(messages.HeaderDeadID); id != "" {
		m.Header.Set(nats.MsgIdHdr, id)
	}
	m.Header.Set(messages.HeaderRedriven, strconv.Itoa(l.Redriven+1))
	return m, nil
}
