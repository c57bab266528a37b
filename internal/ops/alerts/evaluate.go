package alerts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/ops/procstats"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// An alert is cleared only when its value is better than the threshold by one of these factors.
// Otherwise a value near the threshold would be reported again and again.
const (
	calmRate   = 0.75 // of error_rate, blocked
	calmLag    = 0.5  // of lag, lag_messages
	calmShare  = 0.95 // of stream_full, memory
	calmFree   = 1.1  // of disk_free
	looksToSay = 2    // consecutive bad observations before lag, streams, disks and memory are reported
)

// forgetAfter is how long a target must be missing before its alert is cleared. A process may be
// too busy to answer for a moment.
const forgetAfter = time.Minute

// samples is the number of samples of the counters in the time over which error rates are computed.
const samples = 20

// State is the stored state of a crawl's alerts.
type State struct {
	V      int          `json:"v"`
	Alerts []AlertState `json:"alerts,omitempty"`
	Outbox []Change     `json:"outbox,omitempty"` // changes to post, the oldest first
	At     time.Time    `json:"at"`
	// Samples are earlier values of the counters, the oldest first.
	Samples []Sample `json:"samples,omitempty"`
	// Done is the number of ended visits. Moved is since when it has not changed although the crawl
	// had work.
	Done  int64     `json:"done"`
	Moved time.Time `json:"moved"`
	// Counting is Progress.Counting of the last observation, and CountingSince when it last
	// changed; zero if it never has.
	Counting      string    `json:"counting,omitempty"`
	CountingSince time.Time `json:"counting_since,omitzero"`
	// Over is set if the crawl had ended at its last known state.
	Over bool `json:"over,omitempty"`
}

// AlertState is an alert that is raised, or that is pending after Looks bad observations.
type AlertState struct {
	Alert
	Looks int       `json:"looks"`
	Seen  time.Time `json:"seen"`
}

// raised reports whether the alert was reported.
func (r *AlertState) raised() bool { return !r.Since.IsZero() }

// Sample is the counters of a crawl at one time.
type Sample struct {
	At      time.Time `json:"at"`
	Asked   int64     `json:"asked"`
	Failed  int64     `json:"failed"`
	Blocked int64     `json:"blocked,omitempty"`
	// FailedLogins is 0 in the first sample, so that earlier failures are reported.
	FailedLogins int64 `json:"failed_logins,omitempty"`
}

// Raised returns the reported alerts.
func (s *State) Raised() []Alert {
	var all []Alert
	for i := range s.Alerts {
		if s.Alerts[i].raised() {
			all = append(all, s.Alerts[i].Alert)
		}
	}
	return all
}

// finding is the result of one threshold for one target. If it is neither bad nor good, the alert
// keeps its state.
type finding struct {
	kind             Kind
	subject          string
	bad, good        bool
	value, threshold float64
	text             string
}

// Evaluate compares an observation with the thresholds of a crawl, and returns the changes.
func (s *State) Evaluate(crawl string, a *crawlspec.Alerts, look *Observation) []Change {
	found, why := s.findings(a, look)
	var changes []Change
	for i := range found {
		if c, ok := s.apply(crawl, &found[i], look.At); ok {
			changes = append(changes, c)
		}
	}
	s.Alerts = slices.DeleteFunc(s.Alerts, func(r AlertState) bool {
		switch {
		case slices.ContainsFunc(found, func(f finding) bool { return f.kind == r.Kind && f.subject == r.Target }):
			return false
		case !r.raised():
			return true
		case why == "" && on(a, r.Kind) && look.At.Sub(r.Seen) < forgetAfter:
			return false
		}
		r.Text = why
		if r.Text == "" {
			r.Text = fmt.Sprintf("%s is no longer watched", strings.TrimSpace(string(r.Kind)+" "+r.Target))
		}
		changes = append(changes, r.change(Cleared, look.At))
		return true
	})
	s.V, s.At = 1, look.At
	return changes
}

// on reports whether a kind of alert is enabled.
func on(a *crawlspec.Alerts, k Kind) bool {
	return map[Kind]bool{
		ErrorRate: a.ErrorRate > 0, NoProgress: a.NoProgress > 0, Lag: a.Lag > 0 || a.LagMessages > 0,
		StreamFull: a.StreamFull > 0, Disk: a.DiskFree > 0, Memory: a.Memory > 0,
		DeadLetters: a.DeadLetters > 0, Yield: a.Yield > 0, Blocked: a.Blocked > 0, Login: true,
	}[k]
}

// findings returns the results of all thresholds. If none of them applies, it returns the reason.
func (s *State) findings(a *crawlspec.Alerts, look *Observation) (found []finding, why string) {
	c := &look.Crawl
	if c.Unknown == "" {
		s.Over = c.Over
	}
	switch {
	case s.Over:
		s.restart()
		return nil, "the crawl has ended"
	case a.Off():
		return nil, "alerts are off"
	case c.Idle:
		s.restart()
		for _, k := range []Kind{ErrorRate, Blocked, Login, NoProgress} {
			found = append(found, healthy(k, "the crawl is paused"))
		}
	default:
		if c.Unknown == "" {
			found = append(found, s.rates(a, look)...)
		}
		if f := s.progress(a, look); a.NoProgress > 0 {
			found = append(found, f)
		}
	}
	found = append(found, deadLetters(a, look)...)
	found = append(found, s.yields(a, look)...)
	found = append(found, lags(a, look)...)
	found = append(found, streams(a, look)...)
	found = append(found, disks(a, look)...)
	return append(found, memory(a, look)...), ""
}

