package crawlspec

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseSpecDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "blank": " \n\n", "an empty object": "{}", "a document mark": "---\n",
		"the version": "v: 1\n", "keys without a value": "delay:\nscope:\nmax_depth:\nmax_body:\nv:\n",
		"new keys without a value": "rate:\nbreaker:\ntraps:\nnormalize:\nsources:\nhours:\nschedule:\nstate:\nrender:\n",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parseSpec([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if want := Default(); !reflect.DeepEqual(s, &want) {
				t.Errorf("got %+v", s)
			}
		})
	}
	d := Default()
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

// everyKey sets every key of a spec to a value other than its default.
const everyKey = `
v: 1
on_status: {403: {wait: 10m, attempts: 3}}
seeds: ["https://example.org/", {sitemap: "https://example.org/sitemap.xml", priority: 3}]
scope: domain
hosts: [other.example.org]
domains: [example.com]
schemes: [https]
include: ["https://example.org/*"]
exclude:
  - re:\.(zip|exe)$
max_depth: 3
max_pages: 1000
max_bytes: 10GiB
max_duration: 1d12h
keep: 30d
state: paused
delay: 250ms
delay_factor: 2.5
max_delay: 1m
jitter: 0.25
rate: 30/m
per_host: 2
hours: ["22:00-06:00", "Sat,Sun 00:00-24:00"]
time_zone: Europe/Paris
breaker: {failures: 3, wait: 30s, max_wait: 10m, probes: 2}
max_pages_per_host: 500
sources:
  - hosts: ["*.slow.example", slow.test]
    state: running
    delay: 10s
    delay_factor: 0
    max_delay: 20s
    jitter: 0
    rate: 1/5s
    per_host: 1
    hours: ["01:00-02:00"]
    time_zone: America/New_York
    breaker: {failures: 0}
    max_pages_per_host: 7
    on_status: {5xx: {wait: 1h}}
    max_attempts: 2
    max_redirects: 0
    max_body: 1MiB
    timeout: 5m
    user_agents: [two/2]
    headers: {X-A: "{secret:X}"}
    cookies: false
    auth: {user: me, password: "{secret:W}"}
    proxies: ["socks5://127.0.0.1:1080"]
    tls: {min_version: "1.3"}
  - hosts: [bad.test]
    state: cancelled
page: {emit: always, fields: [url, title], when: {not: {language: fr}}}
links: {follow: [anchor, header], attributes: data-href, nofollow: ignore}
follow:
  - match: "https://example.org/schedule/*"
    types: json
    when: {not: {jq: .end}, status: 200}
    each: {jq: ".games[]"}
    with: {id: {jq: .id}}
    url: "/game/{id}"
    priority: 3
    depth: 0
  - {css: "a.next", get: "@data-next"}
  - match: ["*/search?*", "*/list*"]
    paginate: {parameter: page, first: 0, step: 20, last: 100, while: {any: [{css: .item}, {xpath: //li}]}}
records:
  - kind: product
    match: "re:/(?P<shop>[a-z]+)/p/"
    types: [html]
    when: {css: div.product, language: [en, pt-BR], text_language: de}
    each: {css: li.result}
    key: "{shop}-{sku}"
    fields:
      title: h1
      sku: {xpath: "//span", required: true}
      shop: {value: "{shop}"}
      price: {css: .price, regex: '(\d+)', replace: [{regex: x, with: y}], trim: false, as: number, decimal: ",", default: 0}
      day: {from: "header:Date", as: date, layout: "02.01.2006", timezone: Europe/Berlin}
      tags: {css: .tag, get: "@title", all: true, split: ","}
      rating: {json_ld: .aggregateRating}
      type: {meta: "og:type"}
      specs: {css: tr, map: {key: {css: th}, value: td}}
      offers: {css: .offer, all: true, fields: {seller: .seller, a: .b}}
    schema: {type: object, required: [price]}
duplicates: {exact: mark, near: drop, distance: 5, unchanged: drop}
gone: record
chunks: {size: 300, overlap: 20, unit: words, match: "/docs/*", fields: {author: {from: "page:author"}}}
content: {comments: keep, prefer: precision}
mask: {kinds: [email, phone], fields: "*"}
group_by: ip
traps:
  max_url_length: 512
  max_path_depth: 10
  max_repeats: 2
  calendar_ahead: 1
  calendar_back: 5
  max_parameter_sets: 20
  max_same_shape: 1000
  same_content_after: 30
normalize:
  drop_tracking: false
  drop_sessions: false
  drop_parameters: [ref, "x_*"]
  sort_query: true
  hash_routes: true
priorities:
  - {match: "*/news/*", priority: 0}
recrawl:
  - {match: "*/live", every: 1m}
  - {match: "*", min: 1h, max: 30d}
schedule: 0 3 * * 1
again: 1790000000
max_attempts: 2
max_redirects: 0
user_agent: mybot/2 (+https://example.org/bot)
robots: ignore
contact: bot@example.org
user_agents: [one/1]
headers: {X-A: b}
cookies: true
proxies: ["http://u:{secret:P}@proxy.example:3128"]
tls: {insecure: true, min_version: "1.0"}
requests:
- match: https://api.example.org/*
  method: POST
  query: {key: "{secret:K}"}
  headers: {Content-Type: application/json}
  body: '{"q": "{q}"}'
render:
  mode: auto
  modes:
    - {match: "/app/*", mode: always}
    - {match: ["/print/*", "*.xml"], mode: never}
  until: load
  actions:
    - wait: {until: idle, selector: "#done", expression: window.ready, time: 500ms}
    - {click: button.more, times: 5}
    - {click: summary, all: true, timeout: 2s}
    - {type: "#q", text: rivers}
    - press: Enter
    - {scroll: 20, in: .list}
    - script: await b()
    - screenshot: true
  press_links: 20
  init_script: window.a = 1
  storage: crawl
  login:
    url: https://shop.example/login
    script: send(secrets.word)
    secrets: {word: "{secret:WORD}"}
    wait: {until: load, selector: "#hello"}
    when: "!window.user"
  viewport: {width: 390, height: 844}
  language: pt-BR
  block: {types: [image, websocket], urls: "*/ads/*"}
  capture: ["/api/*", "*.json"]
  screenshot: true
  pdf: true
  print: {format: a4, landscape: true, scale: 0.5, margin: 0}
  timeout: 1m
  max_requests: 50
  max_bytes: 10MiB
allow_private: true
sitemaps: true
accept: [image/*]
skip_extensions: [zip, tar]
allow_addresses: [10.1.0.0/16]
archive: true
max_body: 8MiB
timeout: 90s
alerts:
  error_rate: 0.25
  over: 10m
  min_requests: 20
  no_progress: 1h
  lag: 2h
  lag_messages: 100000
  stream_full: 0.9
  disk_free: 5GiB
  memory: 0.8
  dead_letters: 20
  yield: 0.7
  blocked: 0.2
  webhook: "https://hooks.example/{secret:HOOK}"
  allow_private: true
`

