package replay

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/stateencryption"
	"seine/internal/run/embedded"
	"seine/internal/streams/retention"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Limits of the streams at the side. RECORDS bounds what the writer has not committed.
const (
	recordsBytes = 1 << 30
	deadBytes    = 1 << 30
	smallBytes   = 4 << 20 // of streams that nothing is written to
)

// scratchServer is the server at the side, with a connection for the copier and one for the writer.
type scratchServer struct {
	server *embedded.Server
	feed   *stages.Bus
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
	for _, bus := range []**stages.Bus{&s.feed, &s.write} {
		*bus, err = stages.Dial("", "seine-replay", log, nats.InProcessServer(s.server.Server()))
		if err != nil {
			return nil, err
		}
	}
	if err := s.provision(ctx, partitions); err != nil {
		return nil, err
	}
	s.write.Layout = s.feed.Layout
	return s, nil
}

// provision makes the streams. All dead letters are kept, to be counted.
func (s *scratchServer) provision(ctx context.Context, partitions int) error {
	limits := messages.StreamLimits{
		SeedsBytes: smallBytes, URLsBytes: smallBytes, FetchMessages: 1, ResultsBytes: smallBytes,
		PagesBytes: smallBytes, RecordsBytes: recordsBytes, DeadBytes: deadBytes, BodiesBytes: smallBytes,
	}
	if err := s.feed.Provision(ctx, partitions, limits, 1); err != nil {
		return err
	}
	for _, c := range messages.Streams(limits, 1) {
		if c.Name != messages.StreamDead {
			continue
		}
		c.Discard = jetstream.DiscardNew
		if _, err := s.feed.JS.UpdateStream(ctx, c); err != nil {
			return fmt.Errorf("set up stream %s at the side: %w", c.Name, err)
		}
	}
	return nil
}

// forEver is longer than any replay: only their size bounds the streams.
const forEver = 100 * 365 * 24 * time.Hour

// janitor returns one for RECORDS at the side, which so many consumers read. What it would tell
// people of streams that fill up is what these are for.
func (s *scratchServer) janitor(consumers int) *retention.Janitor {
	j := retention.NewJanitor(s.feed)
	j.Log, j.KeepAge, j.Streams = slog.New(slog.DiscardHandler), forEver, map[string]int{messages.StreamRecords: consumers}
	return j
}

// trouble returns what stops the replay and only a person can fix.
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

func (s *scratchServer) close() {
	for _, bus := range []*stages.Bus{s.feed, s.write} {
		if bus != nil {
			bus.Close()
		}
	}
	s.server.Stop()
}

// remove removes what is only needed while a replay is in progress.
func remove(state string) error {
	for _, dir := range []string{sideDir(state), writerDir(state), sentFile(state)} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("--state %s: remove what is needed no longer: %w", state, err)
		}
	}
	return nil
}

func writerDir(state string) string { return filepath.Join(state, "writer") }
func sentFile(state string) string  { return filepath.Join(state, "forwarded.json") }