// restart drops the counters of the past.
func (s *State) restart() { s.Samples, s.Moved = nil, time.Time{} }

// healthy returns a good finding.
func healthy(k Kind, text string) finding { return finding{kind: k, good: true, text: text} }

// apply updates one alert. It returns the change to report, if any.
func (s *State) apply(crawl string, f *finding, now time.Time) (Change, bool) {
	i := slices.IndexFunc(s.Alerts, func(r AlertState) bool { return r.Kind == f.kind && r.Target == f.subject })
	if i < 0 {
		if !f.bad {
			return Change{}, false
		}
		i = len(s.Alerts)
		s.Alerts = append(s.Alerts, AlertState{Alert: Alert{Crawl: crawl, Kind: f.kind, Target: f.subject}})
	}
	r := &s.Alerts[i]
	r.Seen, r.Value, r.Threshold = now, f.value, f.threshold
	switch {
	case f.bad && !r.raised():
		r.Text = f.text
		if r.Looks++; r.Looks < needed(f.kind) {
			return Change{}, false
		}
		r.Since, r.ID = now, newID(crawl, f.kind, f.subject, now)
		return r.change(Raised, now), true
	case f.bad:
		r.Text = f.text
	case !r.raised():
		s.Alerts = slices.Delete(s.Alerts, i, i+1)
	case f.good:
		r.Text = f.text
		c := r.change(Cleared, now)
		s.Alerts = slices.Delete(s.Alerts, i, i+1)
		return c, true
	}
	return Change{}, false
}

// needed returns the number of consecutive bad observations before an alert is raised.
func needed(k Kind) int {
	switch k {
	case ErrorRate, Blocked, Login, NoProgress, DeadLetters, Yield:
		return 1 // these cover a period already, or a condition that lasts
	default:
		return looksToSay
	}
}

// rates returns the findings on the requests of the last period.
func (s *State) rates(a *crawlspec.Alerts, look *Observation) (found []finding) {
	base := s.sample(time.Duration(cmp.Or(a.Over, crawlspec.DefaultAlerts().Over)), look)
	c, span := &look.Crawl, look.At.Sub(base.At).Round(time.Second)
	asked := c.Asked - base.Asked
	if a.ErrorRate > 0 {
		f := rate(ErrorRate, a.ErrorRate, c.Failed-base.Failed, asked, a.MinRequests)
		f.text = fmt.Sprintf("%.1f %% of %d requests failed in %s", 100*f.value, asked, span)
		found = append(found, f)
	}
	if a.Blocked > 0 {
		n := c.Blocked - base.Blocked
		f := rate(Blocked, a.Blocked, n, asked, leastBlocked)
		f.bad = f.bad && n >= leastBlocked
		f.text = fmt.Sprintf("sites answered %d of %d requests with a challenge or a CAPTCHA in %s (seine top lists them)", n, asked, span)
		found = append(found, f)
	}
	n := c.FailedLogins - base.FailedLogins
	f := finding{kind: Login, value: float64(n), threshold: 1, bad: n > 0, good: n == 0 && asked > 0, text: "later requests found no failed login"}
	if f.bad {
		f.text = humanize.Plural(n, "login") + " failed: check render.login of the spec and its secrets"
	}
	return append(found, f)
}

// leastBlocked is the least number of blocked requests for an alert. It is low because the first
// blocked requests slow the host down so much that few others follow.
const leastBlocked = 5

// rate returns the finding for n of asked requests. It is neither bad nor good for fewer requests
// than least.
func rate(k Kind, threshold float64, n, asked, least int64) finding {
	f := finding{kind: k, threshold: threshold}
	if asked >= least {
		f.value = float64(n) / float64(asked)
		f.bad, f.good = f.value >= threshold, f.value < calmRate*threshold
	}
	return f
}

// sample adds a sample and returns the one at the beginning of the period.
func (s *State) sample(over time.Duration, look *Observation) Sample {
	now, c := look.At, &look.Crawl
	if n := len(s.Samples); n > 0 {
		last := &s.Samples[n-1]
		if c.Asked < last.Asked || c.Failed < last.Failed {
			s.Samples = nil // a new crawl of the same name
		}
	}
	if n := len(s.Samples); n == 0 || now.Sub(s.Samples[n-1].At) >= over/samples {
		s.Samples = append(s.Samples, Sample{now, c.Asked, c.Failed, c.Blocked, c.FailedLogins})
		if s.At.IsZero() {
			s.Samples[n].FailedLogins = 0
		}
	}
	for len(s.Samples) > 1 && now.Sub(s.Samples[1].At) >= over {
		s.Samples = s.Samples[1:]
	}
	return s.Samples[0]
}