func TestParseSpec(t *testing.T) {
	s, err := parseSpec([]byte(everyKey))
	if err != nil {
		t.Fatal(err)
	}
	want := Spec{
		V: 1, Seeds: []Seed{{URL: "https://example.org/"}, {Sitemap: "https://example.org/sitemap.xml", Priority: new(3)}},
		OnStatus: StatusRules{"403": {Wait: Duration(10 * time.Minute), Attempts: 3}}, Scope: ScopeDomain, Hosts: []string{"other.example.org"}, Domains: []string{"example.com"},
		Schemes: []string{"https"}, Include: []string{"https://example.org/*"}, Exclude: []string{`re:\.(zip|exe)$`},
		MaxDepth: new(3), MaxPages: 1000, MaxBytes: 10 << 30, MaxDuration: Duration(36 * time.Hour), Keep: Duration(30 * 24 * time.Hour), State: Paused,
		Politeness: Politeness{
			Delay: Duration(250 * time.Millisecond), DelayFactor: 2.5, MaxDelay: Duration(time.Minute), Jitter: 0.25,
			Rate: Rate(2 * time.Second), PerHost: 2, Hours: []string{"22:00-06:00", "Sat,Sun 00:00-24:00"},
			TimeZone: "Europe/Paris", MaxPagesPerHost: 500,
			Breaker: Breaker{Failures: 3, Wait: Duration(30 * time.Second), MaxWait: Duration(10 * time.Minute), Probes: 2},
		},
		Sources: []HostRule{{
			Hosts: []string{"*.slow.example", "slow.test"}, State: new(Running), Delay: new(Duration(10 * time.Second)),
			DelayFactor: new(0.0), MaxDelay: new(Duration(20 * time.Second)), Jitter: new(0.0),
			Rate: new(Rate(5 * time.Second)), PerHost: new(1), Hours: []string{"01:00-02:00"},
			TimeZone: new("America/New_York"), Breaker: new(Breaker{}), MaxPagesPerHost: new(int64(7)),
			OnStatus: StatusRules{"5xx": {Wait: Duration(time.Hour)}}, MaxAttempts: new(2), MaxRedirects: new(0), MaxBody: new(Bytes(1 << 20)), Timeout: new(Duration(5 * time.Minute)),
			Access: Access{
				UserAgents: []string{"two/2"}, Headers: map[string]string{"X-A": "{secret:X}"}, Cookies: new(false),
				Auth: &Auth{User: "me", Password: "{secret:W}"}, Proxies: []string{"socks5://127.0.0.1:1080"}, TLS: &TLS{MinVersion: "1.3"},
			},
		}, {Hosts: []string{"bad.test"}, State: new(Cancelled)}},
		Extraction: everyExtraction(),
		GroupBy:    GroupByIP,
		Traps: Traps{
			MaxURLLength: 512, MaxPathDepth: 10, MaxRepeats: 2, CalendarAhead: 1, CalendarBack: 5, MaxParameterSets: 20,
			MaxSameShape: 1000, SameContentAfter: 30,
		},
		Normalize:  Normalize{DropParameters: []string{"ref", "x_*"}, SortQuery: true, HashRoutes: true},
		Priorities: []PriorityRule{{Match: "*/news/*"}},
		Recrawl: []RecrawlRule{
			{Match: "*/live", Every: Duration(time.Minute)}, {Match: "*", Min: Duration(time.Hour), Max: Duration(30 * 24 * time.Hour)},
		},
		Schedule: "0 3 * * 1", Again: 1790000000, MaxAttempts: 2, UserAgent: "mybot/2 (+https://example.org/bot)", Robots: RobotsIgnore,
		Contact: "bot@example.org",
		Access: Access{
			UserAgents: []string{"one/1"}, Headers: map[string]string{"X-A": "b"}, Cookies: new(true),
			Proxies: []string{"http://u:{secret:P}@proxy.example:3128"}, TLS: &TLS{Insecure: true, MinVersion: "1.0"},
		},
		Requests: []RequestRule{{
			Match: "https://api.example.org/*", Method: "POST", Query: map[string]Template{"key": "{secret:K}"},
			Headers: map[string]string{"Content-Type": "application/json"}, Body: `{"q": "{q}"}`,
		}},
		Render:         everyRender(),
		AllowAddresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, Archive: true,
		Sitemaps: true, Accept: Strings{"image/*"}, SkipExtensions: Extensions{"zip", "tar"}, AllowPrivate: true, MaxBody: 8 << 20, Timeout: Duration(90 * time.Second),
		Alerts: Alerts{
			ErrorRate: 0.25, Over: Duration(10 * time.Minute), MinRequests: 20, NoProgress: Duration(time.Hour),
			Lag: Duration(2 * time.Hour), LagMessages: 100_000, StreamFull: 0.9, DiskFree: 5 << 30, Memory: 0.8, DeadLetters: 20, Yield: 0.7, Blocked: 0.2,
			Webhook: "https://hooks.example/{secret:HOOK}", AllowPrivate: true,
		},
	}
	if !reflect.DeepEqual(s, &want) {
		t.Errorf("got %+v\nwant %+v", s, &want)
	}
	if s.ProductToken() != "mybot" {
		t.Errorf("product token %q", s.ProductToken())
	}
	comesBack(t, s)
}

