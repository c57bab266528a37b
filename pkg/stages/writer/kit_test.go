package writer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

const partitions = 4

// startBus returns a connection to a server of the test's own, in process
// unless it is to listen.
func startBus(t testing.TB, listen bool) *stages.Bus {
	t.Helper()
	ns, err := server.NewServer(&server.Options{
		JetStream: true, StoreDir: t.TempDir(), DontListen: !listen, Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true,
	})
	check(t, err)
	ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("server does not start")
	}
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	nc, err := nats.Connect(ns.ClientURL(), nats.InProcessServer(ns))
	check(t, err)
	t.Cleanup(nc.Close)
	bus, err := busOn(nc)
	check(t, err)
	check(t, bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
	return bus
}

func busOn(nc *nats.Conn) (*stages.Bus, error) {
	js, err := jetstream.New(nc)
	return &stages.Bus{NC: nc, JS: js, Log: quiet()}, err
}

func quiet() *slog.Logger {
	if os.Getenv("WRITER_TEST_LOG") != "" {
		return slog.Default()
	}
	return slog.New(slog.DiscardHandler)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline.C:
			t.Fatalf("still waiting for: %s", what)
		case <-tick.C:
		}
	}
}

func testConfig(t testing.TB) Config {
	c := DefaultConfig()
	c.Out, c.State = filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "state")
	c.ChunkRecords = 50
	c.ChunkAge = messages.Duration(200 * time.Millisecond)
	return c
}

// record returns the n-th record of a crawl.
func record(crawl string, n, size int) *nats.Msg {
	m := nats.NewMsg(messages.SubjectRecords(crawl, n%partitions))
	m.Header.Set(nats.MsgIdHdr, fmt.Sprintf("%s.%d", crawl, n))
	m.Data = fmt.Appendf(nil, `{"crawl":%q,"n":%d,"pad":%q}`, crawl, n, strings.Repeat("x", size))
	return m
}

// publish stores records from to to-1 of crawl.
func publish(t testing.TB, bus *stages.Bus, crawl string, from, to int) {
	t.Helper()
	msgs := make([]*nats.Msg, 0, to-from)
	for n := from; n < to; n++ {
		msgs = append(msgs, record(crawl, n, 200))
	}
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), msgs...))
}

// running is a Writer at work.
type running struct {
	*Writer
	t    testing.TB
	stop context.CancelFunc
	done chan error
}

func start(t testing.TB, bus *stages.Bus, cfg Config, adapt ...func(*Writer)) *running {
	t.Helper()
	w, err := New(cfg, bus)
	check(t, err)
	w.minWait, w.maxWait = 50*time.Millisecond, 100*time.Millisecond
	for _, f := range adapt {
		f(w)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Writer: w, t: t, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- w.Run(ctx) }()
	t.Cleanup(func() { stop() })
	return r
}

// end stops the writer as a signal would.
func (r *running) end() {
	r.t.Helper()
	r.stop()
	check(r.t, <-r.done)
}

// catchUp waits until everything is read.
func (r *running) catchUp() {
	r.t.Helper()
	eventually(r.t, "caught up", func() bool {
		ok, err := r.CaughtUp(context.Background())
		return err == nil && ok
	})
}

// wantExactly checks that committed output holds records 0 to n-1 of each
// crawl, once each, and that every file is what its entry says.
func wantExactly(t testing.TB, cfg Config, want map[string]int) {
	t.Helper()
	check(t, Verify(cfg.Out, cfg.Name))
	got := make(map[string]int)
	for _, line := range committed(t, cfg) {
		got[line]++
	}
	total := 0
	for crawl, n := range want {
		total += n
		for i := range n {
			if c := got[string(record(crawl, i, 200).Data)]; c != 1 {
				t.Errorf("record %d of %s is in the output %d times", i, crawl, c)
			}
		}
	}
	if len(got) != total {
		t.Errorf("%d different lines, want %d", len(got), total)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// committed returns the lines of all committed files.
func committed(t testing.TB, cfg Config) []string {
	t.Helper()
	all, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	var lines []string
	for _, c := range all {
		for _, f := range c.Files {
			in := readLines(t, filepath.Join(cfg.Out, f.Path))
			if len(in) != f.Records {
				t.Fatalf("%s has %d lines, its entry says %d", f.Path, len(in), f.Records)
			}
			lines = append(lines, in...)
		}
	}
	return lines
}

func readLines(t testing.TB, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	check(t, err)
	var r io.Reader = bytes.NewReader(raw)
	switch filepath.Ext(file) {
	case ".zst":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		check(t, err)
		defer z.Close()
		r = z
	case ".gz":
		r, err = gzip.NewReader(r)
		check(t, err)
	}
	var lines []string
	in := bufio.NewScanner(r)
	in.Buffer(nil, 2<<20)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	check(t, in.Err())
	return lines
}

// wantTidy checks that there are no files but committed ones, and locks.
func wantTidy(t testing.TB, cfg Config) {
	t.Helper()
	known := make(map[string]bool)
	all, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	for _, c := range all {
		known[filepath.Join(commitsDir, cfg.Name, c.Name().String()+".json")] = true
		for _, f := range c.Files {
			known[f.Path] = true
		}
	}
	for _, f := range files(t, cfg.Out) {
		if !known[f] && filepath.Ext(f) != ".lock" {
			t.Errorf("%s is left over", f)
		}
		delete(known, f)
	}
	for _, f := range slices.Sorted(maps.Keys(known)) {
		t.Errorf("%s is missing", f)
	}
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	check(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			all = append(all, rel)
		}
		return err
	}))
	return all
}
