package state

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"seine/internal/base/tally"
	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
	"seine/pkg/stages/frontier/frontierapi"
)

// maxHostsScanned limits the work for one question.
const maxHostsScanned = 100_000

// maxHostWork limits how many crawls a HostStatus names.
const maxHostWork = 8

// maxNextScanned limits how many hosts of other crawls nextHost skips.
const maxNextScanned = 100

// nextHost returns the first host in the due index, of one crawl unless crawl is "". It returns nil
// if a host is being served or none has work.
func (q *Questions) nextHost(crawl string) (next *frontierapi.HostStatus) {
	if len(q.schedule.ready) > 0 || len(q.urls.inFlight) > 0 {
		return nil
	}
	scanned := 0
	_ = q.schedule.eachDue(math.MaxInt64, 1, func(name string) (bool, error) {
		scanned++
		st, err := q.hostStatus(name)
		if err == nil && crawl != "" && !worksFor(&st, crawl) {
			return scanned < maxNextScanned, nil
		}
		if err == nil && st.Why != "" {
			next = &st
		}
		return false, err
	})
	return next
}

// Slowest returns the hosts with the longest mean request duration, of one crawl unless crawl is
// "".
func (q *Questions) Slowest(crawl string, top int) ([]frontierapi.HostStatus, error) {
	var all []frontierapi.HostStatus
	_, err := q.eachHost(crawl, maxHostsScanned, func(st *frontierapi.HostStatus) {
		if all = append(all, *st); len(all) > 4*top+64 {
			all = frontierapi.KeepSlowest(all, top)
		}
	})
	return frontierapi.KeepSlowest(all, top), err
}

// eachHost calls do for the first most hosts in the store that a crawl wanted, or any crawl for "".
// It reports whether there are more. An unreadable host is skipped here, and rebuilt when it is
// loaded.
func (q *Questions) eachHost(crawl string, most int, do func(*frontierapi.HostStatus)) (partial bool, err error) {
	pre, scanned := table.Prefix(q.partition, kindHost), 0
	err = q.store.scan(pre, append(bytes.Clone(pre), afterDomains), func(key, value []byte) (bool, error) {
		if scanned++; scanned > most {
			partial = true
			return false, nil
		}
		h, err := decodeHost(string(key[len(pre):]), value)
		if err != nil || crawl != "" && !h.wants(crawl) {
			return true, nil
		}
		st, err := q.describe(h)
		if err == nil {
			do(&st)
		}
		return true, err
	})
	return partial, err
}

func (q *Questions) hostStatus(name string) (frontierapi.HostStatus, error) {
	h, err := q.hosts.host(name)
	if err != nil {
		return frontierapi.HostStatus{}, err
	}
	return q.describe(h)
}

// HostDetail returns the status of a host with its last results.
func (q *Questions) HostDetail(name string) (frontierapi.HostStatus, error) {
	st, err := q.hostStatus(name)
	if live := q.hosts.active[name]; err == nil && live != nil {
		st.Last = live.last.attempts()
	}
	return st, err
}

func (q *Questions) describe(h *host) (frontierapi.HostStatus, error) {
	if live := q.hosts.active[h.name]; live != nil {
		h = live
	}
	st := frontierapi.HostStatus{
		Host: h.name, Queued: h.queued(), InFlight: h.inFlight, IP: h.ip,
		Requests: h.stats.Requests, Pages: h.stats.Pages, Errors: h.stats.Errors, Bytes: h.stats.Bytes,
	}
	if st.Requests > 0 {
		st.MeanMS = h.stats.Millis / st.Requests
	}
	for _, w := range h.work {
		if w.queued+w.inFlight > 0 && len(st.Crawls) < maxHostWork && !q.crawls.isRemoved(w.crawl, h.written) {
			st.Crawls = append(st.Crawls, frontierapi.HostWork{Crawl: w.crawl, Queued: w.queued, InFlight: w.inFlight, Parked: w.parked})
		}
	}
	rules, err := q.hosts.rulesOf(h)
	if err == nil && rules == nil && len(h.work) > 0 { // no active queue
		r, rerr := q.crawls.specs.Rules(h.work[0].crawl, 0) // does not activate a dormant crawl
		if err = rerr; err == nil {
			rules = &r.paceOf(h.hostname()).Rules
		}
	}
	if err != nil {
		return st, fmt.Errorf("describe host %s: %w", h.name, err)
	}
	if rules != nil {
		q.describeWait(&st, h, rules, q.time.now())
	}
	if h.grouped {
		err = q.describeLine(&st, h, q.time.now())
	}
	if parked(h) {
		st.Why = "parked"
	}
	return st, err
}

