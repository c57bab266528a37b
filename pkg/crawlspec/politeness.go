package crawlspec

import (
	"cmp"
	"errors"
	"fmt"
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

// or returns the breaker with what it leaves out, but for Failures, from o.
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

// DefaultPoliteness is one request at a time and a second between.
func DefaultPoliteness() Politeness {
	return Politeness{
		Delay: DefaultDelay, DelayFactor: DefaultDelayFactor, MaxDelay: DefaultMaxDelay, PerHost: DefaultPerHost,
		Breaker: Breaker{Failures: 5, Wait: Duration(time.Minute), MaxWait: Duration(time.Hour), Probes: 6},
	}
}

func (p *Politeness) check() error {
	b := &p.Breaker
	switch {
	case p.Delay < 0 || p.Delay > Duration(24*time.Hour):
		return fmt.Errorf("delay %s: must be from 0s to 24h", p.Delay)
	case !(p.DelayFactor >= 0 && p.DelayFactor <= 1000):
		return fmt.Errorf("delay_factor %g: must be from 0 to 1000", p.DelayFactor)
	case p.MaxDelay < 0 || p.MaxDelay > Duration(24*time.Hour):
		return fmt.Errorf("max_delay %s: must be from 0s to 24h", p.MaxDelay)
	case p.MaxDelay < min(p.Delay, Duration(time.Second)):
		return fmt.Errorf("max_delay %s: must be at least 1s, or no less than the delay, %s", p.MaxDelay, p.Delay)
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		return fmt.Errorf("jitter %g: must be from 0 to 1", p.Jitter)
	case p.Rate < 0 || p.Rate > Rate(24*time.Hour):
		return fmt.Errorf("rate %s: must be at least one request a day", p.Rate)
	case p.PerHost < 1 || p.PerHost > 1024:
		return fmt.Errorf("per_host %d: must be from 1 to 1024", p.PerHost)
	case p.MaxPagesPerHost < 0:
		return fmt.Errorf("max_pages_per_host %d: must not be negative (0 for no limit)", p.MaxPagesPerHost)
	case b.Failures < 0 || b.Failures > 1000:
		return fmt.Errorf("breaker: failures %d: must be from 0 (off) to 1000", b.Failures)
	case b.Failures > 0 && (b.Wait < Duration(time.Millisecond) || b.MaxWait < b.Wait || b.MaxWait > Duration(24*time.Hour)):
		return fmt.Errorf("breaker: wait %s, max_wait %s: must be from 1ms to 24h, max_wait no less than wait", b.Wait, b.MaxWait)
	case b.Failures > 0 && (b.Probes < 1 || b.Probes > 1000):
		return fmt.Errorf("breaker: probes %d: must be from 1 to 1000", b.Probes)
	}
	if _, err := politeness.ParseHours(nil, p.TimeZone); err != nil {
		return fmt.Errorf("time_zone: %w", err)
	}
	if _, err := politeness.ParseHours(p.Hours, p.TimeZone); err != nil {
		return fmt.Errorf("hours: %w", err)
	}
	return nil
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

// pace returns a pace with what the source changes.
func (s *HostRule) pace(p Politeness) Politeness {
	breaker := p.Breaker
	overlay.Set(&p, s)
	p.Breaker = p.Breaker.or(breaker)
	return p
}

// HostPoliteness returns how a host, given without its port, is to be asked, and
// whether it is at all.
func (s *Spec) HostPoliteness(host string) (Politeness, RunState) {
	if i := s.SourceOf(host); i >= 0 {
		return s.SourcePace(i)
	}
	return s.Politeness, s.State
}

// SetState pauses, resumes or cancels the crawl, or what it wants of one host,
// whose port does not matter.
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
			src.State = &state
			return s.Validate()
		}
		own, at = *src, i
		own.Hosts = narrowed
	}
	// It keeps what another source says of the host, and leaves origins to sources before that.
	own.State = &state
	s.Sources = slices.Insert(s.Sources, at, own)
	return s.Validate()
}

// CancelledHosts are the hosts that are cancelled, as sources name them.
func (s *Spec) CancelledHosts() (hosts []string) {
	for i := range s.Sources {
		if state := s.Sources[i].State; state != nil && *state == Cancelled {
			hosts = append(hosts, s.Sources[i].Hosts...)
		}
	}
	return hosts
}

// SourcePace is what HostPoliteness returns for the hosts of source i.
func (s *Spec) SourcePace(i int) (Politeness, RunState) {
	src, state := &s.Sources[i], s.State
	if state == Running && src.State != nil {
		state = *src.State
	}
	return src.pace(s.Politeness), state
}

func (c specCheck) checkSources() error {
	for i := range c.Sources {
		limits := c.SourceLimits(i)
		if err := cmp.Or(c.checkSource(&c.Sources[i]), limits.check(), c.Sources[i].OnStatus.check()); err != nil {
			return fmt.Errorf("sources: number %d: %w", i+1, err)
		}
	}
	return nil
}

func (c specCheck) checkSource(src *HostRule) error {
	if err := checkHostEntries(src.Hosts); err != nil {
		return err
	}
	if st := src.State; st != nil && *st != Running && *st != Paused && *st != Cancelled {
		return fmt.Errorf("state %q: must be running, paused or cancelled", *st)
	}
	if b := src.Breaker; b != nil && b.Failures == 0 && *b != (Breaker{}) {
		return errors.New("breaker: failures must be said too (0 turns the breaker off)")
	}
	p := src.pace(c.Politeness)
	return cmp.Or(src.checkPacedHosts(), p.check(), src.Access.check(true))
}

// HostName returns the name of a host without its port, as specs have it, of the
// name of a host as people write it or as Seine shows it: NAME, NAME:PORT,
// [IPv6]:PORT, or a URL.
func HostName(text string) (string, error) {
	u := text
	if !strings.Contains(u, "://") {
		if strings.Count(u, ":") > 1 && !strings.HasPrefix(u, "[") { // IPv6, which a URL has in brackets
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

// checkHostName reports what is wrong with the name of a host as a person
// writes it: without scheme, path or port, in its canonical form.
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

// String returns the rate as UnmarshalText reads it.
func (r Rate) String() string {
	if r == 0 {
		return ""
	}
	return "1/" + time.Duration(r).String()
}

// MarshalText encodes the rate as String does.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a number of requests, a slash and a time or its unit.
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