// The example sets every key. New keys must be added to it.
func TestEveryKeyIsInTheExample(t *testing.T) {
	s, err := parseSpec([]byte(everyKey))
	if err != nil {
		t.Fatal(err)
	}
	d := Default()
	s.Sources[1] = s.Sources[0]
	differs(t, "", reflect.ValueOf(*s), reflect.ValueOf(d))
}

// differs reports the fields that are equal in two structs, except the version.
func differs(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	for i := range a.NumField() {
		name := path + a.Type().Field(i).Name
		switch x, y := a.Field(i), b.Field(i); {
		case name == "V", name == "Access.Auth": // which only sources have
		case x.Kind() == reflect.Struct:
			differs(t, name+".", x, y)
		case reflect.DeepEqual(x.Interface(), y.Interface()):
			t.Errorf("the example says of %s what the default is", name)
		}
	}
}

// comesBackFromStore fails if a spec differs after it has been stored and read.
func comesBackFromStore(t rapid.TB, s *Spec) {
	t.Helper()
	got, err := Decode(s.Encode())
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("stored and read: %+v, %v\nwas %+v", got, err, s)
	}
}

// comesBack fails if a spec differs after it has been stored and read, or written as YAML and read.
func comesBack(t *testing.T, s *Spec) {
	t.Helper()
	comesBackFromStore(t, s)
	text := s.Encode() // JSON is YAML
	if got, err := parseSpec(text); err != nil || string(got.Encode()) != string(s.Encode()) {
		t.Errorf("written as YAML and read: %+v, %v\n%s", got, err, text)
	}
}

