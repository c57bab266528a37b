package crawlspec

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRateText(t *testing.T) {
	for text, want := range map[string]struct {
		every   time.Duration
		written string
	}{
		"10/s": {100 * time.Millisecond, "1/100ms"}, "30/m": {2 * time.Second, "1/2s"}, "1/5s": {5 * time.Second, "1/5s"},
		"0.5/s": {2 * time.Second, "1/2s"}, "2/1h": {30 * time.Minute, "1/30m0s"}, "1/24h": {24 * time.Hour, "1/24h0m0s"},
		"1000000/s": {time.Microsecond, "1/1µs"}, "1/ms": {time.Millisecond, "1/1ms"}, "": {0, ""},
	} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || time.Duration(r) != want.every || r.String() != want.written {
			t.Errorf("%q: %s, written %q; %v", text, time.Duration(r), r, err)
		}
		var again Rate
		if err := again.UnmarshalText([]byte(r.String())); err != nil || again != r {
			t.Errorf("%q became %s and then %s: %v", text, r, again, err)
		}
	}
	for _, text := range []string{
		"10", "fast", "/s", "10/", "10/x", "-1/s", "0/s", "nan/s", "inf/s", "1/0s", "1/-1s", "1000001/s", "1/s/s", "1 / s", "1/1d",
	} {
		var r Rate
		err := r.UnmarshalText([]byte(text))
		if want := `rate "` + text + `": write requests per time, such as "10/s", "30/m" or "1/5s"`; err == nil || err.Error() != want {
			t.Errorf("%q: %s, %v", text, r, err)
		}
	}
	for _, text := range []string{"1/25h", "0.5/24h", "1000/1ns"} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "at least one request a day") {
			t.Errorf("%q: %s, %v", text, r, err)
		}
	}
}

