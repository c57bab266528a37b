package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"seine/internal/testing/freeport"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

// traceReceiver receives traces like a collector.
type traceReceiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []span
}

// span is a received span with its attributes as text.
type span struct {
	*otlp.Span
	service string
	attrs   map[string]string
}

func newTraceReceiver(t *testing.T) *traceReceiver {
	t.Helper()
	r := new(traceReceiver)
	r.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var in collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &in)
		}
		if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", req.Method, req.URL, err)
			return
		}
		r.take(&in)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *traceReceiver) take(in *collector.ExportTraceServiceRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range in.GetResourceSpans() {
		service := texts(rs.GetResource().GetAttributes())["service.name"]
		for _, scope := range rs.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				r.spans = append(r.spans, span{s, service, texts(s.GetAttributes())})
			}
		}
	}
}

func texts(kvs []*common.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, kv := range kvs {
		switch v := kv.GetValue().GetValue().(type) {
		case *common.AnyValue_IntValue:
			m[kv.GetKey()] = fmt.Sprint(v.IntValue)
		default:
			m[kv.GetKey()] = kv.GetValue().GetStringValue()
		}
	}
	return m
}

func (r *traceReceiver) all() []span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]span(nil), r.spans...)
}

// trace is the spans of one visit.
type trace struct {
	t     *testing.T
	spans []span
}

// of returns the trace of the visit of a URL.
func (r *traceReceiver) of(t *testing.T, url string) trace {
	t.Helper()
	all := r.all()
	tr := trace{t: t}
	for _, root := range all {
		if len(root.GetParentSpanId()) == 0 && root.attrs["url.full"] == url {
			for _, s := range all {
				if string(s.GetTraceId()) == string(root.GetTraceId()) {
					tr.spans = append(tr.spans, s)
				}
			}
			return tr
		}
	}
	t.Fatalf("%s has no trace; %d spans came", url, len(all))
	return tr
}

