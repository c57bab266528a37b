package writer

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/nats-io/nats.go"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
	"seine/internal/output/postgres"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/s3server"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

const partitions = 4

// slots is the number of objects of a crawl where records replace each other. Records of one slot
// are in one partition.
const slots = 7 * partitions

// startBus returns a connection to the test's own server, which is in process unless listen is set.
func startBus(t testing.TB, listen bool) *stages.Bus {
	t.Helper()
	return startBusOf(t, listen, messages.DefaultStreamLimits())
}

// startBusOf is startBus with other stream limits.
func startBusOf(t testing.TB, listen bool, limits messages.StreamLimits) *stages.Bus {
	t.Helper()
	o := natstest.Listening(t)
	o.DontListen = !listen
	ns := natstest.Start(t, o)
	bus, err := stages.Dial(ns.ClientURL(), t.Name(), quiet(), nats.InProcessServer(ns))
	check(t, err)
	t.Cleanup(bus.Close)
	check(t, bus.Provision(t.Context(), partitions, limits, 1))
	bus.Unbatched = true // tests count messages; batch tests use publishInBatches
	return bus
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

func testConfig(t testing.TB) Config {
	c := DefaultConfig()
	c.Out, c.State = filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "state")
	c.ChunkRecords = 50
	c.ChunkAge = crawlspec.Duration(200 * time.Millisecond)
	return c
}

