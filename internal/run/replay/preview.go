package replay

import (
	"context"
	"time"
)

// Preview describes the messages that a replay would read now.
type Preview struct {
	// Messages is the number of messages that the server finds with its filter; Exact is set if all
	// of them are selected. If a host is selected, the filter finds the messages of the host's
	// partition, so the count is an upper bound.
	Messages int64 `json:"messages"`
	Exact    bool  `json:"exact"`
	// FirstSeq and FirstTime are those of the oldest message in the stream; earlier messages are
	// purged.
	FirstSeq  uint64    `json:"first_seq"`
	FirstTime time.Time `json:"first_time,omitzero"`
	FromSeq   uint64    `json:"from_seq"`
	ToSeq     uint64    `json:"to_seq"` // less than FromSeq if there are no messages
}

// Look returns the messages that a replay would read. It changes nothing. It fails if the NATS
// server denies reading the stream, even an empty one.
func Look(ctx context.Context, o Options) (*Preview, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	source, err := openReplayStream(ctx, o.Source, o.Stream, &o.Choice)
	if err != nil {
		return nil, err
	}
	w, err := source.resolve(ctx, &o.Choice, time.Now())
	if err != nil {
		return nil, err
	}
	if w.From > w.To { // no request has tested the permission yet
		if _, err := source.pending(ctx, w.From); err != nil {
			return nil, err
		}
	}
	return &Preview{w.Messages, o.Choice.Host == "", w.First, w.FirstTime, w.From, w.To}, nil
}
