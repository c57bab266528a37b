package crawlspec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/overlay"
	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
)

// RunState stops a crawl or a host, or lets it continue.
type RunState string

// Run states.
const (
	Running   RunState = "running"
	Paused    RunState = "paused"    // nothing is sent; what is found is queued
	Cancelled RunState = "cancelled" // what is queued is excluded, and so is what is found
)

var runStates = []string{string(Running), string(Paused), string(Cancelled)}

// GroupBy says which URLs share a Politeness.
type GroupBy string

// Groupings.
const (
	GroupByHost   GroupBy = "host"   // each host name and port for itself
	GroupByDomain GroupBy = "domain" // all hosts of a registrable domain together
	GroupByIP     GroupBy = "ip"     // hosts, and beyond that all on one address together
)

// Politeness is the pace of requests to a host.
type Politeness struct {
	// Delay is the least time from the end of a response to the next request to
	// the same host. It implies one request at once.
	Delay Duration `json:"delay"`
	// DelayFactor makes the delay grow with the host's response time: it is at
	// least so many times as long. 0 turns that off, and so does a Delay of 0s.
	DelayFactor float64 `json:"delay_factor"`
	// MaxDelay limits the delay that follows from robots.txt and slow responses, not Delay itself. It is at
	// least 1s and at least Delay, so that a mistake cannot disable Crawl-delay.
	MaxDelay Duration `json:"max_delay"`
	// Jitter, from 0 to 1, adds up to this part of the delay at random.
	Jitter float64 `json:"jitter,omitempty"`
	// Rate bounds requests from start to start, as in "10/s" or "1/5s".
	Rate Rate `json:"rate,omitempty"`
	// PerHost is how many requests may be in progress to one host. More than one
	// means anything only without a delay.
	PerHost int `json:"per_host"`
	// Hours are the times of requests to a host, such as "22:00-06:00" or "Sat,Sun 00:00-24:00", in TimeZone (an
	// IANA name; UTC if empty). If they are empty, requests are always allowed.
	Hours    []string `json:"hours,omitempty"`
	TimeZone string   `json:"time_zone,omitempty"`
	// Breaker pauses a failing host.
	Breaker Breaker `json:"breaker"`
	// MaxPagesPerHost limits the pages of one host; 0 for no limit.
	MaxPagesPerHost int64 `json:"max_pages_per_host,omitempty"`
}

// Breaker pauses a host that has failed several times in a row. After Wait, one request probes it; each failed
// probe doubles the wait, up to MaxWait. After Probes failed probes the host is abandoned: its queued URLs fail.
type Breaker struct {
	Failures int      `json:"failures"` // in a row; 0 turns the breaker off
	Wait     Duration `json:"wait"`
	MaxWait  Duration `json:"max_wait"`
	Probes   int      `json:"probes"`
}

// or returns b with omitted values from o, except Failures.
func (b Breaker) or(o Breaker) Breaker {
	return Breaker{
		Failures: b.Failures, Wait: cmp.Or(b.Wait, o.Wait), MaxWait: cmp.Or(b.MaxWait, o.MaxWait),
		Probes: cmp.Or(b.Probes, o.Probes),
	}
}

// Defaults of a Politeness.
const (
	DefaultDelay       = Duration(time.Second)
	DefaultDelayFactor = 1
	DefaultMaxDelay    = Duration(5 * time.Minute)
	DefaultPerHost     = 1
)

// DefaultPoliteness is one request at a time, with a second between.
func DefaultPoliteness() Politeness {
	return Politeness{
		Delay: DefaultDelay, DelayFactor: DefaultDelayFactor, MaxDelay: DefaultMaxDelay, PerHost: DefaultPerHost,
		Breaker: Breaker{Failures: 5, Wait: Duration(time.Minute), MaxWait: Duration(time.Hour), Probes: 6},
	}
}

