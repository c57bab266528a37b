package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/ops/overview"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/run/connect"
	"seine/internal/run/replay"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/cluster"
	"seine/internal/serve/replays"
	"seine/internal/testing/await"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

// replayed is the status of a replay in the API.
type replayed struct {
	ID, State, Error, Out, Waits string
	Report                       replay.Report
}

// awaitReplay waits until a replay has ended.
func (s *server) awaitReplay(location, state string) (r replayed) {
	s.t.Helper()
	await.Eventually(s.t, "the replay is "+state, func() bool {
		r = replayed{}
		s.want(200, &r, "GET", strings.TrimPrefix(location, api.Base), "")
		if r.State == "failed" && state != "failed" {
			s.t.Fatalf("the replay has failed: %+v", r)
		}
		return r.State == state
	})
	return r
}

// lines returns the records in a replay's folder.
func lines(t *testing.T, folder string) (all []string) {
	t.Helper()
	out, err := writer.OpenOutput(folder, replay.WriterName, writer.DefaultConfig().S3)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	commits, err := out.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		for i := range c.Files {
			err := format.ReadFile(out, &c.Files[i], ageencrypt.Identities{}, func(line []byte) error {
				all = append(all, string(line))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// titles requests that pages are parsed again with another rule.
const titles = `{"of": "pages", "folder": "again", "spec": {"records": [{"kind": "product", "when": {"css": "article"}, "fields": {"name": "h1"}}]}}`

// Stored pages are parsed again with another spec while the crawl runs, into a folder of the
// server. A preview counts them, and the report counts the results. A repeated request with the
// same key does nothing. The output stays when the replay is forgotten.
func TestStoredPagesAreReplayed(t *testing.T) {
	t.Parallel()
	s, _, _ := crawled(t)
	var look replay.Preview
	if s.want(200, &look, "POST", "/crawls/shop/replays/check", titles); look.Messages < 10 || !look.Exact || look.ToSeq < look.FromSeq {
		t.Errorf("it would read %+v", look)
	}
	first := s.want(202, nil, "POST", "/crawls/shop/replays", titles, "Idempotency-Key", "one")
	location := first.header.Get("Location")
	if again := s.want(202, nil, "POST", "/crawls/shop/replays", titles, "Idempotency-Key", "one"); again.header.Get("Location") != location {
		t.Errorf("it was begun twice: %v", again)
	}
	r := s.awaitReplay(location, "complete")
	if r.Report.Chosen != look.Messages || r.Report.Kinds["product"] != 9 || r.Report.Records != 9 {
		t.Errorf("of %d: %+v", look.Messages, r)
	}
	if all := lines(t, r.Out); len(all) != 9 || !strings.Contains(all[0], `"name":"Product /`) {
		t.Errorf("the folder has %q", all)
	}
	if a := s.want(409, nil, "POST", "/crawls/shop/replays", titles); !strings.Contains(s.problemOf(a), "use another name") {
		t.Errorf("two replays into a folder: %v", a)
	}
	if a := s.want(409, nil, "POST", strings.TrimPrefix(location, api.Base)+"/resume", ""); !strings.Contains(s.problemOf(a), "nothing to resume") {
		t.Errorf("%v", a)
	}
	s.want(204, nil, "DELETE", strings.TrimPrefix(location, api.Base), "")
	s.want(404, nil, "GET", strings.TrimPrefix(location, api.Base), "")
	if all := lines(t, r.Out); len(all) != 9 {
		t.Errorf("%d lines are left", len(all))
	}
	all, err := s.Audit.Newest(0, 100)
	if err != nil || len(all) < 3 || all[0].Method != "DELETE" || all[0].Status != 204 {
		t.Errorf("the audit has %+v, %v", all, err)
	}
}

// Stored records are written to another destination, also for one host only, and pages are sent
// back to the crawl, one replay after the other. The list is paged.
func TestReplaysFollowEachOther(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	host := strings.TrimPrefix(seed, "http://")
	var locations []string
	for _, body := range []string{
		`{"of": "records", "format": "csv"}`, fmt.Sprintf(`{"of": "records", "host": %q}`, host), `{"of": "records", "host": "elsewhere.test"}`,
		`{"of": "pages", "to": "records", "generation": "again"}`,
	} {
		locations = append(locations, s.want(202, nil, "POST", "/crawls/shop/replays", body).header.Get("Location"))
	}
	for i, want := range []int64{10, 10, 0, 10} {
		if r := s.awaitReplay(locations[i], "complete"); r.Report.Records != want {
			t.Errorf("replay %d: %+v", i, r)
		}
	}
	var ids []string
	for path := "/crawls/shop/replays?limit=3"; path != ""; {
		var l list
		s.want(200, &l, "GET", path, "")
		ids = append(ids, l.strings("id")...)
		if path = ""; l.Next != "" {
			path = "/crawls/shop/replays?limit=3&cursor=" + l.Next
		}
	}
	if len(ids) != 4 || !strings.HasSuffix(locations[3], ids[0]) || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("the list has %v", ids)
	}
	var none list
	if s.want(200, &none, "GET", "/crawls/other/replays", ""); len(none.Items) != 0 {
		t.Errorf("another crawl has %v", none)
	}
}

// stoppedCrawl returns a server on the stored state of a stopped crawl.
func stoppedCrawl(t *testing.T) (s *server, seed, data string) {
	t.Helper()
	data, seed = filepath.Join(t.TempDir(), "data"), site(t)
	stop := runCrawl(t, data, "shop", shop(seed+"/"))
	s = newServer(t, data)
	s.awaitPages("shop", 10)
	stop()
	return s, seed, data
}

// The stored pages of a stopped crawl are replayed. When a crawl starts in the directory, the
// replay continues with that crawl's server.
func TestStoredCrawlIsReplayedAndGivesWay(t *testing.T) {
	t.Parallel()
	s, seed, data := stoppedCrawl(t)
	location := s.want(202, nil, "POST", "/crawls/shop/replays", titles).header.Get("Location")
	if r := s.awaitReplay(location, "complete"); r.Report.Records != 9 {
		t.Errorf("%+v", r)
	}
	location = s.want(202, nil, "POST", "/crawls/shop/replays", strings.Replace(titles, "again", "more", 1)).header.Get("Location")
	runCrawl(t, data, "shop", shop(seed+"/"))
	if r := s.awaitReplay(location, "complete"); r.Report.Records != 9 {
		t.Errorf("%+v", r)
	}
}

// A holder of the data directory does not block others, and closes it when a crawl starts there.
func TestHeldDirectoryIsSharedAndGivenUp(t *testing.T) {
	t.Parallel()
	_, seed, data := stoppedCrawl(t)
	c := cluster.New(connect.Operator{Data: data}, slog.New(slog.DiscardHandler))
	t.Cleanup(c.Close)
	names := func(ctx context.Context, bus *stages.Bus) error {
		all, err := overview.Names(ctx, bus)
		if err == nil && !slices.Equal(all, []string{"shop"}) {
			t.Errorf("there are %v", all)
		}
		return err
	}
	err := c.Hold(t.Context(), func(held context.Context, bus *stages.Bus, ends bool) error {
		if ends {
			t.Error("what is stored ends by itself")
		}
		if err := errors.Join(names(held, bus), c.Do(t.Context(), names)); err != nil {
			return err
		}
		c.GiveWay()
		<-held.Done()
		return held.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it is held until %v", err)
	}
	runCrawl(t, data, "shop", shop(seed+"/"))
	err = c.Hold(t.Context(), func(held context.Context, bus *stages.Bus, ends bool) error {
		if !ends {
			t.Error("a crawl that runs never ends")
		}
		return names(held, bus)
	})
	if err != nil {
		t.Error(err)
	}
}

// A server resumes the replays of its predecessor when it starts. While another server has them it
// reports that, and a read-only server reports them as interrupted.
func TestReplaysOutliveTheServer(t *testing.T) {
	t.Parallel()
	data, seed := filepath.Join(t.TempDir(), "data"), site(t)
	runCrawl(t, data, "shop", shop(seed+"/"))
	dir, out := filepath.Join(t.TempDir(), "replays"), filepath.Join(t.TempDir(), "replayed")
	with := func(off bool) func(*serve.Options, *api.Options) {
		return func(so *serve.Options, ao *api.Options) {
			so.ReadOnly, ao.ReadOnly = off, off
			var err error
			if ao.Replays, err = replays.New(dir, out, ao.Cluster, ao.Log); err != nil {
				t.Fatal(err)
			}
			ao.Replays.Off = off
		}
	}
	var before *replays.Service
	reader := newServer(t, data, with(true), func(_ *serve.Options, ao *api.Options) {
		var err error
		if before, err = replays.New(dir, out, ao.Cluster, ao.Log); err != nil {
			t.Fatal(err)
		}
	})
	reader.awaitPages("shop", 10)
	begun, err := before.Begin(replays.Job{Crawl: "shop", Request: replays.Request{Of: replays.Records}})
	if err != nil {
		t.Fatal(err)
	}
	next := newServer(t, data, with(false))
	at := "/crawls/shop/replays/" + begun.ID
	if a := next.want(409, nil, "GET", at, ""); !strings.Contains(next.problemOf(a), "another server") {
		t.Errorf("two servers have the replays: %v", a)
	}
	reader.awaitReplay(at, "interrupted")
	reader.want(403, nil, "POST", "/crawls/shop/replays", titles)
	reader.want(403, nil, "DELETE", at, "")
	reader.want(200, nil, "POST", "/crawls/shop/replays/check", titles)
	ended, end := context.WithCancel(t.Context())
	end()
	before.Run(ended)
	await.Eventually(t, "the next server has the replays", func() bool { return next.do("GET", at, "").status == 200 })
	if done := next.awaitReplay(at, "complete"); done.Report.Records != 10 {
		t.Errorf("%+v", done)
	}
}

// A failed replay reports the cause and resumes once that is fixed.
func TestFailedReplayIsResumed(t *testing.T) {
	t.Parallel()
	s, _, _ := crawled(t)
	const spec = "records: [{kind: product, when: {css: article}, fields: {name: h1}}]\n"
	location := s.want(202, nil, "POST", "/crawls/shop/replays", fmt.Sprintf(`{"of": "pages", "to": "records", "spec": %q}`, spec)).header.Get("Location")
	if r := s.awaitReplay(location, "failed"); !strings.Contains(r.Error, "product.name") || strings.Contains(r.Error, "--") {
		t.Errorf("it says %q", r.Error)
	}
	s.want(200, nil, "PUT", "/crawls/shop/spec", "allow_private: true\ndelay: 0s\nper_host: 8\nmax_attempts: 1\nseeds: null\nschedule: '@every 87600h'\nexclude: ['*/private/*']\n"+spec, "Content-Type", "application/yaml")
	s.want(202, nil, "POST", strings.TrimPrefix(location, api.Base)+"/resume", "")
	if r := s.awaitReplay(location, "complete"); r.Report.Kinds["product"] != 9 {
		t.Errorf("%+v", r)
	}
}
