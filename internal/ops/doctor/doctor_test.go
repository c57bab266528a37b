package doctor

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"seine/internal/ops/overview"
	"seine/internal/ops/procstats"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

// The advice about a missing stage is about that stage.
func TestMissingStage(t *testing.T) {
	all := []overview.Stage{{Name: "frontier", Instances: 1}, {Name: "parser", Instances: 1}}
	for _, tt := range []struct {
		name           string
		fetchers       int
		writers        int
		want, unwanted string
	}{
		{"fetcher", 0, 1, "start fetcher", "consumers"},
		{"writer pages", 1, 0, "delete its consumers", "fetcher"},
		{"none", 1, 1, "", "start"},
	} {
		o := &overview.Overview{Stages: append(all[:2:2], overview.Stage{Name: "fetcher", Instances: tt.fetchers}, overview.Stage{Name: "writer pages", Instances: tt.writers})}
		f := processes(o)
		if (f.Level == OK) != (tt.want == "") || !strings.Contains(f.Do, tt.want) || strings.Contains(f.Do, tt.unwanted) {
			t.Errorf("without %s: %+v", tt.name, f)
		}
	}
}

// A running process may be unhealthy: it reports why it cannot work.
func TestProcessThatCannotWork(t *testing.T) {
	all := []procstats.Process{{Stage: "fetcher", Host: "a", PID: 1}, {Stage: "writer rows", Host: "b", PID: 2, Unready: "sink: partition 3: no space left on device"}}
	if f := unready(all); len(f) != 1 || f[0].Level != Fail || f[0].What != "writer rows b-2 cannot do its work: sink: partition 3: no space left on device" {
		t.Errorf("found %+v", f)
	}
	if f := unready(all[:1]); len(f) != 1 || f[0].Level != OK {
		t.Errorf("found %+v", f)
	}
}

// The finding names the view that a database reader locks, and has advice.
func TestViewsThatWait(t *testing.T) {
	all := []procstats.Process{{Stage: "fetcher", Host: "a", PID: 1}, {Stage: "writer rows", Host: "b", PID: 2, Waits: "records_product: lock timeout"}}
	f := waiting(all)
	if len(f) != 1 || f[0].Level != Warn || !strings.HasSuffix(f[0].What, "cannot replace a view: records_product: lock timeout") {
		t.Errorf("found %+v", f)
	}
}

// Unusable values that somebody stored by hand in the bucket of specs are named.
func TestSlipsInTheBucketOfSpecs(t *testing.T) {
	b, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	kv, err := b.JS.KeyValue(t.Context(), messages.BucketCrawls)
	if err != nil {
		t.Fatal(err)
	}
	for key, text := range map[string]string{"slip": `{"v":1,"max_page":5}`, "Shop": `{"v":1}`, "text": "max_pages: 5"} {
		if _, err := kv.PutString(t.Context(), key, text); err != nil {
			t.Fatal(err)
		}
	}
	o, err := overview.Read(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, f := range specs(o) {
		found[f.Check] = string(f.Level) + " " + f.What
	}
	for check, want := range map[string]string{"crawl slip": "max_page", "crawl Shop": "no crawl can have this name", "crawl text": "cannot be used"} {
		if !strings.HasPrefix(found[check], "fail") || !strings.Contains(found[check], want) {
			t.Errorf("%s: %q, want %q", check, found[check], want)
		}
	}
}

// A server that is too old is reported as such, not only by its missing features.
func TestServerIsTooOld(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, `INFO {"version":"2.11.10","max_payload":1048576}`+"\r\n")
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if lines.Text() == "PING" {
				_, _ = io.WriteString(c, "PONG\r\n")
			}
		}
	}()
	bus, _ := stagestest.Dial(t, "nats://"+l.Addr().String())
	if f := server(bus); f.Level != Fail || !strings.Contains(f.What, "version 2.11.10") {
		t.Errorf("found %+v", f)
	}
}