// check reports errors of a politeness; prefix is the path before its keys.
func (p *Politeness) check(to *Problems, prefix string) {
	const day, most = Duration(24 * time.Hour), 1000
	between(to, prefix+"delay", p.Delay, 0, day)
	between(to, prefix+"delay_factor", p.DelayFactor, 0, 1000)
	if between(to, prefix+"max_delay", p.MaxDelay, 0, day) && p.MaxDelay < min(p.Delay, Duration(time.Second)) {
		to.Addf(prefix+"max_delay", "%s: must be at least 1s, or no less than the delay, %s", p.MaxDelay, p.Delay)
	}
	between(to, prefix+"jitter", p.Jitter, 0, 1)
	if p.Rate < 0 || p.Rate > Rate(day) {
		to.Addf(prefix+"rate", "%s: must be at least one request a day", p.Rate)
	}
	between(to, prefix+"per_host", p.PerHost, 1, 1024)
	notNegative(to, prefix+"max_pages_per_host", p.MaxPagesPerHost, "0 for no limit")
	if b := &p.Breaker; between(to, prefix+"breaker.failures", b.Failures, 0, most) && b.Failures > 0 {
		if b.Wait < Duration(time.Millisecond) || b.MaxWait < b.Wait || b.MaxWait > day {
			to.Addf(prefix+"breaker", "wait %s, max_wait %s: must be from 1ms to 24h, max_wait no less than wait", b.Wait, b.MaxWait)
		}
		between(to, prefix+"breaker.probes", b.Probes, 1, most)
	}
	_, err := politeness.ParseHours(nil, p.TimeZone)
	to.Add(prefix+"time_zone", err)
	_, err = politeness.ParseHours(p.Hours, "")
	to.Add(prefix+"hours", err)
}

// HostRule has other values for some hosts. The first source of a spec that names a host applies; keys that it
// omits are those of the spec.
type HostRule struct {
	// Hosts are host names, or "*.example.org" for a domain and all hosts in it, whatever their port. Secrets are sent to
	// them only over https at the default port. "http://example.org:8080" is one origin: headers and other keys for
	// access apply to that origin only, and its secrets are sent there. The other keys need the name of the host.
	Hosts           []string  `json:"hosts"`
	State           *RunState `json:"state,omitempty"`
	Delay           *Duration `json:"delay,omitempty"`
	DelayFactor     *float64  `json:"delay_factor,omitempty"`
	MaxDelay        *Duration `json:"max_delay,omitempty"`
	Jitter          *float64  `json:"jitter,omitempty"`
	Rate            *Rate     `json:"rate,omitempty"`
	PerHost         *int      `json:"per_host,omitempty"`
	Hours           []string  `json:"hours,omitempty"`
	TimeZone        *string   `json:"time_zone,omitempty"`
	Breaker         *Breaker  `json:"breaker,omitempty"`
	MaxPagesPerHost *int64    `json:"max_pages_per_host,omitempty"`
	// OnStatus goes before that of the crawl.
	OnStatus     StatusRules `json:"on_status,omitempty"`
	MaxAttempts  *int        `json:"max_attempts,omitempty"`
	MaxRedirects *int        `json:"max_redirects,omitempty"`
	MaxBody      *Bytes      `json:"max_body,omitempty"`
	Timeout      *Duration   `json:"timeout,omitempty"`
	Access
}

// isEmpty reports whether a source only names hosts.
func (s *HostRule) isEmpty() bool { return reflect.DeepEqual(*s, HostRule{Hosts: s.Hosts}) }

// pace returns a politeness with the changes of the source.
func (s *HostRule) pace(p Politeness) Politeness {
	breaker := p.Breaker
	overlay.Set(&p, s)
	p.Breaker = p.Breaker.or(breaker)
	return p
}

// HostPoliteness returns the politeness of a host, given without its port, and its run state.
func (s *Spec) HostPoliteness(host string) (Politeness, RunState) {
	if i := s.SourceOf(host); i >= 0 {
		return s.SourcePace(i)
	}
	return s.Politeness, s.State
}

// SetState pauses, resumes or cancels the crawl, or its work on one host, whose port does not
// matter.
func (s *Spec) SetState(host string, state RunState) error {
	if host == "" {
		s.State = state
		return s.Validate()
	}
	host, err := HostName(host)
	if err != nil {
		return err
	}
	own, at := HostRule{Hosts: []string{host}}, len(s.Sources)
	if i := s.SourceOf(host); i >= 0 {
		src := &s.Sources[i]
		narrowed := src.narrowedTo(host)
		if slices.Equal(narrowed, src.Hosts) {
			src.State = nil
			if state == Running && src.isEmpty() {
				s.Sources = slices.Delete(s.Sources, i, i+1) // it has no effect, and would hide later sources of the host
			} else {
				src.State = &state
			}
			return s.Validate()
		}
		own, at = *src, i
		own.Hosts = narrowed
	}
	// The new source keeps the other keys of the existing one, and comes after sources for origins.
	own.State = &state
	s.Sources = slices.Insert(s.Sources, at, own)
	return s.Validate()
}

