package deadletters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/humanize"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Errors of Redrive.
var (
	ErrNoOrigin  = errors.New("the dead letter does not name the stream of its message: it cannot be redriven")
	ErrForgotten = errors.New("the dead letter lacks the message, and its stream has it no longer")
	ErrTooSoon   = errors.New("NATS would drop the message as a duplicate: try again in two minutes")
)

// Redriver sends the messages of dead letters to their stages again.
type Redriver struct {
	Bus *stages.Bus
	// Sent counts messages. Several letters can belong to one message.
	Sent    int
	sent    map[origin]bool
	skipped map[error][]uint64 // letters by the reason why they were not sent
}

// origin identifies a message of a stream.
type origin struct {
	stream   string
	sequence uint64
}

// Redrive publishes the message of a letter to its stream again and removes the letter. If the
// message fails again, the new letter has an incremented count.
func (r *Redriver) Redrive(ctx context.Context, l *DeadLetter) error {
	if err := l.checkOrigin(r.Bus.Layout.Partitions); err != nil {
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
	ack, err := r.Bus.JS.PublishMsg(ctx, m, jetstream.WithExpectStream(l.Stream))
	if err != nil {
		return fmt.Errorf("publish to %s: %w", m.Subject, err)
	}
	if ack.Duplicate {
		return ErrTooSoon
	}
	if r.sent == nil {
		r.sent = make(map[origin]bool)
	}
	r.sent[from] = true
	r.Sent++
	return Drop(ctx, r.Bus, l.Seq)
}

// RedriveOrSkip is Redrive for one of several letters. It skips a letter that cannot be sent, or
// not yet; Skipped reports the skipped letters.
func (r *Redriver) RedriveOrSkip(ctx context.Context, l *DeadLetter) error {
	err := r.Redrive(ctx, l)
	if errors.Is(err, ErrNone) { // another user has redriven or dropped it
		return nil
	}
	for _, why := range []error{ErrTooSoon, ErrForgotten, ErrNoOrigin, ErrForeign} {
		if errors.Is(err, why) {
			if r.skipped == nil {
				r.skipped = make(map[error][]uint64)
			}
			r.skipped[why] = append(r.skipped[why], l.Seq)
			return nil
		}
	}
	return err
}

// Skipped returns an error with the number of skipped letters and the reasons, nil if none was
// skipped.
func (r *Redriver) Skipped() error {
	var all []string
	for why, seqs := range r.skipped {
		all = append(all, fmt.Sprintf("%s not sent (the first is %d): %v", humanize.Plural(len(seqs), "dead letter"), seqs[0], why))
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return errors.New(strings.Join(all, "; "))
}

// isPart reports whether the payload is a record that was made from the message, instead of the
// message itself.
func (l *DeadLetter) isPart() bool {
	return l.Stream == messages.StreamPages && !strings.HasSuffix(l.Message.Header.Get(nats.MsgIdHdr), ".0")
}

// refusedURL returns the URL of a letter about a single URL of a message on URLS, "" for other
// letters.
func (l *DeadLetter) refusedURL() string {
	if l.Stream != messages.StreamURLs || bytes.HasPrefix(l.Message.Data, []byte("{")) {
		return ""
	}
	return string(l.Message.Data)
}

// only reduces m, a message of URLS, to the one candidate message of its payload that has the URL,
// with that URL alone, and sets the partition of the URL. The result does not end a visit, because
// the visit has ended.
func only(url string, m *nats.Msg, partitions int) error {
	for line := range bytes.Lines(m.Data) {
		c, err := messages.DecodeCandidates(line)
		if err != nil {
			continue
		}
		c.URLs = slices.DeleteFunc(c.URLs, func(u messages.Candidate) bool { return u.URL != url })
		if c.Ends = (messages.Visit{}); len(c.URLs) == 0 {
			continue
		}
		m.Subject = m.Subject[:strings.LastIndexByte(m.Subject, '.')+1] + strconv.Itoa(messages.Partition(url, partitions))
		m.Data = c.Encode()
		m.Header.Del(messages.HeaderBatch)
		m.Header.Del(messages.HeaderBatchID)
		return nil
	}
	return ErrForeign
}

// stored returns the original message of a letter from its stream.
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

// partOf returns the part of a stored message that a letter is about: one message of a batch if the
// letter has its identity, otherwise the whole message.
func (l *DeadLetter) partOf(was *jetstream.RawStreamMsg) (nats.Header, []byte, error) {
	id := l.Message.Header.Get(messages.HeaderDeadID)
	i := slices.Index(was.Header[messages.HeaderBatchID], id)
	if i < 0 {
		return was.Header, was.Data, nil
	}
	parts, err := messages.SplitBatch(was.Header, was.Data)
	if err != nil {
		return nil, nil, err
	}
	return parts[i].Header, parts[i].Data, nil
}

// original returns the message as it was before it failed. Letters of custom stages are not
// trusted: their messages are read from the stream.
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
		if err := only(refused, m, bus.Layout.Partitions); err != nil {
			return nil, err
		}
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
	if l.stage() == messages.StageParser {
		forParser(m)
	}
	m.Header.Set(messages.HeaderRedriven, strconv.Itoa(l.Redriven+1))
	return m, nil
}

// forParser redirects m, a page that may be chained, to the parsers of PAGES, which do not read
// chained pages.
func forParser(m *nats.Msg) {
	m.Subject = messages.SubjectForParser(m.Subject)
	if id := messages.PageID(m.Header); id != "" {
		m.Header.Set(nats.MsgIdHdr, id)
	}
}
