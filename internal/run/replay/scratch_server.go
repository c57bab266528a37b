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

// Limits of the scratch streams. RECORDS holds the records that the writer has not committed.
const (
	recordsBytes = 1 << 30
	deadBytes    = 1 << 30
	smallBytes   = 4 << 20 // for streams that stay empty
)

// scratchServer is a private server with one connection for the copier and one for the writer.
type scratchServer struct {
	server *embedded.Server
	feed   *stages.Bus
	write  *stages.Bus
}

func scratchDir(state string) string { return filepath.Join(state, "nats") }

// openScratchServer starts the scratch server, with the partitions of the source.
func openScratchServer(ctx context.Context, state string, key *stateencryption.Key, partitions int, log *slog.Logger) (_ *scratchServer, err error) {
	s := new(scratchServer)
	if s.server, err = embedded.Start(embedded.Options{Dir: scratchDir(state), Private: true, Key: key.NATS()}); err != nil {
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

// provision creates the streams. DEAD keeps all dead letters, for the report.
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
			return fmt.Errorf("set up scratch stream %s: %w", c.Name, err)
		}
	}
	return nil
}

// unlimitedAge exceeds the duration of any replay, so only size bounds the streams.
const unlimitedAge = 100 * 365 * 24 * time.Hour

// janitor returns a janitor for the scratch RECORDS, which the given number of consumers read. It
// logs nothing, because these streams are meant to fill up.
func (s *scratchServer) janitor(consumers int) *retention.Janitor {
	j := retention.NewJanitor(s.feed)
	j.Log, j.KeepAge, j.Streams = slog.New(slog.DiscardHandler), unlimitedAge, map[string]int{messages.StreamRecords: consumers}
	return j
}

// trouble returns an error that only the user can fix.
func (s *scratchServer) trouble(ctx context.Context) error {
	if err := s.server.Err(); err != nil {
		return err
	}
	dead, err := s.feed.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return nil // the server is being stopped
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

// remove removes the files that only an unfinished replay needs.
func remove(state string) error {
	for _, dir := range []string{scratchDir(state), writerDir(state), sentFile(state)} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("--state %s: remove files of the ended replay: %w", state, err)
		}
	}
	return nil
}

func writerDir(state string) string { return filepath.Join(state, "writer") }
func sentFile(state string) string  { return filepath.Join(state, "forwarded.json") }
