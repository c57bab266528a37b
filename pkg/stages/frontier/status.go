package frontier

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"seine/internal/politeness"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Questions that the owner of a partition answers, on
// messages.SubjectFrontier, and the one that any frontier answers.
const (
	opStatus  = "status"  // Question.Crawl → PartitionStatus
	opHosts   = "hosts"   // Question.Top → []HostStatus
	opHost    = "host"    // Question.Host → HostStatus
	opExplain = "explain" // Question.Crawl and URL → Explanation
	opControl = "control" // Control → {"rev": …}
)

// Question is what one may ask a frontier.
type Question struct {
	Crawl string `json:"crawl,omitempty"`
	URL   string `json:"url,omitempty"`
	Host  string `json:"host,omitempty"`
	Top   int    `json:"top,omitempty"`
}

// PartitionStatus is how a crawl stands in one partition.
type PartitionStatus struct {
	Partition int                        `json:"partition"`
	Owner     string                     `json:"owner"`
	Epoch     uint64                     `json:"epoch"`
	Positions map[string]stages.Position `json:"positions"`
	Counters  Counters                   `json:"counters"`
	// Late says that the crawl has had its max_duration.
	Late bool `json:"late,omitempty"`
	// Next is the host that is asked next, if all of the partition's must wait.
	Next *HostStatus `json:"next,omitempty"`
	// Reviewing says that URLs are still being judged by a changed spec.
	Reviewing bool `json:"reviewing,omitempty"`
}

// HostStatus is what the frontier knows of a host.
type HostStatus struct {
	Host     string `json:"host"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	// Why says what the host waits for, "" for nothing: delay, backoff,
	// retry_after, breaker_open, hours, parked (its crawl is paused or has spent
	// its budget), given_up.
	Why      string `json:"why,omitempty"`
	NextMS   int64  `json:"next_ms"`  // no request before, Unix ms
	DelayMS  int64  `json:"delay_ms"` // between a response and the next request
	IP       string `json:"ip,omitempty"`
	Requests int64  `json:"requests"`
	Pages    int64  `json:"pages"`
	Errors   int64  `json:"errors"`
	Bytes    int64  `json:"bytes"`
	MeanMS   int64  `json:"mean_ms"` // of a request
}

// Explanation is what became of a URL.
type Explanation struct {
	Known     bool           `json:"known"`
	URL       string         `json:"url"`
	Visit     messages.Visit `json:"visit,omitzero"`
	State     string         `json:"state,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Class     messages.Class `json:"class,omitempty"`
	Status    int            `json:"status,omitempty"`
	Priority  int            `json:"priority"`
	Depth     int            `json:"depth"`
	Referrer  string         `json:"referrer,omitempty"`
	Seed      bool           `json:"seed,omitempty"`
	Sent      int            `json:"sent"`
	Failures  int            `json:"failures"`
	ChangedMS int64          `json:"changed_ms,omitempty"`
	// NextMS is when it is tried or visited again, Unix ms; 0 if it is not, or
	// waits for its host.
	NextMS  int64     `json:"next_ms,omitempty"`
	History []Attempt `json:"history,omitempty"`
	// Host is that of the URL: why it waits.
	Host *HostStatus `json:"host,omitempty"`
}

// Attempt is how one request ended, of the last ones.
type Attempt struct {
	AtMS   int64          `json:"at_ms"` // Unix ms
	Class  messages.Class `json:"class"`
	Status int            `json:"status,omitempty"`
	TookMS int64          `json:"took_ms"`
}

type failure struct {
	Error string `json:"error"`
}

// answer replies to a question.
func (p *partition) answer(q query) {
	var about Question
	var reply any
	err := json.Unmarshal(q.Data(), &about)
	if err == nil {
		switch q.op {
		case opStatus:
			reply = p.status(about.Crawl)
		case opHosts:
			reply, err = p.slowest(about.Top)
		case opHost:
			reply, err = p.hostStatus(about.Host)
		case opExplain:
			reply, err = p.explain(about.Crawl, about.URL)
		case messages.OpWanted:
			reply, err = p.wantedBy(q.Data())
		}
	}
	if err := respond(q.Request, reply, err); err != nil {
		p.log.Debug("cannot answer", "question", q.op, "error", err)
	}
}

