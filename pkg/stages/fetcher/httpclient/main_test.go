package httpclient

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"go.uber.org/goleak"

	"seine/internal/base/contentcoding"
	"seine/internal/run/specfile"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// defaultConfig returns the defaults of the tags.
func defaultConfig() (c Config) {
	if err := kong.ApplyDefaults(&c); err != nil {
		panic(err)
	}
	return c
}

// privatePolicy requests any host without special settings.
var privatePolicy = &Policy{spec: new(crawlspec.Spec), others: &profile{
	accepts: accepts(defaultConfig().Accept), headers: []http.Header{{"User-Agent": {"test/1.0"}, "Accept-Encoding": {contentcoding.Accept}}}, transport: transportKey{private: true},
}}

// clientFixture is a client with a spec, and its own test web.
type clientFixture struct {
	*Client
	t      testing.TB
	policy *Policy
	spec   crawlspec.Spec
	web    *testweb.Web
	url    func(path string) string // of host 0
}

// newClientFixture returns a client that may dial loopback, and has no delays.
func newClientFixture(t testing.TB, options ...func(*Config, *crawlspec.Spec)) *clientFixture {
	t.Helper()
	cfg, spec := defaultConfig(), crawlspec.Default()
	spec.AllowPrivate = true
	for _, o := range options {
		o(&cfg, &spec)
	}
	c, err := New(cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := testweb.New(testweb.Config{Special: true})
	srv := testweb.Run(t, w)
	t.Cleanup(c.Close)
	return &clientFixture{
		Client: c, t: t, policy: c.Compile(&spec), spec: spec, web: w,
		url: func(path string) string { return srv.URL(0, path) },
	}
}

// withSpec returns a client with a spec in YAML.
func withSpec(t testing.TB, yaml string, options ...func(*Config, *crawlspec.Spec)) *clientFixture {
	t.Helper()
	spec, err := specfile.Load("spec.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return newClientFixture(t, append(options, func(_ *Config, s *crawlspec.Spec) { *s = *spec })...)
}

// withPrivate returns a client that may dial loopback.
func withPrivate(t testing.TB, yaml string, options ...func(*Config, *crawlspec.Spec)) *clientFixture {
	t.Helper()
	return withSpec(t, "allow_private: true\n"+yaml, options...)
}

// request returns a request for url under the spec.
func (f *clientFixture) request(url string) *Request {
	return &Request{URL: url, Policy: f.policy, Timeout: 20 * time.Second, MaxBody: int64(f.spec.MaxBody)}
}

// do sends a request, releases its body, and returns the reply.
func (f *clientFixture) do(a *Request) *Reply {
	f.t.Helper()
	r, err := f.Do(context.Background(), a)
	if err != nil {
		f.t.Fatalf("%s: %v", a.URL, err)
	}
	r.Release()
	return r
}

func (f *clientFixture) get(url string) *Reply {
	f.t.Helper()
	return f.do(f.request(url))
}

// wants fails unless the reply has the class, and a text with the reason if one is required.
func (r *Reply) wants(t testing.TB, class messages.Class) {
	t.Helper()
	if r.Class != class {
		t.Fatalf("%s: class %s (%d %s), want %s", r.URL, r.Class, r.Status, r.Text, class)
	}
	switch class {
	case messages.OK, messages.NotModified, messages.Redirect:
		if r.Text != "" {
			t.Errorf("%s: %q with class %s", r.URL, r.Text, class)
		}
	default:
		if r.Text == "" {
			t.Errorf("%s: class %s without words for a person", r.URL, class)
		}
	}
}