// record returns the n-th record of a crawl. Every second one belongs to a page.
func record(crawl string, n, size int) *nats.Msg {
	m := nats.NewMsg(messages.SubjectRecords(crawl, n%partitions))
	m.Header.Set(nats.MsgIdHdr, fmt.Sprintf("%s.%d", crawl, n))
	m.Data = fmt.Appendf(nil, `{"crawl":%q,"n":%d,"slot":%d,"pad":%q}`, crawl, n, n%slots, strings.Repeat("x", size))
	if n%2 == 1 {
		m.Data = fmt.Appendf(nil, `{"url":"https://%s.example/%d",%s`, crawl, n, m.Data[1:])
	}
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

// publishInBatches is publish with batches of 1 to 9 records, in turn.
func publishInBatches(t testing.TB, bus *stages.Bus, crawl string, from, to int) {
	t.Helper()
	waiting := make(map[string][]*nats.Msg)
	var msgs []*nats.Msg
	for n := from; n < to; n++ {
		m := record(crawl, n, 200)
		all := append(waiting[m.Subject], m)
		if len(all) > len(msgs)%9 || to-n <= partitions {
			msgs, all = append(msgs, messages.JoinBatch(all)), nil
		}
		waiting[m.Subject] = all
	}
	for _, all := range waiting {
		if len(all) > 0 {
			msgs = append(msgs, messages.JoinBatch(all))
		}
	}
	_, err := stages.NewPublisher(bus, "test").PublishSequenced(t.Context(), msgs)
	check(t, err)
}

// running is a running Writer.
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

// catchUp waits until the writer has read everything.
func (r *running) catchUp() {
	r.t.Helper()
	await.Eventually(r.t, "caught up", func() bool {
		ok, err := r.CaughtUp(context.Background())
		return err == nil && ok
	})
}

// wantExactly checks that the committed output holds records 0 to n-1 of each crawl, once each, and
// that every file matches its entry.
func wantExactly(t testing.TB, cfg Config, want map[string]int) {
	t.Helper()
	check(t, outputtest.Verify(outputOf(t, cfg)))
	got := make(map[string]int)
	for _, line := range committed(t, cfg) {
		got[line]++
	}
	total := 0
	for crawl, n := range want {
		total += n
		for i := range n {
			if c := got[asStored(t, cfg, string(record(crawl, i, 200).Data))]; c != 1 {
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
	all, err := cfg.ReadCommits()
	check(t, err)
	o := outputOf(t, cfg)
	var lines []string
	for _, c := range all {
		for _, f := range c.Files {
			in := readLines(t, o, f)
			if len(in) != f.Records {
				t.Fatalf("%s has %d lines, its entry says %d", f.Path, len(in), f.Records)
			}
			for _, line := range in {
				lines = append(lines, asStored(t, cfg, line))
			}
		}
	}
	return lines
}

// asStored returns a line as the output returns it: PostgreSQL keeps the JSON values, but not their
// formatting.
func asStored(t testing.TB, cfg Config, line string) string {
	t.Helper()
	if !postgres.Is(cfg.Out) {
		return line
	}
	var v any
	check(t, json.Unmarshal([]byte(line), &v))
	text, err := json.Marshal(v)
	check(t, err)
	return string(text)
}

func outputOf(t testing.TB, cfg Config) output.Output {
	t.Helper()
	o, err := OpenOutput(cfg.Out, cfg.Name, cfg.S3)
	check(t, err)
	t.Cleanup(func() { check(t, o.Close()) })
	return o
}

func readLines(t testing.TB, o output.Output, f output.File) []string {
	t.Helper()
	in, err := o.Open(f)
	check(t, err)
	defer in.Close()
	return linesOf(t, in, f.Path)
}

func linesOf(t testing.TB, r io.Reader, name string) []string {
	t.Helper()
	if strings.Contains(name, ".csv") || strings.HasSuffix(name, ".parquet") {
		return rowsOf(t, r, name)
	}
	var lines []string
	_, err := format.EachRecord(name, r, identities(t), func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	check(t, err)
	return lines
}

// An age key pair for these tests.
const (
	testRecipient = "age1k237mzq54dqmx5fc0kxlncr8ywd5s5gapf3ljgp8jjq6p7v5sgrsjmagzp"
	testIdentity  = "AGE-SECRET-KEY-1RP7268VJAEZ0HFU869HV0KS8AUUFFKRDW2FUXLVEFCLFEFJQRXPQZ8S83D"
)

func identities(t testing.TB) ageencrypt.Identities {
	t.Helper()
	file := filepath.Join(t.TempDir(), "identity")
	check(t, os.WriteFile(file, []byte(testIdentity), 0o600))
	ids, err := ageencrypt.ReadIdentities([]string{file})
	check(t, err)
	return ids
}

// wantTidy checks that the output has no files except committed ones and locks.
func wantTidy(t testing.TB, cfg Config) {
	t.Helper()
	if IsDatabase(cfg.Out) {
		wantSound(t, cfg)
		return
	}
	known := make(map[string]bool)
	all, err := cfg.ReadCommits()
	check(t, err)
	for _, c := range all {
		known[filepath.Join(output.CommitsDir, cfg.Name, c.Name().String()+".json")] = true
		for _, f := range c.Files {
			known[f.Path] = true
		}
	}
	have := files
	if bucket.Is(cfg.Out) {
		have = func(t testing.TB, out string) []string { return s3server.Keys(t, cfg.S3.Endpoint, out) }
	}
	for _, f := range have(t, cfg.Out) {
		if n, _, ok := output.ParseName(filepath.Base(f)); ok && strings.HasPrefix(f, output.CommitsDir+"/") && slices.ContainsFunc(all, func(c output.Commit) bool { return c.Merged && c.Name().Covers(n) }) {
			continue // a merge has replaced it
		}
		if !known[f] && !slices.Contains([]string{".lock", ".owner"}, filepath.Ext(f)) && filepath.Base(f) != "writer" && filepath.Base(f) != output.PlaceFile && !strings.HasPrefix(f, output.ManifestsDir+"/") {
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

// ReadCommits returns the commit log of the writer called name in the directory out.
func ReadCommits(out, name string) ([]output.Commit, error) {
	return (&Config{OutputConfig: OutputConfig{Out: out}, Name: name}).ReadCommits()
}

// Verify checks the output of the writer called name in the directory out.
func Verify(out, name string) error {
	o, err := OpenOutput(out, name, bucket.Options{})
	if err != nil {
		return err
	}
	return errors.Join(outputtest.Verify(o), o.Close())
}
