package writer

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// lagWatch warns while the writer falls behind.
type lagWatch struct{ *Writer }

const (
	// lagEvery is how often a writer checks its lag.
	lagEvery = 5 * time.Second
	// lagShare is the share of a stream's limit that a writer may hold back before it warns, since
	// from there on it slows the crawl down.
	lagShare = 0.5
	// pressShare is the share at which open files are finished early. Their messages are not
	// acknowledged, so the stream cannot drop them; sixteen files of 1 GiB would exceed its limit,
	// and the crawl would be stalled until the files reach their age.
	pressShare = 0.25
	// bodiesShare is how full the store of large bodies is when files are finished early: the
	// bodies of their pages must also be kept.
	bodiesShare = 0.75
)

// lag is how far a writer is behind.
type lag struct {
	messages uint64  // uncommitted, of the owned partitions
	share    float64 // of the stream's limit that they hold back
}

// run checks the lag, and the binding of the writer's name, until ctx is done. If the name is bound
// to another output, it calls unbound.
func (lw lagWatch) run(ctx context.Context, unbound context.CancelCauseFunc) {
	for sleep.For(ctx, lw.lagEvery) == nil {
		if err := (binder{lw.Writer}).stillBound(ctx); err != nil {
			unbound(err)
			return
		}
		l, err := lw.lag(ctx)
		if err != nil {
			lw.log.Debug("cannot see how far behind this is", "error", err)
			continue
		}
		lagMessages.WithLabelValues(lw.cfg.Name).Set(float64(l.messages))
		lw.noteLag(l)
		if l.share > pressShare || lw.from.isPages && lw.bodiesFull(ctx) {
			lw.Flush()
		}
	}
}

// lag queries the server for the lag of the owned partitions.
func (lw lagWatch) lag(ctx context.Context) (l lag, err error) {
	s, err := lw.bus.JS.Stream(ctx, lw.from.stream)
	if err != nil {
		return l, fmt.Errorf("inspect stream %s: %w", lw.from.stream, err)
	}
	info := s.CachedInfo()
	floor := info.State.LastSeq
	for _, p := range lw.owned() {
		c, err := s.Consumer(ctx, lw.consumer(p).Durable)
		if err != nil {
			return l, fmt.Errorf("inspect the consumer of partition %d: %w", p, err)
		}
		at := c.CachedInfo()
		behind := at.NumPending + uint64(at.NumAckPending)
		if l.messages += behind; behind > 0 {
			floor = min(floor, at.AckFloor.Stream)
		}
	}
	l.share = retainedShare(info, floor)
	return l, nil
}

// retainedShare estimates the share of a stream's limit that the messages after floor use, by the
// mean size of all.
func retainedShare(info *jetstream.StreamInfo, floor uint64) float64 {
	st, limit := info.State, info.Config.MaxBytes
	if limit <= 0 || st.Msgs == 0 || floor >= st.LastSeq {
		return 0
	}
	after := float64(st.LastSeq-max(floor, st.FirstSeq-1)) / float64(st.LastSeq-st.FirstSeq+1)
	return after * float64(st.Bytes) / float64(limit)
}

// bodiesFull reports whether the store of large bodies is nearly full.
func (lw lagWatch) bodiesFull(ctx context.Context) bool {
	s, err := lw.bus.JS.Stream(ctx, "OBJ_"+messages.BucketBodies)
	if err != nil {
		return false
	}
	info := s.CachedInfo()
	return info.Config.MaxBytes > 0 && float64(info.State.Bytes) > bodiesShare*float64(info.Config.MaxBytes)
}

// noteLag logs once that the writer slows down the crawl, and once that it no longer does.
func (lw lagWatch) noteLag(l lag) {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	switch {
	case l.share > lagShare && lw.lagging == nil:
		lw.lagging = fmt.Errorf("%d messages behind, over %.0f%% of the limit of %s: it slows the crawl down", l.messages, 100*lagShare, lw.from.stream)
		lw.log.Warn("writer cannot keep up and slows the crawl down", "stream", lw.from.stream, "behind", l.messages)
	case l.share < lagShare/2 && lw.lagging != nil:
		lw.lagging = nil
		lw.log.Info("writer has caught up", "stream", lw.from.stream, "behind", l.messages)
	}
}

// Lagging returns an error while the writer slows down the crawl, and nil otherwise. It is safe for
// concurrent use.
func (w *Writer) Lagging() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lagging
}

// owned returns the partitions that are being read.
func (w *Writer) owned() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]int, 0, len(w.handled))
	for p := range w.handled {
		all = append(all, p)
	}
	return all
}

// consumer returns the consumer of partition p.
func (w *Writer) consumer(p int) jetstream.ConsumerConfig {
	return messages.PartitionConsumer(messages.ConsumerWriter+"-"+w.cfg.Name, w.from.subject, p)
}

// Flush signals all partitions to finish their open files. await waits until they have, or until
// ctx is done.
func (w *Writer) Flush() (await func(ctx context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []<-chan struct{}
	for _, c := range w.flushSignals {
		done := make(chan struct{})
		select {
		case c <- done:
			all = append(all, done)
		default: // a flush is pending already
		}
	}
	return func(ctx context.Context) {
		for _, done := range all {
			select {
			case <-done:
			case <-ctx.Done():
			}
		}
	}
}

// flushSignal returns the channel that signals partition p to finish its files, until leave is
// called. The receiver closes the received channel when it has.
func (w *Writer) flushSignal(p int) (told <-chan chan struct{}, leave func()) {
	c := make(chan chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushSignals[p] = c
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.flushSignals, p)
	}
}
