package stages

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

func TestProvision(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	want := messages.Layout{V: messages.Version, Partitions: 4, Canonical: weburl.Version, Installation: b.Layout.Installation}
	if b.Layout != want || want.Installation == "" {
		t.Errorf("layout %+v", b.Layout)
	}
	natstest.Send(t, b.JS, urls, 3)
	limits := messages.DefaultStreamLimits()
	limits.URLsBytes = 77 << 20
	again, _ := dial(t, br.URL())
	if err := again.Provision(t.Context(), 4, limits, 1); err != nil {
		t.Fatalf("a second time: %v", err)
	}
	if again.Layout != want {
		t.Errorf("the second time layout %+v, was %+v", again.Layout, want)
	}
	info := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo()
	if info.Config.MaxBytes != 77<<20 || info.State.Msgs != 3 {
		t.Errorf("limit %d, %d messages", info.Config.MaxBytes, info.State.Msgs)
	}
	err := again.Provision(t.Context(), 8, limits, 1)
	if !errors.Is(err, ErrLayout) {
		t.Fatalf("other partitions: %v", err)
	}
	for _, part := range []string{"4 partitions", "8 partitions", "--partitions"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %s", err, part)
		}
	}
}

func TestProvisionRefuses(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t)
	b, _ := dial(t, br.URL())
	for _, p := range []int{-1, 0, messages.MaxPartitions + 1} {
		if err := b.Provision(t.Context(), p, messages.DefaultStreamLimits(), 1); err == nil || !strings.Contains(err.Error(), "must be from 1 to 256") {
			t.Errorf("%d partitions: %v", p, err)
		}
	}
	if err := b.Provision(t.Context(), 1, messages.DefaultStreamLimits(), 1); err != nil {
		t.Errorf("after all: %v", err)
	}
}

func TestProvisionWithoutJetStream(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t, func(o *server.Options) { o.JetStream = false })
	b, _ := dial(t, br.URL())
	err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1)
	if !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), "start nats-server with -js") {
		t.Errorf("%v", err)
	}
}

