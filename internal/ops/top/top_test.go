package top

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"seine/internal/ops/deadletters"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

var update = flag.Bool("update", false, "write the screens that the tests see to testdata")

// trailing matches invisible spaces at the end of a line.
var trailing = regexp.MustCompile(`(?m) +$`)

// noon is the time of the tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// busy returns a cluster with much activity.
func busy() *overview.Overview {
	o := &overview.Overview{
		At: noon, Dead: 3,
		Stages: []overview.Stage{
			{Name: "frontier", Instances: 2, Rate: 5210, Lag: 12, Handled: 1e7},
			{Name: "fetcher", Instances: 3, Rate: 412, Lag: 960, InFlight: 192, Redelivered: 4},
			{Name: "parser", Rate: 0, Lag: 15_321, Dead: 2},
			{Name: "writer default", Instances: 1, Rate: 388, InFlight: 10_000},
		},
		Streams: []overview.Stream{
			{Name: "SEEDS", Messages: 3, Bytes: 1200, Limit: 256 << 20},
			{Name: "URLS", Messages: 1_201_332, Bytes: 300 << 20, Limit: 512 << 20, Rate: 812},
			{Name: "FETCH", Messages: 1024, Bytes: 400_000, Rate: 412},
			{Name: "PAGES", Messages: 51_200, Bytes: 1975 << 20, Limit: 2 << 30, Rate: 410},
			{Name: "RESULTS", Messages: 91_000, Bytes: 50 << 20, Limit: 256 << 20, Rate: 411},
			{Name: "RECORDS", Messages: 48_000, Bytes: 400 << 20, Limit: 1 << 30, Rate: 388},
			{Name: "DEAD", Messages: 3, Bytes: 900, Limit: 256 << 20},
		},
		Warnings: []string{"no running parser", "stream PAGES is 96% full"},
		Hosts:    &frontierapi.Survey{Hosts: map[string]int64{"delay": 812, frontierapi.Asked: 96, "retry_after": 3}},
		DeadLast: []*deadletters.DeadLetter{{
			Seq: 77, Stage: "parser", Crawl: "shop", Reason: "record product: price: no number in \"call us\"",
			URL: "https://shop.example/p/9", Time: noon.Add(-4 * time.Second),
		}},
	}
	crawl := func(name string, state overview.State, end frontierapi.EndReason, rate float64, c frontierapi.Counters) {
		o.Crawls = append(o.Crawls, overview.Crawl{Name: name, State: state, End: end, Rev: 3, Rate: rate, CrawlStatus: frontierapi.CrawlStatus{Counters: c}})
	}
	crawl("archive", overview.State(frontierapi.Complete), frontierapi.Complete, 0, frontierapi.Counters{Done: 12_000, Pages: 11_000})
	crawl("news", overview.Running, "", 402.5, frontierapi.Counters{
		Queued: 1_350_211, InFlight: 180, Parsing: 31, Waiting: 90, Done: 2_400_112, Failed: 9_120, Pages: 2_390_000,
		BytesBody: 81 << 30, BytesWire: 22 << 30, Excluded: map[string]int64{"scope": 812_112, "robots": 1_200},
		Attempts: map[messages.Class]int64{messages.OK: 2_390_000, messages.Gone: 8_000, messages.Timeout: 4_000},
		Started:  noon.Add(-5 * time.Hour).UnixMilli(), Changed: noon.UnixMilli(),
	})
	o.Crawls[1].ETA = noon.Add(56 * time.Minute)
	crawl("shop", overview.Paused, "", 0, frontierapi.Counters{Queued: 812, Done: 90})
	host := func(name string, queued, mean int, why string, wait time.Duration, crawls ...string) {
		h := frontierapi.HostStatus{Host: name, Queued: queued, MeanMS: int64(mean), Why: why, Requests: int64(10 * queued), DelayMS: 1000}
		if why != "" {
			h.NextMS = noon.Add(wait).UnixMilli()
		} else {
			h.InFlight = 1
		}
		for _, c := range crawls {
			h.Crawls = append(h.Crawls, frontierapi.HostWork{Crawl: c, Queued: queued})
		}
		o.Hosts.Slowest = append(o.Hosts.Slowest, h)
	}
	host("slow.example", 120, 12_500, "", 0, "news")
	host("limited.example", 90_210, 912, "retry_after", 3*time.Minute, "news", "shop")
	host("down.example", 812, 640, "breaker_open", 30*time.Second, "news")
	host("a-very-long-name-of-a-host.of-a-domain.example.org:8443", 5, 210, "delay", 700*time.Millisecond, "news")
	o.Hosts.Longest = []frontierapi.HostStatus{o.Hosts.Slowest[1]}
	trouble := func(ago time.Duration, url string, class messages.Class, status int, said string) {
		o.Hosts.Troubles = append(o.Hosts.Troubles, frontierapi.RequestFailure{
			AtMS: noon.Add(-ago).UnixMilli(), Crawl: "news", URL: url, Class: class, Status: status, Error: said, Attempt: 1,
		})
	}
	trouble(time.Second, "https://down.example/a/b/c", messages.ServerError, 503, "503 Service Unavailable")
	trouble(3*time.Second, "https://limited.example/x", messages.Throttled, 429, "")
	trouble(9*time.Second, "https://evil.example/", messages.ProtocolError, 0, "malformed \x1b]0;owned\x07\u202eheader")
	return o
}