// parked reports whether all queues of a host with URLs are parked.
func parked(h *host) bool {
	for _, w := range h.work {
		if w.queued > 0 && !w.parked {
			return false
		}
	}
	return h.queued() > 0
}

func (q *Questions) describeWait(st *frontierapi.HostStatus, h *host, rules *politeness.Rules, now int64) {
	st.DelayMS = h.polite.Delay(rules).Milliseconds()
	st.Failing, st.SlowedMS, st.CrawlDelayMS = h.polite.Failures(), h.polite.Slowed().Milliseconds(), h.polite.CrawlDelay().Milliseconds()
	st.NextMS = q.time.wallMS(max(q.time.earliest(&h.polite, rules, now), h.notBefore))
	st.Why = string(q.time.phase(&h.polite, rules, now))
	if h.polite.Abandoned(rules) {
		st.Why = "given_up"
	}
}

// describeLine adds the delay imposed by the host's domain.
func (q *Questions) describeLine(st *frontierapi.HostStatus, h *host, now int64) error {
	d, err := q.hosts.domains[h.domainName()], error(nil)
	if d == nil {
		d, err = q.hosts.readHost(h.domainName())
	}
	if err != nil || h.shared == nil {
		return err
	}
	st.DelayMS = max(st.DelayMS, d.polite.Delay(h.shared).Milliseconds())
	st.NextMS = max(st.NextMS, q.time.wallMS(q.time.earliest(&d.polite, h.shared, now)))
	if st.Why == "" {
		st.Why = string(q.time.phase(&d.polite, h.shared, now))
	}
	return nil
}

// Survey answers OpSurvey.
func (q *Questions) Survey(about frontierapi.Query) (frontierapi.Survey, error) {
	top := max(0, min(about.Top, maxSurveyTop))
	found, err := q.surveyHosts(about.Crawl, top)
	found.Troubles = q.requests.recentFailures.newest(about.Crawl, top)
	return found, err
}

func (q *Questions) surveyHosts(crawl string, top int) (out frontierapi.Survey, err error) {
	out.Partial, err = q.eachHost(crawl, maxSurveyed, func(st *frontierapi.HostStatus) {
		if worksFor(st, crawl) {
			addToSurvey(&out, st, top)
		}
	})
	out.Cut(top)
	return out, err
}

// worksFor reports whether a crawl, or any crawl for "", has queued or in-flight URLs at the host.
func worksFor(st *frontierapi.HostStatus, crawl string) bool {
	if crawl == "" {
		return len(st.Crawls) > 0
	}
	return slices.ContainsFunc(st.Crawls, func(w frontierapi.HostWork) bool { return w.Crawl == crawl })
}

func addToSurvey(s *frontierapi.Survey, st *frontierapi.HostStatus, top int) {
	why := st.Why
	switch {
	case why != "":
	case st.InFlight > 0:
		why = frontierapi.Asked
	default:
		why = frontierapi.Due
	}
	tally.Add(&s.Hosts, why, 1)
	s.Slowest, s.Longest, s.Busiest = append(s.Slowest, *st), append(s.Longest, *st), append(s.Busiest, *st)
	if len(s.Slowest) > 4*top+64 {
		s.Cut(top)
	}
}

const (
	// maxSurveyTop bounds each list of a Survey.
	maxSurveyTop = 100
	// maxSurveyed limits how many hosts one partition scans for a Survey; that takes some 50 ms.
	maxSurveyed = 20_000
)
