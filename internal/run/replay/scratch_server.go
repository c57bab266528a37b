package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/stateencryption"
	"seine/internal/run/embedded"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/retention"
)

// Limits of the streams at the side. PAGES bounds what is copied ahead of the
// parser, RECORDS what the writer has not committed.
const (
	pagesBytes   = 256 << 20
	recordsBytes = 1 << 30
	bodiesBytes  = 2 << 30
	deadBytes    = 1 << 30
	smallBytes   = 4 << 20 // of streams that nothing is written to
)

// scratchServer is the server at the side, with a connection for whoever publishes much.
type scratchServer struct {
	server *embedded.Server
	buses  []*stages.Bus
	feed   *stages.Bus
	parse  *stages.Bus
	write  *stages.Bus
}

func sideDir(state string) string { return filepath.Join(state, "nats") }

// openScratchServer starts the server at the side, with the partitions of the source.
func openScratchServer(ctx context.Context, state string, key *stateencryption.Key, partitions int, log *slog.Logger) (_ *scratchServer, err error) {
	s := new(scratchServer)
	if s.server, err = embedded.Start(embedded.Options{Dir: sideDir(state), Private: true, Key: key.NATS()}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for _, bus := range []**stages.Bus{&s.feed, &s.parse, &s.write} {
		*bus, err = stages.Dial("", "seine-replay", log, nats.InProcessServer(s.server.Server()))
		if err != nil {
			return nil, err
		}
		s.buses = append(s.buses, *bus)
	}
	if err := s.provision(ctx, partitions); err != nil {
		return nil, err
	}
	s.parse.Layout, s.write.Layout = s.feed.Layout, s.feed.Layout
	// Whoever held pages is gone.
	return s, s.parse.RedeliverUnacked(ctx)
}

// provision makes the streams. Links and ends of visits, which the parser insists
// on publishing, are forgotten; dead letters are kept, all of them, to be counted.
func (s *scratchServer) provision(ctx context.Context, partitions int) error {
	limits := messages.StreamLimits{
		SeedsBytes: smallBytes, URLsBytes: smallBytes, FetchMessages: 1, ResultsBytes: smallBytes,
		PagesBytes: pagesBytes, RecordsBytes: recordsBytes, DeadBytes: deadBytes, BodiesBytes: bodiesBytes,
	}
	if err := s.feed.Provision(ctx, partitions, limits, 1); err != nil {
		return err
	}
	for _, c := range messages.Streams(limits, 1) {
		switch c.Name {
		case messages.StreamURLs:
			c.Discard, c.MaxMsgs = jetstream.DiscardOld, 1
		case messages.StreamDead:
			c.Discard = jetstream.DiscardNew
		default:
			continue
		}
		if _, err := s.feed.JS.UpdateStream(ctx, c); err != nil {
			return fmt.Errorf("set up stream %s at the side: %w", c.Name, err)
		}
	}
	return nil
}

// forEver is longer than any replay: only their size bounds the streams.
const forEver = 100 * 365 * 24 * time.Hour

// janitor returns one for the streams at the side that have consumers. It keeps
// half of a stream, and so its last message, which says how far the replay is. What
// it would tell people of streams that fill up is what these are for.
func (s *scratchServer) janitor(consumers map[string]int) *retention.Janitor {
	j := retention.NewJanitor(s.feed)
	j.Log, j.KeepAge, j.BodiesBytes, j.Streams = slog.New(slog.DiscardHandler), forEver, bodiesBytes, consumers
	return j
}

// trouble returns what keeps the replay from going on, for a person to mend.
func (s *scratchServer) trouble(ctx context.Context) error {
	if err := s.server.Err(); err != nil {
		return err
	}
	dead, err := s.feed.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return nil // it is being stopped
	}
	if st := dead.CachedInfo().State; st.Bytes > deadBytes-(4<<20) {
		return fmt.Errorf("%d messages failed, and the stream DEAD is full: check the spec", st.Msgs)
	}
	return nil
}

// handled returns up to which sequence the parser has done with its pages, and
// how many there are.
func (s *scratchServer) handled(ctx context.Context) (done, last uint64, err error) {
	pages, err := s.feed.JS.Stream(ctx, messages.StreamPages)
	if err != nil {
		return 0, 0, fmt.Errorf("look at the pages at the side: %w", err)
	}
	last = pages.CachedInfo().State.LastSeq
	c, err := pages.Consumer(ctx, messages.ConsumerParse)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return 0, last, nil // the parser is about to make it
	}
	if err != nil {
		return 0, last, fmt.Errorf("look at the parser: %w", err)
	}
	return c.CachedInfo().AckFloor.Stream, last, nil
}

func (s *scratchServer) close() {
	for _, bus := range s.buses {
		bus.Close()
	}
	s.server.Stop()
}

// remove removes what is only needed while a replay is in progress.
func remove(state string) error {
	for _, dir := range []string{sideDir(state), writerDir(state), forwardFile(state)} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("--state %s: remove what is needed no longer: %w", state, err)
		}
	}
	return nil
}

func writerDir(state string) string   { return filepath.Join(state, "writer") }
func forwardFile(state string) string { return filepath.Join(state, "forwarded.json") }
