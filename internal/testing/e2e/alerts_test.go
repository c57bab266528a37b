package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
	"seine/internal/testing/freeport"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// receiver receives alerts once it listens.
type receiver struct {
	address string

	mu      sync.Mutex
	changes []alerts.Change
	paths   map[string]bool
}

func newReceiver(t *testing.T) *receiver {
	return &receiver{address: freeport.Addr(t), paths: make(map[string]bool)}
}

func (r *receiver) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		var c alerts.Change
		err := json.NewDecoder(req.Body).Decode(&c)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			r.changes = append(r.changes, c)
		}
		r.paths[req.URL.Path] = true
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
}

// heard returns the received changes, each once, in the order of their first arrival.
func (r *receiver) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	seen := make(map[string]bool)
	for _, c := range r.changes {
		if !seen[c.ID] {
			seen[c.ID] = true
			all = append(all, fmt.Sprint(c.Phase, " ", c.Alert.Crawl, " ", c.Alert.Kind))
		}
	}
	return strings.Join(all, ", ")
}

// alarming is the spec of a long crawl whose alerts are evaluated every second.
func alarming(r *receiver) *crawlspec.Spec {
	s := quick()
	s.PerHost, s.Rate, s.MaxAttempts, s.Breaker.Failures = 4, crawlspec.Rate(time.Second/30), 2, 0
	s.Alerts = crawlspec.Alerts{
		ErrorRate: 0.1, Over: crawlspec.Duration(10 * time.Second), MinRequests: 20, Lag: crawlspec.Duration(time.Hour),
		Webhook: "http://" + r.address + "/{secret:HOOK}", AllowPrivate: true,
	}
	return s
}

// The receiver is down at first, and the process that raised the alert is killed before the
// receiver is up. The next process sends the alert and its end, each once.
func TestAlertsReachAReceiverThatIsDownAtFirst(t *testing.T) {
	t.Setenv("SEINE_SECRET_HOOK", "s3cret")
	site, web := testSite(t, testweb.Config{PagesPerHost: 3000, ErrorRate: 0.5, ErrorTries: 100})
	c := newCluster(t, shape{frontierArgs: []string{"--partitions-owned", "all"}})
	bus := c.bus()
	r := newReceiver(t)
	c.begin(bus, "site", alarming(r), site.seed)
	eventually(t, time.Minute, "fetch some pages", func() (bool, string) { return len(web.Requests()) > 4, "" })
	c.front.kill()
	c.front.start() // finds the crawl at its first evaluation
	raised := func() []alerts.Alert {
		var o overview.Overview
		_ = json.Unmarshal([]byte(runSeine(t, "status", "--json", "--every", "100ms", "--nats", c.url).stdout.String()), &o)
		return o.Alerts
	}
	var first alerts.Alert
	eventually(t, time.Minute, "raise an alert", func() (bool, string) {
		all := raised()
		if len(all) == 1 {
			first = all[0]
		}
		return len(all) == 1, fmt.Sprint(all)
	})
	wantOutput(t, runSeine(t, "status", "--every", "100ms", "--nats", c.url), "ALERT crawl site, error_rate, for ")
	eventually(t, time.Minute, "try to post it", func() (bool, string) {
		return strings.Contains(c.front.log.String(), "alert was not delivered"), ""
	})
	c.front.kill()
	next := start(t, "frontier", "--nats", c.url, "--listen", "127.0.0.1:0", "--state", filepath.Join(c.dir, "frontier2"))
	r.listen(t)
	eventually(t, time.Minute, "tell the receiver", func() (bool, string) {
		return r.heard() == "raised site error_rate", r.heard() + "\n" + next.log.String()
	})
	if all := raised(); len(all) != 1 || all[0].ID != first.ID {
		t.Errorf("it was %+v, and is %+v", first, all)
	}
	spec := alarming(r)
	spec.State = crawlspec.Cancelled
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err == nil {
		_, err = specs.Put(t.Context(), "site", spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "tell of the end", func() (bool, string) {
		return r.heard() == "raised site error_rate, cleared site error_rate", r.heard() + "\n" + next.log.String()
	})
	if n := strings.Count(c.front.log.String()+next.log.String(), `msg="alert raised"`); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
	if len(r.paths) != 1 || !r.paths["/s3cret"] {
		t.Errorf("it was posted to %v", r.paths)
	}
	for _, p := range []*process{c.front, next} {
		if strings.Contains(p.log.String(), "s3cret") {
			t.Error("the log tells the secret")
		}
	}
}

func TestAlertsOfOneCommand(t *testing.T) {
	site, _ := testSite(t, testweb.Config{PagesPerHost: 150, ErrorRate: 0.5, ErrorTries: 100})
	r := newReceiver(t)
	r.listen(t)
	spec := file(t, "spec.yaml", fmt.Sprintf(`
delay: 0s
per_host: 4
rate: 30/s
max_attempts: 1
breaker: {failures: 0, wait: 1m, max_wait: 1h, probes: 6}
allow_private: true
alerts: {over: 10s, min_requests: 20, webhook: "http://%s/", allow_private: true}
`, r.address))
	c := seine(t, t.TempDir(), "crawl", site.seed, "--spec", spec)
	eventually(t, time.Minute, "tell the receiver", func() (bool, string) {
		return r.heard() == "raised default error_rate", r.heard() + "\n" + c.said()
	})
	if !strings.Contains(c.stderr.String(), `msg="alert raised" stage=frontier crawl=default alert=error_rate`) {
		t.Errorf("it says %s", c.stderr)
	}
}