// screen returns a model that has got an overview and then some keys.
func screen(width, height int, o *overview.Overview, keys ...string) Model {
	m := New("nats://127.0.0.1:4222", "", time.Second, noon)
	m = after(m, Size{Width: width, Height: height}, Looked{Overview: o, Connected: true})
	for _, k := range keys {
		m = after(m, Key(k))
	}
	return m
}

// Events of the model, in addition to messages.
type (
	Key  string
	Size = tea.WindowSizeMsg
	Tick struct{ Now time.Time }
)

// New returns a model of a cluster that answers each query with the query.
func New(server, crawl string, every time.Duration, now time.Time) Model {
	return newModel(server, Options{crawl, every}, echo{}, now)
}

type (
	echo     struct{}
	Refresh  struct{ First []string }
	LoadHost struct{ Name string }
)

func (echo) refresh(first []string) tea.Msg { return Refresh{first} }
func (echo) host(name string) tea.Msg       { return LoadHost{name} }
func (echo) steer(order Steer) tea.Msg      { return order }

func after(m Model, events ...any) Model {
	for _, e := range events {
		m, _ = asks(m, e)
	}
	return m
}

// asks returns the queries that an event makes the model send.
func asks(m Model, event any) (Model, []any) {
	switch e := event.(type) {
	case Key:
		cmd := m.key(string(e))
		return m, asked(cmd)
	case Tick:
		cmd := m.tick(e.Now)
		return m, asked(cmd)
	}
	next, cmd := m.Update(event)
	return next.(Model), asked(cmd)
}

func asked(cmd tea.Cmd) (all []any) {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	several, ok := msg.(tea.BatchMsg)
	if !ok {
		return []any{msg}
	}
	for _, one := range several {
		all = append(all, asked(one)...)
	}
	return all
}

func many() *overview.Overview {
	o := busy()
	o.Crawls = nil
	for i := range 2000 {
		o.Crawls = append(o.Crawls, overview.Crawl{Name: fmt.Sprintf("c%04d", i), State: overview.Running, Unasked: i >= 40})
	}
	return o
}