// below returns the span with a name and attributes below another span. There must be exactly one.
func (tr trace) below(parent span, name string, attrs map[string]string) span {
	tr.t.Helper()
	var found []span
	for _, s := range tr.spans {
		same := s.GetName() == name && string(s.GetParentSpanId()) == string(parent.GetSpanId())
		for key, want := range attrs {
			same = same && s.attrs[key] == want
		}
		if same {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		tr.t.Fatalf("%d spans %s with %v are below %s; the trace has:\n%s", len(found), name, attrs, parent.GetName(), tr)
	}
	return found[0]
}

func (tr trace) String() string {
	var b strings.Builder
	for _, s := range tr.spans {
		fmt.Fprintf(&b, "%x below %x: %s %s %v\n", s.GetSpanId(), s.GetParentSpanId(), s.service, s.GetName(), s.attrs)
	}
	return b.String()
}

// One visit is one trace across four processes, with each span below its cause.
func TestAVisitIsOneTraceAcrossTheStages(t *testing.T) {
	collector := newTraceReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("SEINE_LOG_FORMAT", "json")
	t.Setenv("SEINE_LOG_LEVEL", "debug")
	site, web := testSite(t, testweb.Config{PagesPerHost: 8, ErrorRate: 0.4, MissingRate: 0.3})
	if len(web.Flaky(0)) == 0 || len(web.Missing(0)) == 0 {
		t.Fatal("the site has no faults")
	}
	c := newCluster(t, shape{})
	bus := c.bus()
	c.begin(bus, "traced", quick(), site.seed, "ftp://nowhere/")
	c.finish(bus, "traced", time.Minute)
	wantPages(t, records(t, c.out(), "traced"), site.pages)
	t.Run("trace", func(t *testing.T) { checkTrace(t, collector, site) })
	t.Run("logs", func(t *testing.T) { checkLogs(t, c) })
}

func checkTrace(t *testing.T, collector *traceReceiver, site site) {
	t.Helper()
	tr := collector.of(t, site.seed)
	visit := messages.Visit{URL: messages.HashURL(site.seed), Round: 1}.String()
	about := map[string]string{"seine.crawl": "traced", "seine.visit": visit}
	root := tr.below(span{Span: new(otlp.Span)}, "dispatch", about)
	fetch := tr.below(root, "fetch", map[string]string{
		"seine.visit": visit, "url.full": site.seed, "seine.class": "ok", "http.response.status_code": "200",
		"messaging.system": "nats", "messaging.destination.name": "FETCH", "messaging.operation.type": "process",
		"messaging.message.id": "traced." + visit + ".1",
	})
	tr.below(fetch, "GET", map[string]string{"url.full": strings.TrimSuffix(site.seed, "/") + "/robots.txt"})
	get := tr.below(fetch, "GET", map[string]string{
		"url.full": site.seed, "http.request.method": "GET", "http.response.status_code": "200",
		"server.address": "h0.localhost", "network.protocol.version": "1.1",
	})
	if get.GetKind() != otlp.Span_SPAN_KIND_CLIENT || get.GetEvents()[len(get.GetEvents())-1].GetName() != "body" {
		t.Errorf("GET is of kind %s with events %v", get.GetKind(), get.GetEvents())
	}
	fetched := tr.below(fetch, "publish", nil)
	tr.below(fetched, "apply", map[string]string{"messaging.destination.name": "RESULTS", "seine.visit": visit, "seine.class": "ok"})
	parse := tr.below(fetched, "parse", map[string]string{"messaging.destination.name": "PAGES", "seine.visit": visit})
	parsed := tr.below(parse, "publish", nil)
	tr.below(parsed, "apply", map[string]string{"messaging.destination.name": "URLS", "seine.visit": visit})
	write := tr.below(parsed, "write", map[string]string{"messaging.destination.name": "RECORDS", "seine.visit": visit})
	if write.attrs["seine.commit"] == "" {
		t.Errorf("write does not tell its commit: %v", write.attrs)
	}
	for s, want := range map[*span]string{&root: "seine-frontier", &fetch: "seine-fetcher", &parse: "seine-parser", &write: "seine-writer"} {
		if s.service != want {
			t.Errorf("%s is a span of %s, want %s", s.GetName(), s.service, want)
		}
	}
	retried := 0
	for _, s := range collector.all() {
		if s.GetName() == "dispatch" && s.attrs["seine.attempt"] == "2" && len(s.GetParentSpanId()) > 0 {
			retried++
		}
	}
	if retried == 0 {
		t.Error("no second attempt is in the trace of its visit")
	}
}

// checkLogs checks the stages' logs of a crawl with faults of the site and an invalid seed.
func checkLogs(t *testing.T, c *cluster) {
	t.Helper()
	visits := make(map[string]int) // lines with all keys of a visit, by message
	for _, p := range c.all() {
		for text := range strings.Lines(p.log.String()) {
			var line map[string]any
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatalf("%s logs a line that is no JSON: %s", p.name, text)
			}
			if line["stage"] != p.name || line["msg"] == "" || line["time"] == nil {
				t.Errorf("%s logs without stage, message or time: %s", p.name, text)
			}
			if strings.Count(text, `"stage":`) > 1 {
				t.Errorf("%s says a key twice: %s", p.name, text)
			}
			told := line["msg"] == "not a seed" || line["alert"] == "dead_letters" // about that seed
			if line["level"] == "WARN" && !told || line["level"] == "ERROR" {
				t.Errorf("%s complains of what needs nobody: %s", p.name, text)
			}
			if line["msg"] == "not a seed" && (line["level"] != "WARN" || line["crawl"] != "traced" || line["seed"] != "ftp://nowhere/") {
				t.Errorf("of the bad seed %s says: %s", p.name, text)
			}
			if line["visit"] != nil && line["crawl"] == "traced" && line["host"] != nil && line["trace"] != nil {
				visits[fmt.Sprint(line["msg"])]++
			}
		}
	}
	for _, msg := range []string{"fetched", "parsed", "result applied"} {
		if visits[msg] == 0 {
			t.Errorf("no line %q has crawl, host, visit and trace; there are %v", msg, visits)
		}
	}
}

// A crawl works as usual if no traces are sampled or no collector receives them.
func TestCrawlWithoutTraces(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 20})
	t.Run("none sampled", func(t *testing.T) {
		collector := newTraceReceiver(t)
		p := newWorkspace(t)
		c := p.crawl(site.seed, "--trace", collector.URL, "--trace-ratio", "0")
		c.expect(0)
		wantPages(t, records(t, p.out, "default"), site.pages)
		if spans := collector.all(); len(spans) > 0 {
			t.Errorf("%d spans came", len(spans))
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		p := newWorkspace(t)
		c := p.crawl(site.seed, "--trace", fmt.Sprintf("http://127.0.0.1:%d", freeport.Get(t)), "--trace-ratio", "1")
		c.expect(0)
		wantPages(t, records(t, p.out, "default"), site.pages)
		c.complains("cannot export traces; the crawl continues")
		if n := strings.Count(c.stderr.String(), "\n"); n > 2 {
			t.Errorf("it says %d lines:\n%s", n, c.stderr)
		}
	})
	t.Run("wrong", func(t *testing.T) {
		c := newWorkspace(t).crawl(site.seed, "--trace", "localhost:4318")
		c.expect(2)
		c.complains("--trace", "http://127.0.0.1:4318")
	})
}