func TestSpecComesBack(t *testing.T) {
	for name, text := range map[string]string{
		"default":             "",
		"a source of nothing": "sources: [{hosts: [a.test]}]",
		"no limit of rate":    "rate: 1/s\nsources: [{hosts: [a.test], rate: ''}]",
		"a part of a breaker": "sources: [{hosts: [a.test], breaker: {failures: 7}}]",
		"depth 0":             "max_depth: 0",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parseSpec([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			comesBack(t, s)
		})
	}
}

// Keys left out of an object within a spec have their defaults, too.
func TestPartsOfSpecHaveDefaults(t *testing.T) {
	s, err := parseSpec([]byte("breaker: {failures: 9}\ntraps: {max_repeats: 0}\nnormalize: {sort_query: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Breaker.Failures, want.Traps.MaxRepeats, want.Normalize.SortQuery = 9, 0, true
	if !reflect.DeepEqual(s, &want) {
		t.Errorf("got %+v", s)
	}
	stored, err := Decode([]byte(`{"v":1,"breaker":{"failures":9},"traps":{"max_repeats":0},"normalize":{"sort_query":true}}`))
	if err != nil || !reflect.DeepEqual(stored, &want) {
		t.Errorf("stored: %+v, %v", stored, err)
	}
}

func TestSpecValidate(t *testing.T) {
	depth := func(d int) *int { return &d }
	const hour = Duration(time.Hour)
	source := func(r HostRule) func(*Spec) {
		return func(s *Spec) { r.Hosts = []string{"a.test"}; s.Sources = []HostRule{r} }
	}
	dropped := func(p string) func(*Spec) {
		return func(s *Spec) { s.Normalize.DropParameters = []string{"ok", "fine_*", p} }
	}
	recrawl := func(every, least, most Duration) func(*Spec) {
		return func(s *Spec) { s.Recrawl = []RecrawlRule{{Match: "*", Every: every, Min: least, Max: most}} }
	}
	tests := []struct {
		edit func(*Spec)
		want string
	}{
		{func(s *Spec) { s.Scope = "world" }, `scope: "world": must be one of host, domain, any`},
		{func(s *Spec) { s.Robots = "" }, `robots: "": must be one of obey, ignore`},
		{func(s *Spec) { s.MaxDepth = depth(-1) }, `max_depth: -1: must be from 0 to 65535`},
		{func(s *Spec) { s.MaxDepth = depth(65536) }, `max_depth: 65536: must be from 0 to 65535`},
		{func(s *Spec) { s.MaxPages = -1 }, `max_pages: -1: must not be negative (0 for no limit)`},
		{func(s *Spec) { s.MaxBytes = -1 }, `max_bytes: -1B: must not be negative (0 for no limit)`},
		{func(s *Spec) { s.MaxDuration = -1 }, `max_duration: -1ns: must not be negative (0s for no limit)`},
		{func(s *Spec) { s.Keep = -1 }, `keep: -1ns: must be at least 1s (0s keeps the crawl until it is deleted)`},
		{func(s *Spec) { s.Keep = Duration(time.Millisecond) }, `keep: 1ms: must be at least 1s (0s keeps the crawl until it is deleted)`},
		{func(s *Spec) { s.State = "stopped" }, `state: "stopped": must be one of running, paused, cancelled`},
		{func(s *Spec) { s.GroupBy = "site" }, `group_by: "site": must be one of host, domain, ip`},
		{func(s *Spec) { s.Schemes = []string{"http", "ftp"} }, `schemes[1]: "ftp": must be one of http, https`},
		{func(s *Spec) { s.Hosts = []string{"https://a.test"} }, `hosts[0]: "https://a.test": must be a host name, without scheme or path`},
		{func(s *Spec) { s.Hosts = []string{"A.test"} }, `hosts[0]: "A.test": write "a.test"`},
		{func(s *Spec) { s.Hosts = []string{"a.test:8080"} }, `hosts[0]: "a.test:8080": write "a.test"`},
		{func(s *Spec) { s.Hosts = []string{""} }, `hosts[0]: "": must be a host name, without scheme or path`},
		{func(s *Spec) { s.Domains = []string{"bücher.example"} }, `domains[0]: "bücher.example": write "xn--bcher-kva.example"`},
		{func(s *Spec) { s.Domains = []string{"*.a.test"} }, `domains[0]: "*.a.test": must be a host name, without scheme or path`},
		{func(s *Spec) { s.Delay = -1 }, `delay: -1ns: must be from 0s to 24h`},
		{func(s *Spec) { s.Delay = Duration(25 * time.Hour) }, `delay: 25h: must be from 0s to 24h`},
		{func(s *Spec) { s.PerHost = 0 }, `per_host: 0: must be from 1 to 1024`},
		{func(s *Spec) { s.PerHost = 1025 }, `per_host: 1025: must be from 1 to 1024`},
		{func(s *Spec) { s.MaxAttempts = 0 }, `max_attempts: 0: must be from 1 to 100`},
		{func(s *Spec) { s.MaxAttempts = 101 }, `max_attempts: 101: must be from 1 to 100`},
		{func(s *Spec) { s.MaxRedirects = -1 }, `max_redirects: -1: must be from 0 to 50`},
		{func(s *Spec) { s.MaxRedirects = 51 }, `max_redirects: 51: must be from 0 to 50`},
		{func(s *Spec) { s.MaxBody = 0 }, `max_body: 0B: must be from 1B to 1GiB`},
		{func(s *Spec) { s.MaxBody = 2 << 30 }, `max_body: 2GiB: must be from 1B to 1GiB`},
		{func(s *Spec) { s.Timeout = 0 }, `timeout: 0s: must be from 1ms to 1h`},
		{func(s *Spec) { s.Timeout = Duration(2 * time.Hour) }, `timeout: 2h: must be from 1ms to 1h`},
		{func(s *Spec) { s.UserAgent = "" }, `user_agent: "": must start with a name of letters, '-' and '_'`},
		{func(s *Spec) { s.UserAgent = "2bot" }, `user_agent: "2bot": must start with a name of letters, '-' and '_'`},
		{func(s *Spec) { s.UserAgent = "bot\r\nX: y" }, `user_agent: "bot\r\nX: y": must be printable ASCII`},
		{func(s *Spec) { s.UserAgent = "böt" }, `user_agent: "böt": must be printable ASCII`},
		{func(s *Spec) { s.DelayFactor = -1 }, `delay_factor: -1: must be from 0 to 1000`},
		{func(s *Spec) { s.DelayFactor = 1001 }, `delay_factor: 1001: must be from 0 to 1000`},
		{func(s *Spec) { s.MaxDelay = -1 }, `max_delay: -1ns: must be from 0s to 24h`},
		{func(s *Spec) { s.MaxDelay = Duration(25 * time.Hour) }, `max_delay: 25h: must be from 0s to 24h`},
		{func(s *Spec) { s.MaxDelay = 0 }, `max_delay: 0s: must be at least 1s, or no less than the delay, 1s`},
		{func(s *Spec) { s.MaxDelay = Duration(time.Second - 1) }, `max_delay: 999.999999ms: must be at least 1s, or no less than the delay, 1s`},
		{func(s *Spec) { s.Delay, s.MaxDelay = 2, 1 }, `max_delay: 1ns: must be at least 1s, or no less than the delay, 2ns`},
		{source(HostRule{MaxDelay: new(Duration(0))}), `sources[0].max_delay: 0s: must be at least 1s, or no less than the delay, 1s`},
		{func(s *Spec) { s.Jitter = -0.5 }, `jitter: -0.5: must be from 0 to 1`},
		{func(s *Spec) { s.Jitter = 1.5 }, `jitter: 1.5: must be from 0 to 1`},
		{func(s *Spec) { s.Rate = Rate(25 * time.Hour) }, `rate: 1/25h0m0s: must be at least one request a day`},
		{func(s *Spec) { s.MaxPagesPerHost = -1 }, `max_pages_per_host: -1: must not be negative (0 for no limit)`},
		{func(s *Spec) { s.Breaker.Failures = -1 }, `breaker.failures: -1: must be from 0 to 1000`},
		{func(s *Spec) { s.Breaker.Failures = 1001 }, `breaker.failures: 1001: must be from 0 to 1000`},
		{func(s *Spec) { s.Breaker.Wait = 0 }, `breaker: wait 0s, max_wait 1h0m0s: must be from 1ms to 24h, max_wait no less than wait`},
		{func(s *Spec) { s.Breaker.MaxWait = 1 }, `breaker: wait 1m0s, max_wait 1ns: must be from 1ms to 24h, max_wait no less than wait`},
		{func(s *Spec) { s.Breaker.MaxWait = Duration(25 * time.Hour) }, `breaker: wait 1m0s, max_wait 25h0m0s: must be from 1ms to 24h, max_wait no less than wait`},
		{func(s *Spec) { s.Breaker.Probes = 0 }, `breaker.probes: 0: must be from 1 to 1000`},
		{func(s *Spec) { s.Breaker.Probes = 1001 }, `breaker.probes: 1001: must be from 1 to 1000`},
		{func(s *Spec) { s.TimeZone = "Mars/Utopia" }, `time_zone: time zone "Mars/Utopia": is not known; write an IANA name, such as Europe/Paris`},
		{func(s *Spec) { s.TimeZone = "Local" }, `time_zone: time zone "Local": differs from machine to machine; write an IANA name, such as Europe/Paris`},
		{func(s *Spec) { s.Hours = []string{"6-7"} }, `hours: "6-7": time "6": must be from 00:00 to 24:00`},
		{func(s *Spec) { s.Sources = []HostRule{{}} }, `sources[0].hosts: must name at least one`},
		{func(s *Spec) { s.Sources = []HostRule{{Hosts: []string{"a.test"}}, {Hosts: []string{"*.*.b"}}} },
			`sources[1].hosts[0]: "*.b": must be a host name, without scheme or path`},
		{source(HostRule{State: new(RunState("off"))}), `sources[0].state: "off": must be one of running, paused, cancelled`},
		{source(HostRule{Delay: new(Duration(-1))}), `sources[0].delay: -1ns: must be from 0s to 24h`},
		{source(HostRule{DelayFactor: new(-1.0)}), `sources[0].delay_factor: -1: must be from 0 to 1000`},
		{source(HostRule{PerHost: new(0)}), `sources[0].per_host: 0: must be from 1 to 1024`},
		{source(HostRule{TimeZone: new("X")}), `sources[0].time_zone: time zone "X": is not known; write an IANA name, such as Europe/Paris`},
		{source(HostRule{Hours: []string{"x"}}), `sources[0].hours: "x": times "x": write start and end, such as 22:00-06:00`},
		{source(HostRule{Breaker: &Breaker{Wait: Duration(time.Minute)}}),
			`sources[0].breaker: failures is missing (0 turns the breaker off)`},
		{source(HostRule{Breaker: &Breaker{Failures: 1, Probes: -1}}), `sources[0].breaker.probes: -1: must be from 1 to 1000`},
		{func(s *Spec) { s.Traps.MaxURLLength = -1 }, `traps.max_url_length: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.MaxPathDepth = -1 }, `traps.max_path_depth: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.MaxRepeats = -1 }, `traps.max_repeats: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.CalendarAhead = -1 }, `traps.calendar_ahead: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.CalendarBack = -1 }, `traps.calendar_back: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.MaxParameterSets = -1 }, `traps.max_parameter_sets: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.MaxSameShape = -1 }, `traps.max_same_shape: -1: must not be negative (0 is off)`},
		{func(s *Spec) { s.Traps.SameContentAfter = -1 }, `traps.same_content_after: -1: must not be negative (0 is off)`},
		{dropped(""), `normalize.drop_parameters[2]: "": must be a parameter's name, or its start and "*"`},
		{dropped("a*b"), `normalize.drop_parameters[2]: "a*b": must be a parameter's name, or its start and "*"`},
		{dropped("a=b"), `normalize.drop_parameters[2]: "a=b": must be a parameter's name, or its start and "*"`},
		{func(s *Spec) { s.Priorities = []PriorityRule{{Match: "*"}, {}} },
			`priorities[1].match: a pattern is empty: write "*" for everything`},
		{func(s *Spec) { s.Priorities = []PriorityRule{{"*", 10}} }, `priorities[0].priority: 10: must be from 0 (first) to 9`},
		{func(s *Spec) { s.Priorities = []PriorityRule{{"*", -1}} }, `priorities[0].priority: -1: must be from 0 (first) to 9`},
		{func(s *Spec) { s.Recrawl = []RecrawlRule{{Every: hour}} }, `recrawl[0].match: a pattern is empty: write "*" for everything`},
		{recrawl(hour, hour, 0), `recrawl[0]: every, or min and max, not both`},
		{recrawl(1, 0, 0), `recrawl[0].every: 1ns: must be at least 1s`},
		{recrawl(-hour, 0, 0), `recrawl[0].every: -1h0m0s: must be at least 1s`},
		{recrawl(0, 0, 0), `recrawl[0]: min 0s, max 0s: min must be at least 1s, and max no less`},
		{recrawl(0, hour, 0), `recrawl[0]: min 1h0m0s, max 0s: min must be at least 1s, and max no less`},
		{recrawl(0, 1, hour), `recrawl[0]: min 1ns, max 1h0m0s: min must be at least 1s, and max no less`},
		{func(s *Spec) { s.Schedule = "@every 1" }, `schedule: "@every 1": @every takes a duration of at least 1s, such as 6h`},
		{func(s *Spec) { s.Schedule = "weekly" }, `schedule: "weekly": did you mean "@weekly"?`},
		{func(s *Spec) { s.Schedule = "@Daily" }, `schedule: "@Daily": did you mean "@daily"?`},
		{func(s *Spec) { s.Schedule = "every day" }, `schedule: "every day": did you mean "@daily"?`},
		{func(s *Spec) { s.Schedule = "@every day" }, `schedule: "@every day": did you mean "@daily"?`},
		{func(s *Spec) { s.Schedule = "@every 5" }, `schedule: "@every 5": @every takes a duration of at least 1s, such as 6h`},
		{func(s *Spec) { s.Schedule = "every other day" }, `schedule: "every other day": expected exactly 5 fields, found 3: [every other day]`},
		{func(s *Spec) { s.Schedule = "every 6h" }, `schedule: "every 6h": did you mean "@every 6h"?`},
		{func(s *Spec) { s.Schedule = "0 0 30 2 *" }, `schedule: "0 0 30 2 *": no such day`},
		{func(s *Spec) { s.Include = []string{""} }, `include: a pattern is empty: write "*" for everything`},
		{func(s *Spec) { s.Exclude = []string{"*", "re:"} }, `exclude[1]: a pattern is empty: write "*" for everything`},
		{func(s *Spec) { s.Exclude = []string{"re:("} }, "exclude: pattern \"re:(\": error parsing regexp: missing closing ): `(`"},
	}
	for _, tt := range tests {
		s := Default()
		tt.edit(&s)
		if err := s.Validate(); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
		if _, err := Decode(s.Encode()); err == nil {
			t.Errorf("stored and read: %s", tt.want)
		}
	}
}

func TestDecodeSpec(t *testing.T) {
	s, err := Decode([]byte(`{"v":1,"delay":"2s"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Delay = Duration(2 * time.Second)
	if !reflect.DeepEqual(s, &want) {
		t.Errorf("got %+v", s)
	}
	for _, text := range []string{"", "[]", `{"v":1,"state":""}`, `{"v":1,"breaker":{"failures":-1}}`, `{"v":2}`, `{"delay":2}`, `{"delay":"2"}`, `{"max_body":"x"}`, `{"scope":1}`,
		`{"v":1,"max_page":5}`, `{"v":1,"records":[{"kind":"a","matches":["*"]}]}`} {
		if _, err := Decode([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "decode spec: ") {
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
		{"/p/*", "https://example.org/p/1?c=d", true},
		{"/p/*", "http://127.0.0.1:8080/p/", true},
		{"/p/*", "https://example.org/shop/p/1", false},
		{"/p/*", "https://example.org/?from=/p/1", false},
		{"/p", "https://example.org/p", true},
		{"/p", "https://example.org/p?c=d", false},
		{"/*", "https://example.org/", true},
		{"/*/p", "https://example.org//example.net/p", true},
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
