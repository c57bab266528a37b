package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/run/embedded"
	"seine/internal/testing/await"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kit is a crawl whose streams a test fills, without stages.
type kit struct {
	t   *testing.T
	bus *stages.Bus
	out string
}

const partitions = 2

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t, out: filepath.Join(t.TempDir(), "out")}
	k.bus = k.server(t.TempDir())
	k.must(k.bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
	return k
}

func (k *kit) server(dir string) *stages.Bus {
	k.t.Helper()
	s, bus := k.start(dir)
	k.t.Cleanup(s.Stop)
	return bus
}

// start starts a server that the test closes.
func (k *kit) start(dir string) (*embedded.Server, *stages.Bus) {
	k.t.Helper()
	s, err := embedded.Start(embedded.Options{Dir: dir, Private: true})
	k.must(err)
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(s.Server()))
	k.must(err)
	k.t.Cleanup(bus.Close)
	return s, bus
}

func (k *kit) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// forgetful shortens the duplicate window of a stream.
func (k *kit) forgetful(bus *stages.Bus, stream string) {
	k.t.Helper()
	s, err := bus.JS.Stream(k.t.Context(), stream)
	k.must(err)
	c := s.CachedInfo().Config
	c.Duplicates = 100 * time.Millisecond
	_, err = bus.JS.UpdateStream(k.t.Context(), c)
	k.must(err)
}

// publish returns the sequence of a message. If the message is a duplicate, it waits for the end of
// a forgetful stream's window.
func (k *kit) publish(bus *stages.Bus, m *nats.Msg) (sequence uint64) {
	k.t.Helper()
	await.Eventually(k.t, "the stream takes the message", func() bool {
		ack, err := bus.JS.PublishMsg(k.t.Context(), m)
		k.must(err)
		sequence = ack.Sequence
		return !ack.Duplicate
	})
	return sequence
}

// page stores a small page of a crawl.
func (k *kit) page(crawl, url string, round int, change ...func(*messages.Page)) {
	k.t.Helper()
	k.store(crawl, url, round, fmt.Sprintf("<title>Round %d</title><h1>%s</h1>", round, url), change...)
}

func (k *kit) store(crawl, url string, round int, body string, change ...func(*messages.Page)) {
	k.t.Helper()
	p := &messages.Page{
		Crawl: crawl, Rev: 7, URL: url, Visit: messages.Visit{URL: messages.HashURL(url), Round: uint64(round)}, Attempt: 1, Status: 200,
		ContentType: "text/html", FetchedAt: time.Unix(int64(round), 0).UTC(), BodySize: int64(len(body)),
	}
	for _, do := range change {
		do(p)
	}
	k.publish(k.bus, p.Msg(messages.Partition(url, partitions), []byte(body)))
}

// options returns the options of a replay of pages to a directory.
func (k *kit) options() Options {
	w := writer.DefaultConfig()
	w.Out = k.out
	return Options{
		Source: k.bus, Stream: messages.StreamPages, Parser: parser.DefaultConfig(), Writer: &w,
		State: k.out + ".replay", Log: slog.New(slog.DiscardHandler),
	}
}

func (k *kit) run(o Options) *Report {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	r, err := Run(ctx, o)
	k.must(err)
	if r.Outcome != Complete {
		k.t.Fatalf("the replay ends %s", r.Outcome)
	}
	return r
}

// urls counts the records of an output by their URL and title.
func (k *kit) urls() map[string]int {
	k.t.Helper()
	out, err := writer.OpenOutput(k.out, WriterName, writer.DefaultConfig().S3)
	k.must(err)
	all, err := out.All()
	k.must(err)
	n := make(map[string]int)
	for _, c := range all {
		for i := range c.Files {
			k.must(format.ReadFile(out, &c.Files[i], ageencrypt.Identities{}, func(line []byte) error {
				var r messages.Record
				err := json.Unmarshal(line, &r)
				n[strings.TrimPrefix(r.URL, "http://")+" "+r.Title]++
				return err
			}))
		}
	}
	return n
}