// wantedBy answers a fetcher that was given a request again. Only when every
// result in the stream has been applied is it certain that there is none.
func (p *partition) wantedBy(payload []byte) (messages.Wanted, error) {
	ask, err := messages.DecodeRequest(payload)
	if err != nil {
		return messages.Wanted{}, err
	}
	if p.replaying {
		return messages.Wanted{Behind: true}, nil
	}
	req := p.inFlight[urlID{ask.Crawl, ask.Visit.URL}]
	if req == nil || req.Round != ask.Visit.Round || req.Sent != ask.Attempt {
		return messages.Wanted{}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	last, err := lastSequence(ctx, p.f.bus.JS, messages.StreamResults, messages.SubjectResults(ask.Crawl, p.partition))
	if err != nil || last > p.positions[messages.StreamResults].Sequence {
		return messages.Wanted{Behind: true}, nil
	}
	return messages.Wanted{Wanted: true}, nil
}

func (p *partition) status(crawl string) PartitionStatus {
	st := PartitionStatus{Partition: p.partition, Owner: p.store.ID, Epoch: p.epoch, Positions: p.positions, Next: p.nextHost()}
	if c := p.crawls[crawl]; c != nil {
		st.Counters = c.Counters
		st.Late = c.rules != nil && c.quota.late(c.rules, p.f.now())
		st.Reviewing = c.Review != nil || c.Reseed != nil || c.unpark
	}
	return st
}

// nextHost returns the first host of the due index, nil if one is being served
// or none has work.
func (p *partition) nextHost() (next *HostStatus) {
	if len(p.ready) > 0 || len(p.inFlight) > 0 {
		return nil
	}
	pre := prefix(p.partition, kindDue)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(p.nextDue, 0)))
	_ = p.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		st, err := p.hostStatus(string(key[len(pre)+8:]))
		if err == nil && st.Why != "" {
			next = &st
		}
		return false, err
	})
	return next
}

// maxHostsScanned bounds the work of one question.
const maxHostsScanned = 100_000

// slowest returns the hosts with the longest mean request.
func (p *partition) slowest(top int) ([]HostStatus, error) {
	var all []HostStatus
	pre := prefix(p.partition, kindHost)
	scanned := 0
	err := p.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		h, err := decodeHost(string(key[len(pre):]), value)
		if err != nil {
			return false, err
		}
		scanned++
		st, err := p.describe(h)
		if err != nil {
			return false, err
		}
		all = append(all, st)
		if len(all) > 4*top+64 {
			all = keepSlowest(all, top)
		}
		return scanned < maxHostsScanned, nil
	})
	return keepSlowest(all, top), err
}

func keepSlowest(hs []HostStatus, top int) []HostStatus {
	slices.SortFunc(hs, func(a, b HostStatus) int { return int(b.MeanMS - a.MeanMS) })
	return hs[:min(len(hs), max(top, 0))]
}

func (p *partition) hostStatus(name string) (HostStatus, error) {
	h, err := p.host(name)
	if err != nil {
		return HostStatus{}, err
	}
	return p.describe(h)
}

func (p *partition) describe(h *host) (HostStatus, error) {
	if live := p.hosts[h.name]; live != nil {
		h = live
	}
	st := HostStatus{
		Host: h.name, Queued: h.queued(), InFlight: h.inFlight, IP: h.ip,
		Requests: h.stats.Requests, Pages: h.stats.Pages, Errors: h.stats.Errors, Bytes: h.stats.Bytes,
	}
	if st.Requests > 0 {
		st.MeanMS = h.stats.Millis / st.Requests
	}
	rules, err := p.rulesOf(h)
	if err == nil && rules == nil && len(h.work) > 0 { // nothing is wanted of it now
		r, rerr := p.rules(h.work[0].crawl, 0)
		if err = rerr; err == nil {
			rules = &r.paceOf(h.hostname()).Rules
		}
	}
	if err != nil {
		return st, fmt.Errorf("describe host %s: %w", h.name, err)
	}
	if rules != nil {
		p.describeWait(&st, h, rules, p.f.now())
	}
	if parked(h) {
		st.Why = "parked"
	}
	return st, nil
}

// parked reports whether all that is queued for a host is parked.
func parked(h *host) bool {
	for _, w := range h.work {
		if w.queued > 0 && !w.parked {
			return false
		}
	}
	return h.queued() > 0
}

func (p *partition) describeWait(st *HostStatus, h *host, rules *politeness.Rules, now int64) {
	st.DelayMS = h.polite.Delay(rules).Milliseconds()
	st.NextMS = max(h.polite.Earliest(rules, now), h.notBefore) / 1e6
	st.Why = string(h.polite.Phase(rules, now))
	if h.polite.GivenUp(rules) {
		st.Why = "given_up"
	}
}

func (p *partition) explain(crawl, url string) (Explanation, error) {
	rules, err := p.rules(crawl, 0)
	if err != nil {
		return Explanation{URL: url}, err
	}
	url = rules.normalize.Normalize(url)
	id := urlID{crawl, messages.HashURL(url)}
	r, err := p.record(id)
	if err != nil || r == nil {
		return Explanation{URL: url}, err
	}
	e := Explanation{
		Known: true, URL: r.URL, Visit: r.visit(id.hash), State: r.State.String(), Reason: r.Reason,
		Class: r.Class, Status: r.Status, Priority: int(r.Priority), Depth: r.Depth, Referrer: r.Referrer, Seed: r.Seed,
		Sent: r.Sent, Failures: r.Failures, ChangedMS: r.Changed, NextMS: r.Due / 1e6,
	}
	for _, a := range r.History {
		e.History = append(e.History, Attempt{AtMS: a.At, Class: a.Class, Status: a.Status, TookMS: a.Took})
	}
	h, err := p.hostStatus(rules.group(r.URL))
	e.Host = &h
	return e, err
}