func TestScreens(t *testing.T) {
	inHost := screen(80, 24, busy(), "tab", "down", "enter")
	limited := busy().Hosts.Slowest[1]
	limited.Failing, limited.SlowedMS, limited.CrawlDelayMS = 2, 8000, 5000
	limited.Last = []frontierapi.Attempt{{AtMS: noon.UnixMilli(), Class: messages.Throttled, Status: 429, TookMS: 40}}
	inHost = after(inHost, HostLooked{Name: "limited.example", Host: &Host{limited, []overview.Robots{
		{Origin: "https://limited.example", Status: 200, Body: make([]byte, 345), FetchedAt: noon.Add(-time.Hour)},
		{Origin: "http://limited.example", Status: 404, FetchedAt: noon.Add(-time.Minute)},
	}}})
	lost := after(screen(80, 24, busy()), Tick{noon.Add(3 * time.Second)}, Looked{Err: errors.New("nats: connection closed")})
	for name, m := range map[string]Model{
		"80x24":       screen(80, 24, busy()),
		"200x50":      screen(200, 50, busy()),
		"100x40":      screen(100, 40, busy()),
		"begin":       after(New("nats://127.0.0.1:4222", "news", time.Second, noon), Size{Width: 80, Height: 24}),
		"small":       screen(30, 8, busy()),
		"narrow":      screen(60, 12, busy(), "tab"),
		"help":        screen(80, 24, busy(), "?"),
		"crawl":       screen(80, 24, busy(), "enter"),
		"host":        inHost,
		"error":       screen(80, 24, busy(), "tab", "tab", "end", "enter"),
		"confirm":     screen(80, 24, busy(), "c"),
		"filter":      screen(80, 24, busy(), "/", "l", "i", "m"),
		"many":        screen(80, 24, many(), "end"),
		"lost":        lost,
		"lost.colour": lost,
		"colour":      screen(80, 24, busy(), "tab"),
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(m.lines(), "\n") + "\n"
			if strings.HasSuffix(name, "colour") {
				text = strings.ReplaceAll(text, "\x1b", "␛")
			} else {
				text = trailing.ReplaceAllString(ansi.Strip(text), "")
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(want) {
				t.Errorf("the screen is\n%s\nwant\n%s\n(-update writes it)", text, want)
			}
		})
	}
}

// At any size the lines fit, and contain nothing that moves the cursor.
func TestScreensFit(t *testing.T) {
	for _, o := range []*overview.Overview{busy(), many(), {At: noon}} {
		for _, keys := range [][]string{nil, {"?"}, {"enter"}, {"tab", "enter"}, {"tab", "tab", "end"}, {"tab", "tab", "end", "enter"}, {"/", "x"}, {"c"}} {
			for width := 1; width < 210; width += 21 {
				for height := 1; height < 60; height += 9 {
					m := screen(width, height, o, keys...)
					lines := m.lines()
					if len(lines) != height {
						t.Fatalf("%dx%d after %q: %d lines", width, height, keys, len(lines))
					}
					for _, l := range lines {
						bare := ansi.Strip(l)
						if ansi.StringWidth(bare) > width || strings.ContainsAny(bare, "\x1b\a\n\r\u202e") {
							t.Fatalf("%dx%d after %q: line %q", width, height, keys, bare)
						}
					}
				}
			}
		}
	}
}

func TestKeysSteerWhatIsSelected(t *testing.T) {
	m := screen(80, 24, busy())
	for _, c := range []struct {
		keys []string
		want Steer
	}{
		{[]string{"p"}, Steer{Crawls: []string{"news"}, State: crawlspec.Paused}},
		{[]string{"down", "r"}, Steer{Crawls: []string{"shop"}, State: crawlspec.Running}},
		{[]string{"end", "c", "y"}, Steer{Crawls: []string{"archive"}, State: crawlspec.Cancelled}},
		{[]string{"tab", "down", "p"}, Steer{Crawls: []string{"news", "shop"}, Host: "limited.example", State: crawlspec.Paused}},
		{[]string{"tab", "s", "enter", "p"}, Steer{Crawls: []string{"news", "shop"}, Host: "limited.example", State: crawlspec.Paused}},
		{[]string{"/", "s", "h", "o", "enter", "p"}, Steer{Crawls: []string{"shop"}, State: crawlspec.Paused}},
	} {
		at := m
		for _, k := range c.keys[:len(c.keys)-1] {
			at = after(at, Key(k))
		}
		_, todo := asks(at, Key(c.keys[len(c.keys)-1]))
		if len(todo) != 1 || !reflect.DeepEqual(todo[0], c.want) {
			t.Errorf("%q asks for %+v, want %+v", c.keys, todo, c.want)
		}
	}
	for _, keys := range [][]string{{"c"}, {"c", "n"}, {"c", "q"}, {"tab", "tab", "p"}, {"/", "p"}, {"?", "p"}} {
		at, last := m, []any(nil)
		for _, k := range keys {
			at, last = asks(at, Key(k))
		}
		if len(last) > 0 {
			t.Errorf("%q asks for %+v, want nothing", keys, last)
		}
	}
	if got := after(m, Steered{Steer{Crawls: []string{"news"}, State: crawlspec.Paused}, nil}).result; got != "crawl news is paused" {
		t.Errorf("it says %q", got)
	}
}

