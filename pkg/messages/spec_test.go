package messages

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestParseSpecDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "blank": " \n\n", "a comment": "# later\n", "an empty object": "{}", "a document mark": "---\n",
		"the version": "v: 1\n", "keys without a value": "delay:\nscope:\nmax_depth:\nmax_body:\nv:\n",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSpec([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if want := DefaultSpec(); !reflect.DeepEqual(s, &want) {
				t.Errorf("got %+v", s)
			}
		})
	}
	d := DefaultSpec()
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

func TestParseSpec(t *testing.T) {
	s, err := ParseSpec([]byte(`
v: 1
scope: domain
include: ["https://example.org/*"]
exclude:
  - re:\.(zip|exe)$
max_depth: 3
max_pages: 1000
delay: 250ms
per_host: 2
max_attempts: 2
max_redirects: 0
user_agent: mybot/2 (+https://example.org/bot)
robots: ignore
allow_private: true
max_body: 8MiB
timeout: 1m
`))
	if err != nil {
		t.Fatal(err)
	}
	three := 3
	want := Spec{
		V: 1, Scope: ScopeDomain, Include: []string{"https://example.org/*"}, Exclude: []string{`re:\.(zip|exe)$`},
		MaxDepth: &three, MaxPages: 1000, Delay: Duration(250 * time.Millisecond), PerHost: 2, MaxAttempts: 2,
		UserAgent: "mybot/2 (+https://example.org/bot)", Robots: RobotsIgnore, AllowPrivate: true,
		MaxBody: 8 << 20, Timeout: Duration(time.Minute),
	}
	if !reflect.DeepEqual(s, &want) {
		t.Errorf("got %+v", s)
	}
	if s.ProductToken() != "mybot" {
		t.Errorf("product token %q", s.ProductToken())
	}
	if got, err := DecodeSpec(s.Encode()); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("stored and read: %+v, %v", got, err)
	}
	text, err := yaml.Dump(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseSpec(text)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("written as YAML and read: %+v, %v\n%s", got, err, text)
	}
}

func TestParseSpecErrors(t *testing.T) {
	tests := []struct {
		text string
		want []string // parts of the error
	}{
		{"scope: host\ndelai: 1s\n", []string{"read spec: ", "delai", "line 2"}},
		{"delay: 1s\ndelay: 2s\n", []string{"delay", "line 2"}},
		{"per_host: many\n", []string{"line 1", "many"}},
		{"\ndelay: 5\n", []string{"line 2", `duration "5": write a number and a unit`}},
		{"max_body: big\n", []string{"line 1", `size "big": write a whole number and a unit`}},
		{"- a\n- b\n", []string{"line 1"}},
		{"a: [\n", []string{"L2"}},
		{"scope: host\n---\nscope: any\n", []string{"document"}},
		{"v: 2\n", []string{"v is 2, this build reads 1: unknown schema version"}},
		{"scope: world\n", []string{`scope "world": must be host, domain or any`}},
	}
	for _, tt := range tests {
		_, err := ParseSpec([]byte(tt.text))
		if err == nil {
			t.Errorf("%q is accepted", tt.text)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, which does not say %q", tt.text, err, part)
			}
		}
	}
	if _, err := ParseSpec([]byte("v: 3")); !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

