package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// StoredMessage is a message of a stream.
type StoredMessage struct {
	Stream string    `json:"stream"`
	Seq    uint64    `json:"seq"`
	Part   *int      `json:"part,omitempty"` // index in a batch, from 0
	At     time.Time `json:"at"`             // when the stream stored it
	ID     string    `json:"id,omitempty"`
	Size   int       `json:"size"` // of the payload, in bytes; of a whole batch
	Trace  string    `json:"trace,omitempty"`
}

// Search describes the search of a stream. JetStream cannot find a message by its identity, so the
// search reads the headers of the partition's messages near the known times.
type Search struct {
	Stream  string      `json:"stream"`
	Windows []timeRange `json:"windows"`
	Looked  int         `json:"looked_at"` // messages
	// Purged is set if the stream no longer has part of the time.
	Purged bool `json:"purged,omitempty"`
	// Cut is set if the search stopped at its limit.
	Cut bool `json:"cut,omitempty"`
	// Oldest is when the first message of the stream was stored.
	Oldest time.Time `json:"oldest,omitzero"`
}

// timeRange is a span of time.
type timeRange struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// maxLooked bounds the messages read in one stream, which takes a few seconds.
const maxLooked = 100_000

// merged joins overlapping ranges.
func merged(ws []timeRange) []timeRange {
	slices.SortFunc(ws, func(a, b timeRange) int { return a.From.Compare(b.From) })
	var out []timeRange
	for _, w := range ws {
		if n := len(out); n > 0 && !w.From.After(out[n-1].To) {
			if w.To.After(out[n-1].To) {
				out[n-1].To = w.To
			}
			continue
		}
		out = append(out, w)
	}
	return out
}

// scan calls found for the messages of a subject in the ranges whose identity begins with prefix.
func scan(ctx context.Context, bus *stages.Bus, stream, subject, prefix string, ws []timeRange, found func(StoredMessage, nats.Header) error) (Search, error) {
	s := Search{Stream: stream, Windows: merged(ws)}
	info, err := bus.JS.Stream(ctx, stream)
	if err != nil {
		return s, fmt.Errorf("open stream %s: %w", stream, err)
	}
	state := info.CachedInfo().State
	if s.Oldest = state.FirstTime; state.Msgs == 0 {
		s.Oldest = time.Time{}
	}
	for _, w := range s.Windows {
		// A stream that still has its first message has purged nothing.
		s.Purged = s.Purged || state.FirstSeq > 1 && (state.Msgs == 0 || w.From.Before(state.FirstTime))
		if err := s.scanWindow(ctx, bus, subject, prefix, w, found); err != nil {
			return s, fmt.Errorf("read %s: %w", stream, err)
		}
	}
	return s, nil
}

// scanWindow searches one range.
func (s *Search) scanWindow(ctx context.Context, bus *stages.Bus, subject, prefix string, w timeRange, found func(StoredMessage, nats.Header) error) error {
	config := jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject}, DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &w.From, HeadersOnly: true,
	}
	var failed error // error of found
	err := bus.EachOrdered(ctx, s.Stream, config, 1024, func(m jetstream.Msg, md *jetstream.MsgMetadata) bool {
		if md.Timestamp.After(w.To) {
			return false
		}
		s.Looked++
		for _, at := range stored(s.Stream, md.Sequence.Stream, md.Timestamp, m.Headers()) {
			if strings.HasPrefix(at.ID, prefix) && failed == nil {
				failed = found(at, m.Headers())
			}
		}
		s.Cut = s.Cut || s.Looked >= maxLooked && md.NumPending > 0
		return failed == nil && !s.Cut
	})
	return errors.Join(err, failed)
}

// stored describes a message of a stream, or each message of a batch.
func stored(stream string, seq uint64, at time.Time, h nats.Header) (all []StoredMessage) {
	size, _ := strconv.Atoi(h.Get(nats.MsgSize))
	for i, id := range messages.BatchIDs(h) {
		m := StoredMessage{Stream: stream, Seq: seq, At: at, ID: id, Size: size, Trace: tracing.ID(h)}
		if h.Get(messages.HeaderBatch) != "" {
			m.Part = &i
		}
		all = append(all, m)
	}
	return all
}
