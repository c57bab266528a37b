package frontier

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Questions that the owner of a partition answers, on
// messages.SubjectFrontier.
const (
	opStatus  = "status"  // Question.Crawl → PartitionStatus
	opHosts   = "hosts"   // Question.Top → []HostStatus
	opExplain = "explain" // Question.Crawl and URL → Explanation
)

// Question is what one may ask a frontier.
type Question struct {
	Crawl string `json:"crawl,omitempty"`
	URL   string `json:"url,omitempty"`
	Top   int    `json:"top,omitempty"`
}

// PartitionStatus is how a crawl stands in one partition.
type PartitionStatus struct {
	Partition int                        `json:"partition"`
	Owner     string                     `json:"owner"`
	Epoch     uint64                     `json:"epoch"`
	Positions map[string]stages.Position `json:"positions"`
	Counters  Counters                   `json:"counters"`
}

// HostStatus is what the frontier knows of a host.
type HostStatus struct {
	Host     string `json:"host"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	NextMS   int64  `json:"next_ms"` // no request before, Unix ms
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
	Depth     int            `json:"depth"`
	Referrer  string         `json:"referrer,omitempty"`
	Sent      int            `json:"sent"`
	Failures  int            `json:"failures"`
	ChangedMS int64          `json:"changed_ms,omitempty"`
}

type failure struct {
	Error string `json:"error"`
}

// answer replies to a question.
func (p *partition) answer(m *nats.Msg) {
	var q Question
	var reply any
	err := json.Unmarshal(m.Data, &q)
	if err == nil {
		switch m.Subject {
		case messages.SubjectFrontier(opStatus, p.partition):
			reply = p.status(q.Crawl)
		case messages.SubjectFrontier(opHosts, p.partition):
			reply, err = p.slowest(q.Top)
		case messages.SubjectFrontier(opExplain, p.partition):
			reply, err = p.explain(q.Crawl, q.URL)
		case messages.SubjectFrontier(messages.OpWanted, p.partition):
			reply, err = p.wanted(m.Data)
		}
	}
	if err != nil {
		reply = failure{err.Error()}
	}
	text, err := json.Marshal(reply)
	if err == nil {
		err = m.Respond(text)
	}
	if err != nil {
		p.log.Debug("cannot answer", "subject", m.Subject, "error", err)
	}
}

// wanted answers a fetcher that was given a request again. Only when every
// result in the stream has been applied is it certain that there is none.
func (p *partition) wanted(payload []byte) (messages.Wanted, error) {
	ask, err := messages.DecodeRequest(payload)
	if err != nil {
		return messages.Wanted{}, err
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
	st := PartitionStatus{Partition: p.partition, Owner: p.store.ID, Epoch: p.epoch, Positions: p.positions}
	if c := p.crawls[crawl]; c != nil {
		st.Counters = c.Counters
	}
	return st
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
		all = append(all, p.describe(h))
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

func (p *partition) describe(h *host) HostStatus {
	st := HostStatus{
		Host: h.name, NextMS: h.Next / 1e6, Requests: h.Stats.Requests, Pages: h.Stats.Pages,
		Errors: h.Stats.Errors, Bytes: h.Stats.Bytes,
	}
	if live := p.hosts[h.name]; live != nil {
		st.InFlight = live.inFlight
	}
	for _, n := range h.Queued {
		st.Queued += n
	}
	if st.Requests > 0 {
		st.MeanMS = h.Stats.Millis / st.Requests
	}
	return st
}

func (p *partition) explain(crawl, url string) (Explanation, error) {
	id := urlID{crawl, messages.HashURL(url)}
	r, err := p.record(id)
	if err != nil || r == nil {
		return Explanation{URL: url}, err
	}
	return Explanation{
		Known: true, URL: r.URL, Visit: r.visit(id.hash), State: r.State.String(), Reason: r.Reason,
		Class: r.Class, Status: r.Status, Depth: r.Depth, Referrer: r.Referrer, Sent: r.Sent,
		Failures: r.Failures, ChangedMS: r.Changed,
	}, nil
}
