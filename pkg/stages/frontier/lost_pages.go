package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// lostPageAfter is how long a visit must be in parsing before its page can count as lost.
const lostPageAfter = 2 * time.Minute

// lostPages finds visits of a partition whose pages were lost.
type lostPages struct{ *partitionLoop }

// find re-fetches visits whose pages left PAGES before a parser received them, for example by a
// purge of the stream: no message would ever end these visits. It relies on the order in which
// stages publish:
//
//  1. It counts the visits that are being parsed. Their pages were stored before their results, so they are not behind the
//     last message of PAGES at that time.
//  2. It waits until parsers have acknowledged all messages up to that one, or those are gone, and no parser holds one of them.
//     The ends of the visits were stored before the acknowledgements, so they are not behind the last message of URLS at that time.
//  3. It waits until the partition has applied URLS up to there. The visits that are still in parsing have lost their pages.
//
// It queries the server only while visits are in parsing for longer than lostPageAfter.
func (l lostPages) find(ctx context.Context) error {
	for !l.f.cfg.Offline && sleep.For(ctx, l.f.lostPageAfter/4) == nil {
		if err := l.fetch(ctx); err != nil && ctx.Err() == nil {
			l.log.Debug("cannot look for lost pages", "error", err)
		}
	}
	return nil
}

// fetch runs these steps once, if visits have been in parsing for long enough.
func (l lostPages) fetch(ctx context.Context) error {
	if l.inLoop(ctx, l.state.CountParsing) == 0 || !l.stillParsing(ctx, l.f.lostPageAfter) {
		return nil
	}
	pages, err := l.f.bus.JS.Stream(ctx, messages.StreamPages)
	if err != nil {
		return fmt.Errorf("open stream %s: %w", messages.StreamPages, err)
	}
	for parsed := false; !parsed; {
		parsed, err = allParsed(ctx, l.f.bus, pages.CachedInfo().State.LastSeq)
		if err != nil || !parsed && !l.stillParsing(ctx, l.f.lostPageAfter/4) {
			return err
		}
	}
	end, err := l.f.bus.LastSequence(ctx, messages.StreamURLs, messages.SubjectAny("*", l.partition))
	for err == nil && l.inLoop(ctx, func() int64 { return l.fetchUnparsed(end) }) == 0 && l.stillParsing(ctx, l.f.lostPageAfter/4) {
	}
	return err
}

// stillParsing waits, and then reports whether visits counted by CountParsing are still in parsing.
func (l lostPages) stillParsing(ctx context.Context, wait time.Duration) bool {
	return sleep.For(ctx, wait) == nil && l.inLoop(ctx, l.state.Unparsed) > 0
}

// inLoop calls do between two turns and returns its result, or 0 if ctx is done before.
func (l lostPages) inLoop(ctx context.Context, do func() int64) (n int64) {
	done := make(chan struct{})
	select {
	case l.calls <- func() { n = do(); close(done) }:
		<-done
	case <-ctx.Done():
	}
	return n
}

// fetchUnparsed re-fetches the visits that are still in parsing, if the partition has applied URLS
// up to a sequence. It returns their number.
func (l lostPages) fetchUnparsed(end uint64) (n int64) {
	if l.state.Positions()[messages.StreamURLs].Sequence < end {
		return 0
	}
	if n = l.state.Unparsed(); n > 0 {
		l.log.Warn("pages left the stream PAGES before they were parsed, their visits are fetched again", "visits", n)
		l.state.FetchUnparsed()
	}
	return n
}

// allParsed reports whether each message for parsers up to a sequence of PAGES was parsed or is
// gone, and no parser holds one.
func allParsed(ctx context.Context, bus *stages.Bus, last uint64) (bool, error) {
	info := new(jetstream.ConsumerInfo) // stands for a consumer that has read nothing
	c, err := bus.JS.Consumer(ctx, messages.StreamPages, messages.ConsumerParse)
	if err == nil {
		info = c.CachedInfo()
	} else if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return false, fmt.Errorf("inspect consumer %s: %w", messages.ConsumerParse, err)
	}
	if info.AckFloor.Stream < last {
		if info.NumAckPending > 0 {
			return false, nil
		}
		// The ack floor does not move when later messages are deleted.
		m, err := bus.ReadFromLeader(ctx, messages.StreamPages, jsclient.Lookup{Seq: info.Delivered.Stream + 1, Next: messages.SubjectsToParse})
		if err == nil && m.Seq <= last || err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return false, err
		}
	}
	held, err := bus.Holds(ctx, messages.ConsumerParse, last) // a message that is gone from the stream may still be in parsing
	return err == nil && !held, err
}