// progress measures how long no visit has ended although the crawl had work. Time without
// observations does not count: during an outage of the broker no visit ends, and users know the
// cause.
func (s *State) progress(a *crawlspec.Alerts, look *Observation) finding {
	now, c := look.At, &look.Crawl
	if gap := now.Sub(s.At); !s.Moved.IsZero() && gap > 2*look.Every {
		s.Moved = s.Moved.Add(gap - look.Every)
	}
	busy := c.Busy
	if c.Unknown != "" {
		busy = c.Unknown
	}
	moved := c.Unknown == "" && c.Done != s.Done
	if moved || busy == "" || s.Moved.IsZero() || s.Moved.After(now) {
		s.Moved = now
	}
	if c.Unknown == "" {
		s.Done = c.Done
	}
	still := now.Sub(s.Moved)
	f := finding{kind: NoProgress, value: still.Seconds(), threshold: time.Duration(a.NoProgress).Seconds()}
	f.bad, f.good = still >= time.Duration(a.NoProgress), still == 0
	if f.text = fmt.Sprintf("no visit has ended for %s: %s", still.Round(time.Second), busy); f.good {
		f.text = "visits end again, or wait for their time"
	}
	return f
}

func lags(a *crawlspec.Alerts, look *Observation) (found []finding) {
	if !on(a, Lag) {
		return nil
	}
	for _, st := range look.Stages {
		age, limit := time.Duration(0), time.Duration(a.Lag)
		if !st.Oldest.IsZero() {
			age = max(0, look.At.Sub(st.Oldest))
		}
		n, most := float64(st.Waiting), float64(a.LagMessages)
		f := finding{kind: Lag, subject: st.Name, value: age.Seconds(), threshold: limit.Seconds()}
		old, many := limit > 0 && age >= limit, most > 0 && n >= most
		if many && !old {
			f.value, f.threshold = n, most
		}
		f.bad = old || many
		f.good = (limit == 0 || age.Seconds() <= calmLag*limit.Seconds()) && (most == 0 || n <= calmLag*most)
		f.text = fmt.Sprintf("%d messages wait for the %s, the oldest for %s", st.Waiting, st.Name, age.Round(time.Second))
		found = append(found, f)
	}
	return found
}

func streams(a *crawlspec.Alerts, look *Observation) (found []finding) {
	if a.StreamFull == 0 {
		return nil
	}
	for _, st := range look.Streams {
		if st.Limit <= 0 || st.Name == messages.StreamDead { // that stream drops its oldest messages
			continue
		}
		share := float64(st.Bytes) / float64(st.Limit)
		found = append(found, finding{
			kind: StreamFull, subject: st.Name, value: share, threshold: a.StreamFull,
			bad: share >= a.StreamFull, good: share < calmShare*a.StreamFull,
			text: fmt.Sprintf("%s is %.0f %% full and will soon block its publishers", st.Name, 100*share),
		})
	}
	return found
}

// disks returns a finding for each disk of each machine, even if several processes use it.
func disks(a *crawlspec.Alerts, look *Observation) (found []finding) {
	if a.DiskFree == 0 {
		return nil
	}
	type place struct {
		procstats.Disk
		host  string
		paths []string
	}
	byDevice := make(map[string]*place)
	for _, p := range look.Processes {
		for _, d := range p.Disks {
			name := p.Host + " disk " + d.Device
			at := byDevice[name]
			if at == nil {
				at = &place{Disk: d, host: p.Host}
				byDevice[name] = at
			}
			at.paths = append(at.paths, fmt.Sprintf("%s (%s)", d.Path, p.Stage))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byDevice)) {
		at := byDevice[name]
		slices.Sort(at.paths)
		free := float64(at.Free)
		found = append(found, finding{
			kind: Disk, subject: name, value: free, threshold: float64(a.DiskFree),
			bad: free < float64(a.DiskFree), good: free > calmFree*float64(a.DiskFree),
			text: fmt.Sprintf("the disk of %s on %s has %s of %s free, and disk_free is %s: free some space", strings.Join(slices.Compact(at.paths), ", "), at.host,
				humanize.Size(int64(at.Free)), humanize.Size(int64(at.Size)), humanize.Size(int64(a.DiskFree))),
		})
	}
	return found
}

func memory(a *crawlspec.Alerts, look *Observation) (found []finding) {
	if a.Memory == 0 {
		return nil
	}
	for _, p := range look.Processes {
		if p.Limit <= 0 || p.Resident <= 0 {
			continue
		}
		share := float64(p.Resident) / float64(p.Limit)
		found = append(found, finding{
			kind: Memory, subject: p.Name(), value: share, threshold: a.Memory,
			bad: share >= a.Memory, good: share < calmShare*a.Memory,
			text: fmt.Sprintf("%s has %d of the %d MiB that it may have", p.Name(), p.Resident>>20, p.Limit>>20),
		})
	}
	return found
}

// Clone returns a deep copy of s.
func (s *State) Clone() State {
	c := *s
	c.Alerts, c.Outbox, c.Samples = slices.Clone(s.Alerts), slices.Clone(s.Outbox), slices.Clone(s.Samples)
	return c
}