// The selected row stays selected when other rows come before it.
func TestSelectionFollowsItsRow(t *testing.T) {
	m := screen(80, 24, busy(), "tab", "down", "down")
	o := busy()
	o.Hosts.Slowest = append([]frontierapi.HostStatus{{Host: "new.example", MeanMS: 99_999}}, o.Hosts.Slowest...)
	m = after(m, Looked{Overview: o, Connected: true})
	if r, _ := m.selectedRow(); r.key != "down.example" {
		t.Errorf("%s is selected, want down.example", r.key)
	}
	o = busy()
	o.Hosts.Slowest = o.Hosts.Slowest[:1]
	m = after(m, Looked{Overview: o, Connected: true})
	if r, _ := m.selectedRow(); r.key != "slow.example" {
		t.Errorf("%s is selected when it is gone, want the first", r.key)
	}
}

// Only one query runs at a time, however long it takes; of many crawls, the visible ones are
// queried.
func TestLooksFollowEachOther(t *testing.T) {
	m, todo := asks(New("", "", 2*time.Second, noon), Tick{noon})
	if len(todo) != 1 {
		t.Fatalf("the first tick asks for %+v", todo)
	}
	m, todo = asks(m, Tick{noon.Add(time.Minute)})
	if len(todo) != 0 {
		t.Errorf("while it looks it asks for %+v", todo)
	}
	o := many()
	o.At = noon.Add(time.Minute)
	m = after(m, Looked{Overview: o, Connected: true}, Size{Width: 80, Height: 24}, Key("end"))
	m, todo = asks(m, Tick{noon.Add(62 * time.Second)})
	look, ok := todo[0].(Refresh)
	if !ok || len(look.First) == 0 || len(look.First) > 60 || look.First[len(look.First)-1] != "c1999" {
		t.Errorf("of 2000 crawls it asks for %+v", todo)
	}
	if _, todo = asks(m, Tick{noon.Add(63 * time.Second)}); len(todo) != 0 {
		t.Errorf("too early it asks for %+v", todo)
	}
}

// A lost connection is reported with the time of the last figures, which stay visible.
func TestLostConnectionIsTold(t *testing.T) {
	m := screen(80, 24, busy())
	at := func(m Model) string { return ansi.Strip(strings.Join(m.lines(), "\n")) }
	m = after(m, Tick{noon.Add(time.Second)}, Looked{Err: errors.New("nats: no servers"), Connected: false})
	if got := at(m); !strings.Contains(got, "connection lost since 12:00:00") || !strings.Contains(got, "news") {
		t.Errorf("after a failed look:\n%s", got)
	}
	o := busy()
	o.At = noon.Add(2 * time.Second)
	m = after(m, Tick{noon.Add(2 * time.Second)}, Looked{Overview: o, Connected: true})
	if got := at(m); strings.Contains(got, "connection lost") {
		t.Errorf("after a good look:\n%s", got)
	}
	m = after(m, Tick{noon.Add(time.Minute)})
	if got := at(m); !strings.Contains(got, "no answer since 12:00:02") {
		t.Errorf("while nothing answers:\n%s", got)
	}
}
