package replays

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/run/connect"
	"seine/internal/run/replay"
	"seine/internal/serve/cluster"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kit is a cluster with pages of a crawl in PAGES.
type kit struct {
	t        *testing.T
	broker   *natstest.Broker
	dir, out string
}

func newKit(t *testing.T, pages int) *kit {
	t.Helper()
	k := &kit{t: t, dir: filepath.Join(t.TempDir(), "replays"), out: filepath.Join(t.TempDir(), "replayed")}
	var bus *stages.Bus
	k.broker, bus = stagestest.Open(t)
	for i := range pages {
		url, body := fmt.Sprintf("https://shop.example/%d", i), fmt.Appendf(nil, "<title>%d</title>", i)
		p := &messages.Page{
			Crawl: "shop", URL: url, Visit: messages.Visit{URL: messages.HashURL(url), Round: 1}, Attempt: 1, Status: 200,
			ContentType: "text/html", FetchedAt: time.Unix(int64(i), 0).UTC(), BodySize: int64(len(body)),
		}
		if _, err := bus.JS.PublishMsgAsync(p.Msg(messages.Partition(url, bus.Layout.Partitions), body)); err != nil {
			t.Fatal(err)
		}
	}
	<-bus.JS.PublishAsyncComplete()
	return k
}

// service starts the replay service of a server.
func (k *kit) service() *Service {
	k.t.Helper()
	said := new(await.Log)
	c := cluster.New(connect.Operator{Options: connect.Options{NATS: k.broker.URL()}}, said.Logger())
	k.t.Cleanup(func() {
		c.Close()
		if k.t.Failed() {
			k.t.Logf("log of a server:\n%s", said)
		}
	})
	s, err := New(k.dir, k.out, c, said.Logger())
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func (k *kit) begin(s *Service, r Request) Replay {
	k.t.Helper()
	begun, err := s.Begin(Job{Crawl: "shop", Request: r})
	if err != nil {
		k.t.Fatal(err)
	}
	return begun
}

// until waits until a replay satisfies ok.
func (k *kit) until(s *Service, id, what string, ok func(*Replay) bool) (r Replay) {
	k.t.Helper()
	await.Eventually(k.t, what, func() bool {
		var err error
		if r, err = s.Get("shop", id); err != nil {
			k.t.Fatal(err)
		}
		return ok(&r)
	})
	return r
}

// urls counts the records of an output by URL.
func (k *kit) urls(folder string) map[string]int {
	k.t.Helper()
	out, err := writer.OpenOutput(folder, replay.WriterName, writer.DefaultConfig().S3)
	if err != nil {
		k.t.Fatal(err)
	}
	defer out.Close()
	commits, err := out.All()
	n := make(map[string]int)
	for _, c := range commits {
		for i := range c.Files {
			if err == nil {
				err = format.ReadFile(out, &c.Files[i], ageencrypt.Identities{}, func(line []byte) error {
					var r messages.Record
					if err := json.Unmarshal(line, &r); err != nil {
						return err
					}
					n[r.URL]++
					return nil
				})
			}
		}
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return n
}

// A replay survives the end of its server: the next server continues it and writes each record
// once.
func TestReplayGoesOnWithTheNextServer(t *testing.T) {
	const pages = 3000
	k := newKit(t, pages)
	first := k.service()
	r := k.begin(first, Request{Of: Pages})
	run := await.Start(t, func(ctx context.Context) error { first.Run(ctx); return nil })
	k.until(first, r.ID, "parse some pages", func(r *Replay) bool { return r.Progress != nil && r.Progress.Done > 0 })
	if err := run.End(); err != nil {
		t.Fatal(err)
	}
	next := k.service()
	if r, err := next.Get("shop", r.ID); err != nil || r.State != Queued {
		t.Fatalf("after the end of the first server: %+v, %v", r, err)
	}
	await.Start(t, func(ctx context.Context) error { next.Run(ctx); return nil })
	r = k.until(next, r.ID, "be complete", func(r *Replay) bool { return r.State == Complete })
	if r.Report.Chosen != pages || r.Report.Records != pages || r.Report.Parsed != pages {
		t.Errorf("%+v", r.Report)
	}
	urls := k.urls(r.Out)
	for url, n := range urls {
		if n != 1 {
			t.Errorf("%s is there %d times", url, n)
		}
	}
	if len(urls) != pages {
		t.Errorf("%d pages are there", len(urls))
	}
}

// A replay waits for an unreachable cluster and reports that.
func TestReplayWaitsForTheCluster(t *testing.T) {
	k := newKit(t, 10)
	s := k.service()
	k.broker.Stop()
	r := k.begin(s, Request{Of: Pages})
	await.Start(t, func(ctx context.Context) error { s.Run(ctx); return nil })
	k.until(s, r.ID, "wait", func(r *Replay) bool { return r.State == Waiting && r.Waits != "" })
	k.broker.Start()
	if r := k.until(s, r.ID, "be complete", func(r *Replay) bool { return r.State == Complete }); r.Report.Records != 10 {
		t.Errorf("%+v", r.Report)
	}
}

// A replay that is removed while it runs ends, and the next one starts.
func TestReplayIsRemovedWhileItRuns(t *testing.T) {
	k := newKit(t, 3000)
	s := k.service()
	first, second := k.begin(s, Request{Of: Pages}), k.begin(s, Request{Of: Pages, Host: "elsewhere.example"})
	await.Start(t, func(ctx context.Context) error { s.Run(ctx); return nil })
	k.until(s, first.ID, "run", func(r *Replay) bool { return r.Progress != nil })
	if err := s.Remove("shop", first.ID); err != nil {
		t.Fatal(err)
	}
	k.until(s, second.ID, "be complete", func(r *Replay) bool { return r.State == Complete })
	if left, err := filepath.Glob(filepath.Join(k.dir, first.ID+"*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if list, err := s.List("shop"); err != nil || len(list) != 1 {
		t.Errorf("the list has %+v, %v", list, err)
	}
}

// The number of replays is limited, and no two share a folder.
func TestReplaysAreBounded(t *testing.T) {
	k := newKit(t, 1)
	s := k.service()
	first := k.begin(s, Request{Of: Pages, Folder: "again"})
	if _, err := s.Begin(Job{Crawl: "shop", Request: Request{Of: Records, Folder: "again"}}); err == nil {
		t.Error("two replays have one folder")
	}
	for range MostReplays - 1 {
		k.begin(s, Request{Of: Records})
	}
	if _, err := s.Begin(Job{Crawl: "shop", Request: Request{Of: Records}}); err == nil {
		t.Errorf("there are more than %d", MostReplays)
	}
	if err := s.Remove("shop", first.ID); err != nil {
		t.Fatal(err)
	}
	k.begin(s, Request{Of: Records})
	s.close()
}

// Only the newest failed replays keep their streams for a resumption; streams left by a crash are
// removed. An unreadable file does not block other replays.
func TestStreamsOfFailedReplaysAreBounded(t *testing.T) {
	k := newKit(t, 1)
	s := k.service()
	const failed = 6
	var ids []string
	for i := range failed {
		begun := k.begin(s, Request{Of: Pages})
		r := s.all[begun.ID].Job
		r.Ended, r.Error = time.Unix(int64(i), 0), "no space"
		if err := s.save(&r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	for _, id := range append(ids, "orphan", "damaged", "unopened") {
		if err := os.MkdirAll(filepath.Join(s.stateOf(id), "streams"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.fileOf("damaged"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", s.fileOf("unopened")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also after the damaged file was renamed
		s.close()
		s = k.service()
		if _, j := s.next(t.Context()); j != nil {
			t.Errorf("%s runs", j.ID)
		}
	}
	for _, id := range []string{"damaged", "unopened"} {
		if _, err := os.Stat(s.stateOf(id)); err != nil {
			t.Errorf("the streams of a replay whose file is %s are gone: %v", id, err)
		}
	}
	states := 0
	for i, id := range ids {
		_, err := os.Stat(s.stateOf(id))
		if err == nil {
			states++
		}
		if newest := i >= failed-2; newest != (err == nil) {
			t.Errorf("replay %d of %d has its streams: %t", i, failed, err == nil)
		}
	}
	if _, err := os.Stat(s.stateOf("orphan")); err == nil {
		t.Error("what a replay has left that was forgotten is kept")
	}
	if _, err := s.Resume("shop", ids[0]); !errors.Is(err, ErrDropped) {
		t.Errorf("a replay without its streams is resumed: %v", err)
	}
	if _, err := s.Resume("shop", ids[failed-1]); err != nil {
		t.Errorf("the newest is not resumed: %v", err)
	}
	if _, err := os.Stat(s.fileOf("damaged") + ".unreadable"); err != nil {
		t.Errorf("a file that cannot be read is not set aside: %v", err)
	}
	s.close()
}