func TestMatches(t *testing.T) {
	src := HostRule{Hosts: []string{"*.example.org", "www.example.com", "2001:db8::1"}}
	for host, want := range map[string]bool{
		"example.org": true, "www.example.org": true, "a.b.example.org": true, "badexample.org": false, "org": false,
		"example.org.test": false, "www.example.com": true, "example.com": false, "a.www.example.com": false, "2001:db8::1": true,
	} {
		if src.Matches(host) != want {
			t.Errorf("%s: %t", host, !want)
		}
	}
	s := Default()
	s.Sources, s.Hosts = []HostRule{src}, []string{"192.0.2.1", "localhost"}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

func TestMaxDelayMayBeShort(t *testing.T) {
	const second, day = Duration(time.Second), Duration(24 * time.Hour)
	for _, tt := range []struct{ delay, most Duration }{{0, 0}, {second / 10, second / 10}, {0, second / 10}, {second, second}, {day, second}} {
		s := Default()
		s.Delay, s.MaxDelay = tt.delay, tt.most
		if err := s.Validate(); err != nil {
			t.Errorf("delay %s: %v", tt.delay, err)
		}
	}
}

func TestHostPace(t *testing.T) {
	s, err := parseSpec([]byte(`
delay: 2s
rate: 1/s
per_host: 3
hours: ["00:00-12:00"]
time_zone: Asia/Tokyo
max_pages_per_host: 9
sources:
  - hosts: [www.a.test]
    delay: 0s
    rate: ""
    per_host: 8
    hours: ["00:00-24:00"]
    time_zone: ""
    max_pages_per_host: 0
  - hosts: ["*.a.test"]
    state: paused
    delay: 7s
    breaker: {failures: 2}
  - hosts: [b.a.test]
    delay: 9s
  - hosts: [c.test]
    state: cancelled
    breaker: {failures: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	base := s.Politeness
	for host, want := range map[string]struct {
		state  RunState
		change func(*Politeness)
	}{
		"other.test": {Running, func(*Politeness) {}},
		"www.a.test": {Running, func(p *Politeness) {
			p.Delay, p.Rate, p.PerHost, p.Hours, p.TimeZone, p.MaxPagesPerHost = 0, 0, 8, []string{"00:00-24:00"}, "", 0
		}},
		"a.test":   {Paused, func(p *Politeness) { p.Delay, p.Breaker.Failures = Duration(7*time.Second), 2 }},
		"b.a.test": {Paused, func(p *Politeness) { p.Delay, p.Breaker.Failures = Duration(7*time.Second), 2 }}, // the first rule applies
		"c.test":   {Cancelled, func(p *Politeness) { p.Breaker.Failures = 0 }},
	} {
		p := base
		want.change(&p)
		if got, state := s.HostPoliteness(host); !reflect.DeepEqual(got, p) || state != want.state {
			t.Errorf("%s: %s, %+v; want %s, %+v", host, state, got, want.state, p)
		}
	}
	if !reflect.DeepEqual(s.Politeness, base) {
		t.Errorf("the spec itself became %+v", s.Politeness)
	}
	s.Sources[0].State = new(Running)
	for _, state := range []RunState{Paused, Cancelled} {
		s.State = state
		for _, host := range []string{"other.test", "www.a.test", "a.test", "c.test"} {
			if _, got := s.HostPoliteness(host); got != state {
				t.Errorf("%s is %s in a crawl that is %s", host, got, state)
			}
		}
	}
}

func TestSetState(t *testing.T) {
	s := Default()
	s.Sources = []HostRule{
		{Hosts: []string{"*.a.test"}, Delay: new(Duration(time.Minute))},
		{Hosts: []string{"www.a.test"}, Delay: new(Duration(time.Hour))}, // never matches
	}
	states := func() (all []RunState) {
		for _, host := range []string{"a.test", "www.a.test", "b.test"} {
			_, state := s.HostPoliteness(host)
			all = append(all, state)
		}
		return all
	}
	for _, step := range []struct {
		host    string
		state   RunState
		want    []RunState
		sources int
	}{
		{"www.a.test", Paused, []RunState{Running, Paused, Running}, 3},
		{"www.a.test", Cancelled, []RunState{Running, Cancelled, Running}, 3},
		{"b.test", Paused, []RunState{Running, Cancelled, Paused}, 4},
		{"www.a.test", Running, []RunState{Running, Running, Paused}, 4},
		{"http://B.test:8080/", Cancelled, []RunState{Running, Running, Cancelled}, 4},
		{"b.test:8080", Paused, []RunState{Running, Running, Paused}, 4},
		{"", Paused, []RunState{Paused, Paused, Paused}, 4},
		{"b.test", Running, []RunState{Paused, Paused, Paused}, 3},
		{"", Running, []RunState{Running, Running, Running}, 3},
	} {
		if err := s.SetState(step.host, step.state); err != nil {
			t.Fatal(err)
		}
		if got := states(); !slices.Equal(got, step.want) || len(s.Sources) != step.sources {
			t.Errorf("after %s of %q: %v, want %v; %d sources", step.state, step.host, got, step.want, len(s.Sources))
		}
	}
	if p, _ := s.HostPoliteness("www.a.test"); p.Delay != Duration(time.Minute) {
		t.Errorf("the host's delay became %s", p.Delay)
	}
	for host, state := range map[string]RunState{"": "off", "c.test": "off", "c test": Paused, ":80": Paused} {
		c := Default()
		if err := c.SetState(host, state); err == nil {
			t.Errorf("%q may be %s", host, state)
		}
	}
}

func TestCancelledHosts(t *testing.T) {
	s := Default()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s.SetState("a.test", Cancelled))
	check(s.SetState("b.test", Paused))
	check(s.SetState("c.test", Cancelled))
	check(s.SetState("c.test", Running))
	if got := s.CancelledHosts(); !slices.Equal(got, []string{"a.test"}) {
		t.Errorf("cancelled are %v", got)
	}
}