func TestServerAtLeast(t *testing.T) {
	for v, want := range map[string]bool{
		"2.14.0": true, "2.15.2": true, "2.14.0-beta.1": true, "3.0.0": true, "2.13.9": false, "1.99": false, "": false, "dev": false,
	} {
		if serverAtLeast(v, 2, 14) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t)
	worker, log := dial(t, br.URL())
	j := await.Start(t, worker.Join)
	await.Eventually(t, "it says that it waits", func() bool { return log.Has("waiting for a frontier") })
	b, _ := dial(t, br.URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	if worker.Layout != b.Layout {
		t.Errorf("layout %+v", worker.Layout)
	}
}

// A backup, or the store of a killed broker, may contain requests that were done. A process that
// joins later cannot know that.
func TestProcessThatJoinsSuspectsStoredMessages(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	worker, _ := dial(t, br.URL())
	ack, err := b.JS.Publish(t.Context(), "seine.fetch.c.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &Message{Deliveries: 1, Stored: time.Now(), Stream: messages.StreamFetch, Sequence: ack.Sequence}
	if err := worker.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	TrustNewRequests(t.Context(), worker)
	stale := func() bool { _, stale := worker.MaybeStale(m); return stale }
	if !stale() {
		t.Error("believes that nobody has done what was stored before it joined")
	}
	if m.Stored = time.Now().Add(clockSkew - time.Second); !stale() {
		t.Error("believes the clock of a server that is ahead")
	}
	if m.Sequence++; stale() {
		t.Error("suspects what was stored after it joined")
	}
	if worker.MarkStale(); !stale() {
		t.Error("believes a server that was away")
	}
}

func TestJoinCancelled(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t)
	b, log := dial(t, br.URL())
	j := await.Start(t, b.Join)
	await.Eventually(t, "it says that it waits", func() bool { return log.Has("waiting for a frontier") })
	if err := j.End(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestJoinOtherLayout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ layout, want string }{
		"wire":          {`{"v":9,"partitions":4,"canonical":1}`, "wire version 9, this build uses 1"},
		"canonical URL": {`{"v":1,"partitions":4,"canonical":9}`, "version 9 of canonical URLs, this build uses 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, b := open(t)
			kv, err := b.JS.KeyValue(t.Context(), messages.BucketMeta)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kv.PutString(t.Context(), messages.KeyLayout, tt.layout); err != nil {
				t.Fatal(err)
			}
			if err := await.Start(t, b.Join).Wait(); !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestDialFails(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	_, err := Dial("nats://me:secret@127.0.0.1:1", "x", log)
	if err == nil {
		t.Fatal("connected to nothing")
	}
	for _, part := range []string{"connect to NATS at nats://…@127.0.0.1:1: ", "check that nats-server runs there with -js", "SEINE_NATS_URL"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	for _, url := range []string{
		"nats://me:secret@127.0.0.1:1", "me:secret@127.0.0.1:1", "nats://me:se%cret@127.0.0.1:1", "nats://secret@127.0.0.1:1",
		"nats://me:secret@127.0.0.1:x", "nats://127.0.0.1:1, nats://me:secret@127.0.0.1:2", "nats://me:sec@ret@127.0.0.1:1", "nats://me:se#cret@127.0.0.1:1",
	} {
		_, err := Dial(url, "x", log)
		if err == nil {
			t.Errorf("connected to %s", url)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "se%cret") || strings.Contains(err.Error(), "sec@") || strings.Contains(err.Error(), "se#") {
			t.Errorf("shows the password: %v", err)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"nats://127.0.0.1:4222":            "nats://127.0.0.1:4222",
		"nats://a:b@h:4222":                "nats://…@h:4222",
		"tls://token@h":                    "tls://…@h",
		"a:b@h:4222":                       "…@h:4222",
		"nats://a:b@h1:1, nats://c:d@h2:2": "nats://…@h1:1, nats://…@h2:2",
		"nats://a:p%zz@h":                  "nats://…@h",
		"nats://a:p@ss@h":                  "nats://…@h",
		"":                                 "",
		"127.0.0.1":                        "127.0.0.1",
	} {
		if got := redact(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

func TestReconnects(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	br.Stop()
	await.Eventually(t, "it notices", func() bool { return b.NC.Status() == nats.RECONNECTING })
	br.Start()
	await.Eventually(t, "it is back", b.NC.IsConnected)
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	h := NewHealth()
	why := errors.New("no partition yet")
	h.Add("leases", func() error { return why })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	j := await.Start(t, func(ctx context.Context) error { return ServeAdmin(ctx, l, h, false) })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: await.Patience}
	fetch := func(path string) (int, string) {
		t.Helper()
		resp, err := client.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if code, body := fetch("/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %q", code, body)
	}
	if code, body := fetch("/readyz"); code != 503 || !strings.Contains(body, "start: waiting for the streams") {
		t.Errorf("/readyz before the start: %d %q", code, body)
	}
	h.Start()
	if code, body := fetch("/readyz"); code != 503 || body != "leases: no partition yet\n" {
		t.Errorf("/readyz: %d %q", code, body)
	}
	h.Add("leases", func() error { return nil })
	if code, body := fetch("/readyz"); code != 200 || body != "ready\n" {
		t.Errorf("/readyz: %d %q", code, body)
	}
	NewPublisher(&Bus{}, "admin-test")
	const name = "seine_messages_in_flight"
	if code, body := fetch("/metrics"); code != 200 || !strings.Contains(body, "\n"+name+`{stage="admin-test"} 0`+"\n") {
		t.Errorf("/metrics: %d, %d bytes, want %s", code, len(body), name)
	}
	if code, _ := fetch("/debug/pprof/"); code != 404 {
		t.Errorf("pprof without being asked: %d", code)
	}
	if err := j.End(); err != nil {
		t.Error(err)
	}
}

func TestAnnounce(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	if err := Announce(b, "parser", "0.1.0", ""); err != nil {
		t.Fatal(err)
	}
	if err := b.NC.Flush(); err != nil { // another connection may be faster than the subscriptions
		t.Fatal(err)
	}
	other, _ := dial(t, br.URL())
	m, err := other.NC.Request("$SRV.INFO.seine-parser", nil, 5*time.Second)
	if err != nil || !strings.Contains(string(m.Data), `"partitions":"4"`) {
		t.Errorf("%v, %v", m, err)
	}
}