// CancelledHosts returns the cancelled hosts, as entries of sources.
func (s *Spec) CancelledHosts() (hosts []string) {
	for i := range s.Sources {
		if state := s.Sources[i].State; state != nil && *state == Cancelled {
			hosts = append(hosts, s.Sources[i].Hosts...)
		}
	}
	return hosts
}

// SourcePace returns the result of HostPoliteness for the hosts of source i.
func (s *Spec) SourcePace(i int) (Politeness, RunState) {
	src, state := &s.Sources[i], s.State
	if state == Running && src.State != nil {
		state = *src.State
	}
	return src.pace(s.Politeness), state
}

func (c specCheck) checkSources(p *Problems) {
	whole := len(*p) == 0 // otherwise errors of the crawl's values would be reported again for each source
	for i := range c.Sources {
		src, prefix := &c.Sources[i], fmt.Sprintf("sources[%d].", i)
		src.check(p, prefix)
		if whole {
			pace, limits := src.pace(c.Politeness), c.SourceLimits(i)
			pace.check(p, prefix)
			limits.check(p, prefix)
		}
	}
}

func (s *HostRule) check(p *Problems, prefix string) {
	s.checkHosts(p, prefix+"hosts")
	if s.State != nil {
		p.oneOf(prefix+"state", string(*s.State), runStates)
	}
	if b := s.Breaker; b != nil && b.Failures == 0 && *b != (Breaker{}) {
		p.Addf(prefix+"breaker", "failures is missing (0 turns the breaker off)")
	}
	s.OnStatus.check(p, prefix+"on_status")
	s.Access.check(p, prefix, true)
}

// HostName returns the name of a host without its port, in the form of specs. It accepts the forms
// that users write or Seine shows: NAME, NAME:PORT, [IPv6]:PORT, or a URL.
func HostName(text string) (string, error) {
	u := text
	if !strings.Contains(u, "://") {
		if strings.Count(u, ":") > 1 && !strings.HasPrefix(u, "[") { // IPv6, which has brackets in a URL
			u = "[" + u + "]"
		}
		u = "http://" + u + "/"
	}
	c, err := weburl.Canonicalize(u)
	if err != nil {
		return "", fmt.Errorf("%q: must be the name of a host: %w", text, err)
	}
	return weburl.Hostname(c), nil
}

// checkHostName returns an error unless name is a host name without scheme, path or port, in its
// canonical form.
func checkHostName(name string) error {
	c, err := HostName(name)
	if err != nil || strings.ContainsAny(name, "/?#@* ") {
		return fmt.Errorf("%q: must be a host name, without scheme or path", name)
	}
	if c != name {
		return fmt.Errorf("%q: write %q", name, c)
	}
	return nil
}

// Rate is the time from the start of a request to the start of the next, written as requests per time: "10/s",
// "30/m", "1/5s". 0 for no limit.
type Rate time.Duration

// String returns the form that UnmarshalText accepts.
func (r Rate) String() string {
	if r == 0 {
		return ""
	}
	return "1/" + time.Duration(r).String()
}

// MarshalText encodes the rate as String does.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts a number of requests, a slash and a time or its unit.
func (r *Rate) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = 0
		return nil
	}
	bad := fmt.Errorf(`rate %q: write requests per time, such as "10/s", "30/m" or "1/5s"`, text)
	count, per, ok := strings.Cut(string(text), "/")
	n, err := strconv.ParseFloat(count, 64)
	if !ok || err != nil || !(n > 0) || n > 1e6 {
		return bad
	}
	if per != "" && (per[0] < '0' || per[0] > '9') {
		per = "1" + per
	}
	span, err := time.ParseDuration(per)
	if err != nil || span <= 0 {
		return bad
	}
	interval := float64(span) / n
	if interval < 1 || interval > float64(24*time.Hour) {
		return fmt.Errorf("rate %q: must be at least one request a day, and at most one a nanosecond", text)
	}
	*r = Rate(interval)
	return nil
}