func TestSpecValidate(t *testing.T) {
	depth := func(d int) *int { return &d }
	tests := []struct {
		edit func(*Spec)
		want string
	}{
		{func(s *Spec) { s.Scope = "world" }, `scope "world": must be host, domain or any`},
		{func(s *Spec) { s.Robots = "" }, `robots "": must be obey or ignore`},
		{func(s *Spec) { s.MaxDepth = depth(-1) }, `max_depth -1: must be from 0 to 65535`},
		{func(s *Spec) { s.MaxDepth = depth(65536) }, `max_depth 65536: must be from 0 to 65535`},
		{func(s *Spec) { s.MaxPages = -1 }, `max_pages -1: must not be negative (0 is no limit)`},
		{func(s *Spec) { s.Delay = -1 }, `delay -1ns: must be from 0s to 24h`},
		{func(s *Spec) { s.Delay = Duration(25 * time.Hour) }, `delay 25h0m0s: must be from 0s to 24h`},
		{func(s *Spec) { s.PerHost = 0 }, `per_host 0: must be from 1 to 1024`},
		{func(s *Spec) { s.PerHost = 1025 }, `per_host 1025: must be from 1 to 1024`},
		{func(s *Spec) { s.MaxAttempts = 0 }, `max_attempts 0: must be from 1 to 100`},
		{func(s *Spec) { s.MaxAttempts = 101 }, `max_attempts 101: must be from 1 to 100`},
		{func(s *Spec) { s.MaxRedirects = -1 }, `max_redirects -1: must be from 0 to 50`},
		{func(s *Spec) { s.MaxRedirects = 51 }, `max_redirects 51: must be from 0 to 50`},
		{func(s *Spec) { s.MaxBody = 0 }, `max_body 0B: must be from 1B to 1GiB`},
		{func(s *Spec) { s.MaxBody = 2 << 30 }, `max_body 2GiB: must be from 1B to 1GiB`},
		{func(s *Spec) { s.Timeout = 0 }, `timeout 0s: must be from 1ms to 1h`},
		{func(s *Spec) { s.Timeout = Duration(2 * time.Hour) }, `timeout 2h0m0s: must be from 1ms to 1h`},
		{func(s *Spec) { s.UserAgent = "" }, `user_agent "": must start with a name of letters, '-' and '_'`},
		{func(s *Spec) { s.UserAgent = "2bot" }, `user_agent "2bot": must start with a name of letters, '-' and '_'`},
		{func(s *Spec) { s.UserAgent = "bot\r\nX: y" }, `user_agent "bot\r\nX: y": must be printable ASCII`},
		{func(s *Spec) { s.UserAgent = "böt" }, `user_agent "böt": must be printable ASCII`},
		{func(s *Spec) { s.Include = []string{""} }, `include: a pattern is empty: write "*" for everything`},
		{func(s *Spec) { s.Exclude = []string{"*", "re:"} }, `exclude: a pattern is empty: write "*" for everything`},
		{func(s *Spec) { s.Exclude = []string{"re:("} }, "exclude: pattern \"re:(\": error parsing regexp: missing closing ): `(`"},
	}
	for _, tt := range tests {
		s := DefaultSpec()
		tt.edit(&s)
		if err := s.Validate(); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
		if _, err := DecodeSpec(s.Encode()); err == nil {
			t.Errorf("stored and read: %s", tt.want)
		}
	}
}

func TestDecodeSpec(t *testing.T) {
	s, err := DecodeSpec([]byte(`{"v":1,"delay":"2s","later":"field"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultSpec()
	want.Delay = Duration(2 * time.Second)
	if !reflect.DeepEqual(s, &want) {
		t.Errorf("got %+v", s)
	}
	for _, text := range []string{"", "[]", `{"v":2}`, `{"delay":2}`, `{"delay":"2"}`, `{"max_body":"x"}`, `{"scope":1}`} {
		if _, err := DecodeSpec([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "decode spec: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, url string
		want         bool
	}{
		{"*", "https://example.org/", true},
		{"https://example.org/", "https://example.org/", true},
		{"https://example.org/", "https://example.org/a", false},
		{"https://example.org/*", "https://example.org/a/b?c=d", true},
		{"https://example.org/*", "https://exampleXorg/a", false},
		{"*.pdf", "https://example.org/a.pdf", true},
		{"*.pdf", "https://example.org/a.pdf?x", false},
		{"*/a+b?*", "https://example.org/a+b?c", true},
		{"*/a+b?*", "https://example.org/aab", false},
		{"re:\\.pdf$", "https://example.org/a.pdf", true},
		{"re:^https", "http://example.org/", false},
		{"re:/(a|b)/", "https://example.org/b/x", true},
	}
	for _, tt := range tests {
		re, err := CompilePattern(tt.pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := re.MatchString(tt.url); got != tt.want {
			t.Errorf("%s on %s: %v", tt.pattern, tt.url, got)
		}
	}
}

func TestInFlightPerHost(t *testing.T) {
	s := DefaultSpec()
	s.PerHost = 8
	if s.InFlightPerHost() != 1 {
		t.Error("a delay does not imply one request at a time")
	}
	s.Delay = 0
	if s.InFlightPerHost() != 8 {
		t.Error("per_host does not count without a delay")
	}
}
