package replay

import (
	"context"
	"time"
)

// Preview is what a replay would read, if it were begun now.
type Preview struct {
	// Messages are those of the window for the filter of the server; Exact says that all of them are chosen. If a
	// host was named they are of its partition: at most so many are of the host.
	Messages int64 `json:"messages"`
	Exact    bool  `json:"exact"`
	// FirstSeq and FirstTime are of the oldest message that the stream still has; what was before is purged.
	FirstSeq  uint64    `json:"first_seq"`
	FirstTime time.Time `json:"first_time,omitzero"`
	FromSeq   uint64    `json:"from_seq"`
	ToSeq     uint64    `json:"to_seq"` // before FromSeq if there is nothing
}

// Look says what a replay would read. It changes nothing. It fails if the NATS server refuses to have the stream read, also
// when that has nothing.
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
	if w.From > w.To { // whether the stream may be read is not known yet
		if _, err := source.pending(ctx, w.From); err != nil {
			return nil, err
		}
	}
	return &Preview{w.Messages, o.Choice.Host == "", w.First, w.FirstTime, w.From, w.To}, nil
}
