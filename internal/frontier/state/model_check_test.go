package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// model holds what follows from the inputs and outputs alone, and checks the invariants.
type model struct {
	*simEnv
	known map[urlID]*page
	open  map[rootOf]bool // hosts and domains of seeds
	under map[urlID]*modelRequest
	ended map[visitOf]messages.Class // visits whose last result was applied
	asked map[attemptOf]bool         // requests that were in FETCH
	pages map[string]int64           // by crawl
	// overtook counts pages whose result came after another one of the attempt, or while another
	// attempt was in flight.
	overtook map[string]int64
	hosts    map[string]*hostOracle // by name, domains prefixed with "*."
	runs     modelRuns
	figures  figures
	plans    plans
	labels   map[urlID]label
	steps    int
	// lost has the rounds of visits whose pages are lost, until other visits fetch these.
	lost map[urlID]uint64
	late map[urlID]uint64 // the same for pages that another parser received after all, perhaps after they were treated as lost
}

// page is a URL of a crawl.
type page struct {
	url      string
	seed     bool
	depth    int // minimum depth
	priority byte
	sent     int    // number of requests
	fetched  bool   // a page was fetched
	failed   uint64 // the last round with a failed attempt
	last     messages.Class
}

// modelRequest is a request without a result.
type modelRequest struct {
	round     uint64
	attempt   int
	host      string
	published bool
	lost      bool // it left FETCH without a result
}

type visitOf struct {
	id    urlID
	round uint64
}

type attemptOf struct {
	visitOf
	attempt int
}

// hostOracle tracks the requests to a host and when the next ones may be sent. Times are Unix ns.
type hostOracle struct {
	lastEnd    int64
	retryAfter int64 // no request before
	abandoned  int64 // no request before: an abandoned one may still be in flight
	crawlDelay time.Duration
	failures   int   // in a row
	probeAfter int64 // no request before, after too many failures in a row
	probing    bool  // a request began since
	heardAgain bool  // a new owner received failures again, and may count them differently
}

// step is the effect of a turn, reported to the model when it is durable.
type step struct {
	now     int64
	reached []*message
	applied []applied
	again   []sent
	fresh   []sent
}

// applied is a message, and whether it changed anything.
type applied struct {
	*message
	counted bool
}

// sent is a request as it was sent.
type sent struct {
	id      urlID
	url     string
	round   uint64
	attempt int
	host    string
	rank    rank
	run     int64
	recrawl bool
}

func (d *step) send(again, fresh []*Request) {
	for i, req := range slices.Concat(again, fresh) {
		o := sent{req.id, req.URL, req.Round, req.Sent, req.host.name, rankOf(req.urlRecord), req.SentRun, req.Recrawl}
		if i < len(again) {
			d.again = append(d.again, o)
		} else {
			d.fresh = append(d.fresh, o)
		}
	}
}

func newModel(r *simEnv) *model {
	return &model{
		simEnv: r, known: make(map[urlID]*page), open: make(map[rootOf]bool), under: make(map[urlID]*modelRequest),
		ended: make(map[visitOf]messages.Class), asked: make(map[attemptOf]bool), pages: make(map[string]int64), overtook: make(map[string]int64),
		hosts: make(map[string]*hostOracle), runs: newRuns(), figures: newFigures(), plans: newPlans(), labels: make(map[urlID]label),
		lost: make(map[urlID]uint64), late: make(map[urlID]uint64),
	}
}

func (m *model) host(name string) *hostOracle {
	if m.hosts[name] == nil {
		m.hosts[name] = &hostOracle{}
	}
	return m.hosts[name]
}

// committed records a turn that is durable.
func (m *model) committed(d *step) {
	for _, a := range d.applied {
		if a.result != nil {
			if a.counted {
				m.countResult(a.result)
			}
			m.result(a.result, a.counted, d.now)
		} else {
			m.fed(a.candidates)
			m.countFed(a.candidates, a.counted)
		}
	}
	for _, o := range d.again {
		m.resent(o)
	}
	for _, o := range d.fresh {
		m.sentInRun(o)
		m.sent(o, d.now)
	}
	m.check()
	m.order(d.fresh)
}

// deleted records that a crawl was deleted. None of its state counts any more, but its hosts have
// had requests, which may be in flight for the longest duration of a request.
func (m *model) deleted(name string, timeout time.Duration) {
	for id, f := range m.under {
		if id.crawl == name {
			m.abandoned(id, f, timeout)
		}
	}
	maps.DeleteFunc(m.under, func(id urlID, _ *modelRequest) bool { return id.crawl == name })
	maps.DeleteFunc(m.known, func(id urlID, _ *page) bool { return id.crawl == name })
	maps.DeleteFunc(m.ended, func(v visitOf, _ messages.Class) bool { return v.id.crawl == name })
	for _, of := range []map[urlID]uint64{m.lost, m.late} {
		maps.DeleteFunc(of, func(id urlID, _ uint64) bool { return id.crawl == name })
	}
	maps.DeleteFunc(m.open, func(r rootOf, _ bool) bool { return r.crawl == name })
	m.pages[name], m.overtook[name] = 0, 0
	maps.DeleteFunc(m.labels, func(id urlID, _ label) bool { return id.crawl == name })
	m.runs.forget(name)
	m.figures.forget(name)
}

// abandoned records that the result of a request will be ignored. A fetcher may have it for the
// longest duration of a request.
func (m *model) abandoned(id urlID, f *modelRequest, timeout time.Duration) {
	for _, l := range []*hostOracle{m.host(f.host), m.host(domainName(m.known[id].url))} {
		l.abandoned = max(l.abandoned, m.really()+int64(messages.ClaimTTL(timeout)))
	}
}

// handedOver records that another store takes over with a snapshot. It will not see anything of a
// crawl that was deleted since, so hosts may be as if without any requests. Nor does it know an
// attempt that was abandoned since, unless that is in FETCH. By a rule for statuses that came
// since, a URL may be retried after a response.
func (m *model) handedOver() {
	if len(m.deletions) > 0 {
		clear(m.hosts)
	}
	for _, l := range m.hosts {
		l.abandoned = 0
	}
	clear(m.runs.whole)
	maps.DeleteFunc(m.ended, func(_ visitOf, c messages.Class) bool { return c == messages.Gone || c == messages.ClientError })
}

// doomed reports whether the state of a crawl belongs to a deleted one.
func (m *model) doomed(crawl string) bool {
	d := m.deletions[crawl]
	if d == nil {
		return false
	}
	state, err := m.part.crawls.stateOf(crawl)
	m.must(err)
	return state.known() && state.Since < d.Rev
}

// isRemoving reports whether hosts and the index of times may still have state of a deleted crawl.
func (m *model) isRemoving(crawl string) bool {
	return m.doomed(crawl) || m.part.crawls.removals[crawl] != nil
}

// fed records a message of URLS that was acknowledged.
func (m *model) fed(c *messages.Candidates) {
	if m.ofDeleted(c.Crawl, c.Rev) {
		return
	}
	m.runs.fed(c)
	if c.Source == messages.SourceUnchanged {
		return
	}
	if ends := (urlID{c.Crawl, c.Ends.URL}); m.lost[ends] <= c.Ends.Round { // there was another page
		if m.lost[ends] == c.Ends.Round {
			m.late[ends] = c.Ends.Round
		}
		delete(m.lost, ends)
	}
	opens := c.Depth == 0 && c.Source != messages.SourceLink
	for _, u := range c.URLs {
		if u.URL == notURL {
			continue
		}
		id := urlID{c.Crawl, messages.HashURL(u.URL)}
		priority := byte(messages.DefaultPriority)
		if u.Priority != nil {
			priority = byte(*u.Priority)
		}
		p := m.known[id]
		m.labelled(c, &u, id, p != nil)
		if p == nil {
			p = &page{url: u.URL, depth: c.Depth, priority: priority}
			m.known[id] = p
		}
		p.depth, p.priority, p.seed = min(p.depth, c.Depth), min(p.priority, priority), p.seed || opens
		if opens {
			m.open[rootOf{id.crawl, weburl.Host(u.URL)}] = true
			m.open[rootOf{id.crawl, domainName(u.URL)}] = true
			m.host(weburl.Host(u.URL)).probeAfter = 0 // a person wants it
		}
	}
}

// rootOf is a host in scope, or "*." and a domain.
type rootOf struct{ crawl, root string }

// inScope reports whether a seed has opened the root of a URL.
func (m *model) inScope(id urlID) bool {
	url := m.known[id].url
	switch m.specs[id.crawl].Scope {
	case crawlspec.ScopeAny:
		return true
	case crawlspec.ScopeDomain:
		return m.open[rootOf{id.crawl, domainName(url)}]
	default:
		return m.open[rootOf{id.crawl, weburl.Host(url)}]
	}
}

// result records an applied result, perhaps a repeated one.
func (m *model) result(res *messages.Result, counted bool, now int64) {
	if m.ofDeleted(res.Crawl, res.Rev) {
		if counted {
			m.Fatalf("a result of %s was made for a crawl that was deleted, and counts", res.URL)
		}
		return
	}
	id := urlID{res.Crawl, res.Visit.URL}
	p, f := m.known[id], m.under[id]
	visit := visitOf{id, res.Visit.Round}
	awaited := f != nil && f.round == visit.round && f.attempt == res.Attempt
	if awaited && !counted {
		m.Fatalf("%s is under way as %+v, and its result changed nothing", m.describe(id), f)
	}
	retryable := m.compiled[res.Crawl].retryable(res)
	overtaken := !awaited && counted && f != nil && f.round == visit.round && (!retryable || res.Attempt > f.attempt)
	landed := awaited || overtaken
	if _, ended := m.ended[visit]; (f == nil || f.round > visit.round) && !ended && !retryable && counted {
		landed = true // of an abandoned request
	}
	host := m.host(weburl.Host(p.url))
	if counted { // for the first time, or again by an owner that began with an older snapshot
		p.last = res.Class
	}
	if !landed {
		if counted && unwell(res) == 0 { // a new owner receives it for the first time
			host.failures, host.probeAfter, host.heardAgain = 0, 0, false
		}
		host.heardAgain = host.heardAgain || counted && unwell(res) > 0
		if counted && retryable && res.Class != messages.RobotsFetched {
			p.failed = visit.round // so the next failure is not its first
		}
		return
	}
	if f != nil && f.round == visit.round {
		delete(m.under, id)
	}
	if overtaken && f.published && !m.restored { // a fetcher may still have the other attempt; a new owner learns of it from FETCH
		m.abandoned(id, f, time.Duration(m.specs[res.Crawl].Timeout))
	}
	host.heard(res, now)
	m.host(domainName(p.url)).heard(res, now)
	if b := &m.specs[res.Crawl].Breaker; unwell(res) > 0 && (p.failed != visit.round || host.failures >= b.Failures) {
		host.failed(b, now) // a repeated failure of a URL says nothing new about its host
	}
	if retryable && res.Class != messages.RobotsFetched {
		p.failed = visit.round
	}
	if !retryable {
		m.ended[visit] = res.Class
	}
	if res.Class == messages.OK {
		if !awaited {
			m.overtook[res.Crawl]++
		}
		m.pages[res.Crawl]++
		p.fetched = true
	}
}

// unwell returns 1 for a result that shows a host to be failing, 0 for one that shows it to be
// healthy, -1 for one that says nothing about it.
func unwell(res *messages.Result) int {
	switch res.Class {
	case messages.RobotsFetched, messages.RobotsDenied, messages.RefusedAddress:
		return -1
	case messages.ServerError, messages.DNSFailure, messages.ConnectFailure, messages.TLSFailure,
		messages.Timeout, messages.Stalled, messages.ProtocolError:
		if res.Class == messages.ServerError && res.Status < 500 {
			return 0
		}
		return 1
	default:
		return 0
	}
}

// heard records a response.
func (l *hostOracle) heard(res *messages.Result, now int64) {
	if res.CrawlDelay != nil {
		l.crawlDelay = time.Duration(*res.CrawlDelay)
	}
	if res.IP == "" && (res.Class == messages.RobotsDenied || res.Class == messages.RefusedAddress) {
		return // nothing was sent
	}
	l.lastEnd = now
	if res.Class == messages.Throttled || res.Class == messages.Blocked || res.Class == messages.ServerError && res.Status >= 500 {
		l.retryAfter = max(l.retryAfter, now+int64(min(time.Duration(res.RetryAfter), 24*time.Hour)))
	}
	if unwell(res) == 0 {
		l.failures, l.probeAfter, l.heardAgain = 0, 0, false
	}
}

// failed counts failures in a row, and makes the host wait after too many.
func (l *hostOracle) failed(b *crawlspec.Breaker, now int64) {
	l.failures++
	if l.failures == b.Failures || l.failures > b.Failures && l.probing {
		l.probeAfter, l.probing = now+int64(b.Wait), false
	}
}

// resent checks a request that is published again because it was lost.
func (m *model) resent(o sent) {
	f := m.under[o.id]
	if f == nil || f.round != o.round || o.attempt < f.attempt {
		m.Fatalf("%s was sent again in round %d, attempt %d; under way is %+v", m.describe(o.id), o.round, o.attempt, f)
	}
	if o.attempt > f.attempt {
		f.attempt, f.published, f.lost = o.attempt, false, false
	}
	m.notEnded(o)
}

func (m *model) notEnded(o sent) {
	visit := visitOf{o.id, o.round}
	if class, ended := m.ended[visit]; ended {
		m.Fatalf("%s was sent in round %d, attempt %d, which had ended with %s", m.describe(o.id), o.round, o.attempt, class)
	}
}

// sent checks a request that the partition decided to send.
func (m *model) sent(o sent, now int64) {
	p := m.known[o.id]
	_, state := m.specs[o.id.crawl].HostPoliteness(weburl.Hostname(o.url))
	switch f := m.under[o.id]; {
	case p == nil:
		m.Fatalf("%s was sent, and nobody fed it", o.url)
	case f != nil:
		m.Fatalf("%s was sent in round %d, attempt %d, while %+v is under way", m.describe(o.id), o.round, o.attempt, f)
	case m.asked[attemptOf{visitOf{o.id, o.round}, o.attempt}]:
		m.Fatalf("%s was sent twice in round %d, attempt %d", m.describe(o.id), o.round, o.attempt)
	case state != crawlspec.Running:
		m.Fatalf("%s was sent although its host is %s", m.describe(o.id), state)
	}
	m.notEnded(o)
	if reason := m.reason(o.id, -1); reason != "" {
		m.Fatalf("%s was sent although it is excluded by %s", m.describe(o.id), reason)
	}
	if m.fetchesLost(o) {
		m.figures.fetched[o.id] = "" // it counts as changed
		delete(m.lost, o.id)
	}
	m.polite(o, now)
	p.sent++
	m.host(o.host).probing = true
	m.under[o.id] = &modelRequest{round: o.round, attempt: o.attempt, host: o.host}
	m.limits(o)
}

// polite checks a request against the limits of its host and domain.
func (m *model) polite(o sent, now int64) {
	own := m.pace(o.id.crawl, o.host)
	m.politeTo(o, m.host(o.host), now, func(host string) bool { return host == o.host })
	if b, l := own.Breaker, m.host(o.host); b.Failures > 0 && l.failures >= b.Failures && !l.heardAgain && now < l.probeAfter {
		m.Fatalf("%s was sent %v before the breaker allows: %+v", m.describe(o.id), time.Duration(l.probeAfter-now), *l)
	}
	if m.specs[o.id.crawl].GroupBy == crawlspec.GroupByDomain {
		shared := *m.host(domainName(o.url))
		shared.crawlDelay = 0
		m.politeTo(o, &shared, now, func(host string) bool { return domainName("https://"+host+"/") == domainName(o.url) })
	}
}

// politeTo checks a request against the limits of a host or a domain.
func (m *model) politeTo(o sent, l *hostOracle, now int64, of func(host string) bool) {
	own := m.pace(o.id.crawl, o.host)
	beside, delay, perHost := 0, m.delay(own, l), own.PerHost
	for id, f := range m.under {
		if of(f.host) {
			beside++
			if f.host == o.host {
				other := m.pace(id.crawl, o.host)
				delay, perHost = max(delay, m.delay(other, l)), min(perHost, other.PerHost)
			}
		}
	}
	tooSoon := func(until int64, what string) {
		if now < until {
			m.Fatalf("%s was sent %v before %s allows: %+v", m.describe(o.id), time.Duration(until-now), what, *l)
		}
	}
	if l.lastEnd != 0 {
		tooSoon(l.lastEnd+int64(m.delay(own, l)), "the delay")
	}
	tooSoon(l.retryAfter, "Retry-After")
	tooSoon(l.abandoned, "a request that was abandoned")
	if beside > 0 && (delay > 0 || beside >= perHost) {
		m.Fatalf("%s was sent beside %d requests to %s; the delay is %v, per_host %d", m.describe(o.id), beside, o.host, delay, perHost)
	}
}

// pace returns a crawl's politeness for a host.
func (m *model) pace(crawl, host string) modelPace {
	spec := m.specs[crawl]
	p, _ := spec.HostPoliteness(weburl.Hostname("http://" + host + "/"))
	return modelPace{p, spec.Robots == crawlspec.RobotsObey}
}

type modelPace struct {
	crawlspec.Politeness
	crawlDelay bool
}

func (m *model) delay(p modelPace, l *hostOracle) time.Duration {
	d := time.Duration(p.Delay)
	if p.crawlDelay {
		d = max(d, min(l.crawlDelay, time.Duration(p.MaxDelay)))
	}
	return d
}

// limits checks fetched pages and in-flight requests against the budgets.
func (m *model) limits(o sent) {
	spec := m.specs[o.id.crawl]
	under, ofHost := int64(0), int64(0)
	for id := range m.under {
		if id.crawl == o.id.crawl {
			under++
			if m.group(m.known[id].url, spec) == m.group(o.url, spec) && !m.known[id].fetched {
				ofHost++
			}
		}
	}
	most := spec.MaxPages
	if m.moved { // by the current spec, the first result of an attempt may have ended the visit
		most += m.overtook[o.id.crawl]
	}
	if spec.MaxPages > 0 && m.pages[o.id.crawl]+under > most {
		m.Fatalf("%s was sent: %d pages were fetched and %d are under way, of %d", m.describe(o.id), m.pages[o.id.crawl], under, spec.MaxPages)
	}
	for id, p := range m.known {
		if id.crawl == o.id.crawl && p.fetched && m.group(p.url, spec) == m.group(o.url, spec) {
			ofHost++
		}
	}
	if limit := spec.MaxPagesPerHost; limit > 0 && !m.known[o.id].fetched && ofHost > limit {
		m.Fatalf("%s was sent: %d pages of %s were fetched or are under way, of %d", m.describe(o.id), ofHost, o.host, limit)
	}
}

// reason returns the rule that excludes a URL, "" if none does. A depth of -1 stands for the lowest
// depth at which it was found.
func (m *model) reason(id urlID, depth int) string {
	p, spec := m.known[id], m.specs[id.crawl]
	if depth < 0 {
		depth = p.depth
	}
	_, state := spec.HostPoliteness(weburl.Hostname(p.url))
	switch {
	case !m.inScope(id):
		return frontierapi.ReasonScope
	case len(spec.Exclude) > 0 && strings.Contains(p.url, strings.Trim(spec.Exclude[0], "*")):
		return frontierapi.ReasonExclude
	case spec.MaxDepth != nil && depth > *spec.MaxDepth:
		return frontierapi.ReasonDepth
	case state == crawlspec.Cancelled:
		return frontierapi.ReasonCancelled
	}
	return ""
}

// order checks that the requests of a crawl to a host were sent by priority, depth and time of
// discovery, and before all URLs left in its queue.
func (m *model) order(out []sent) {
	type queue struct{ host, crawl string }
	last := make(map[queue]rank)
	for _, o := range out {
		q := queue{o.host, o.id.crawl}
		if before, ok := last[q]; ok && o.rank.compare(before) < 0 {
			m.Fatalf("%s with %v was sent after one with %v", m.describe(o.id), o.rank, before)
		}
		last[q] = o.rank
	}
	if len(last) == 0 {
		return
	}
	for id, r := range m.load().records {
		worst, ok := last[queue{weburl.Host(r.URL), id.crawl}]
		if ok && r.State == Queued && rankOf(r).compare(worst) < 0 {
			m.Fatalf("%s with %v is left in its queue, and one with %v was sent", m.describe(id), rankOf(r), worst)
		}
	}
}

// rank is the order of the URLs of a host: lower ranks are sent first.
type rank [3]uint64

func rankOf(r *urlRecord) rank { return rank{uint64(r.Priority), uint64(r.Depth), r.Arrival} }

func (k rank) compare(o rank) int { return slices.Compare(k[:], o[:]) }

// published checks a request that is in FETCH now.
func (m *model) published(wire *messages.Request) {
	id := urlID{wire.Crawl, wire.Visit.URL}
	m.conditional(wire)
	m.wantsPage(wire)
	m.recorded(wire)
	m.sentLabel(wire)
	m.asked[attemptOf{visitOf{id, wire.Visit.Round}, wire.Attempt}] = true
	if f := m.under[id]; f != nil && f.attempt == wire.Attempt {
		f.published = true
	}
}

// vanished records that a request left FETCH without a result.
func (m *model) vanished(req *messages.Request) {
	if f := m.under[urlID{req.Crawl, req.Visit.URL}]; f != nil && f.round == req.Visit.Round && f.attempt == req.Attempt {
		f.lost = true
	}
}

// opened compares the in-flight requests after a start with those before.
func (m *model) opened(restored bool) {
	if restored {
		return // it is behind, and will catch up
	}
	for id, f := range m.under {
		if m.part.urls.inFlight[id] == nil {
			m.Fatalf("%s, under way as %+v, is not after a restart", m.describe(id), f)
		}
	}
}

// resumed compares the in-flight requests after a complete replay: none may be forgotten or
// invented.
func (m *model) resumed(restored bool) {
	for id, f := range m.under {
		req := m.part.urls.inFlight[id]
		switch {
		case req != nil && req.Round == f.round && (req.Sent == f.attempt || restored && (f.lost || !f.published)):
			f.attempt = req.Sent
		case restored && (f.lost || !f.published):
			delete(m.under, id) // it is lost
			for attempt := range f.attempt {
				delete(m.asked, attemptOf{visitOf{id, f.round}, attempt + 1})
			}
		case req == nil:
			m.Fatalf("%s is in FETCH or at a fetcher as %+v, and the new owner does not know", m.describe(id), f)
		default:
			m.Fatalf("%s is under way as %+v, and the new owner takes it for round %d, attempt %d", m.describe(id), f, req.Round, req.Sent)
		}
	}
	for id, req := range m.part.urls.inFlight {
		if m.under[id] == nil && !m.doomed(id.crawl) {
			m.Fatalf("%s is taken to be under way in round %d, attempt %d, and is not", m.describe(id), req.Round, req.Sent)
		}
	}
}

// stored is the decoded content of the store.
type stored struct {
	doomed   func(crawl string) bool
	records  map[urlID]*urlRecord
	old      map[urlID]*urlRecord // of crawls that are being removed
	queues   map[string][]queueKey
	due      map[string][]int64
	hosts    map[string]*host
	domains  map[string]*host
	lines    map[[2]string][]int64 // by domain and host
	retries  map[string]bool       // keys
	waits    map[urlID]bool        // URLs with such a key
	inFlight map[urlID]bool
	failed   map[urlID]bool
	oldSent  map[urlID]bool    // the same for crawls that are being removed
	named    map[string]string // crawls named by a key, with one of the keys
	parked   map[[2]string]bool
	barred   map[[2]string]bool // by crawl and host
	counters map[string]*crawlState
	runs     map[runOf]*frontierapi.Run
	labels   map[urlID]*metadata
	earliest [2]int64 // keys of the due index, and of the retry index
}

func (m *model) load() *stored {
	st := &stored{
		doomed: m.doomed, old: make(map[urlID]*urlRecord), oldSent: make(map[urlID]bool), named: make(map[string]string), waits: make(map[urlID]bool),
		records: make(map[urlID]*urlRecord), queues: make(map[string][]queueKey), due: make(map[string][]int64),
		hosts: make(map[string]*host), domains: make(map[string]*host), lines: make(map[[2]string][]int64), retries: make(map[string]bool), inFlight: make(map[urlID]bool), failed: make(map[urlID]bool),
		parked: make(map[[2]string]bool), barred: make(map[[2]string]bool), counters: make(map[string]*crawlState), runs: make(map[runOf]*frontierapi.Run), labels: make(map[urlID]*metadata),
	}
	m.must(m.store.scan(table.Partition(0), nil, func(key, value []byte) (bool, error) {
		return true, st.add(key[2], key[3:], value)
	}))
	return st
}

// add decodes a pair; key is the rest after partition and kind.
func (st *stored) add(kind byte, key, value []byte) (err error) {
	switch kind {
	case kindURL, kindInFlight:
		name, hash, err := table.CutName(key)
		if err != nil {
			return err
		}
		id := urlID{name, messages.URLHash(hash)}
		records, sent := st.records, st.inFlight
		if st.doomed(name) {
			records, sent = st.old, st.oldSent
		}
		if kind == kindInFlight {
			sent[id] = true
			return nil
		}
		if records[id], err = decodeRecord(value); err == nil && records[id].Metadata != nil {
			st.labels[id] = records[id].Metadata
		}
		return err
	case kindFailed:
		id, ok := idAtEnd(key)
		if !ok {
			return fmt.Errorf("failed key %q", key)
		}
		if !st.doomed(id.crawl) {
			st.failed[id] = true
		}
	case kindSeed, kindInherited, kindOrder, kindOpened, kindOpening, kindBarred, kindLinks, kindUnchanged:
		name, rest, err := table.CutName(key)
		st.named[name] = string(kind) + string(key)
		if kind == kindBarred {
			st.barred[[2]string{name, rootAtEnd(rest).host}] = true
		}
		return err
	case kindQueue:
		n := len(key) - len(queueKey{})
		_, rest, err := table.CutName(key)
		if err != nil {
			return err
		}
		name, _, err := table.CutName(rest)
		st.named[name] = string(kind) + string(key)
		if err != nil {
			return err
		}
		st.queues[string(key[:n])] = append(st.queues[string(key[:n])], queueKey(key[n:]))
	case kindDue:
		name := string(key[8:])
		st.due[name] = append(st.due[name], int64(binary.BigEndian.Uint64(key)))
		if st.earliest[0] == 0 {
			st.earliest[0] = st.due[name][0]
		}
	case kindHost:
		h, err := decodeHost(string(key), value)
		if isDomain(string(key)) {
			st.domains[string(key[1:])] = h
		} else {
			st.hosts[string(key)] = h
		}
		for i := 0; err == nil && i < len(h.work); i++ {
			st.named[h.work[i].crawl] = string(kind) + string(key)
		}
		return err
	case kindLine:
		name, rest, err := table.CutName(key)
		at := [2]string{name, string(rest[8:])}
		st.lines[at] = append(st.lines[at], int64(binary.BigEndian.Uint64(rest)))
		return err
	case kindRetry:
		st.retries[string(key)] = true
		if st.earliest[1] == 0 {
			st.earliest[1] = int64(binary.BigEndian.Uint64(key))
		}
		id, ok := idAtEnd(key[8:])
		if !ok {
			return fmt.Errorf("retry key %q", key)
		}
		st.waits[id] = true
		st.named[id.crawl] = string(kind) + string(key)
	case kindParked:
		crawl, name, err := table.CutName(key)
		st.parked[[2]string{crawl, string(name)}] = true
		st.named[crawl] = string(kind) + string(key)
		return err
	case kindRun:
		name, run, err := table.CutName(key)
		if err != nil {
			return err
		}
		st.named[name] = string(kind) + string(key)
		r := new(frontierapi.Run)
		st.runs[runOf{name, int64(binary.BigEndian.Uint64(run))}] = r
		return json.Unmarshal(value, r)
	case kindCounters:
		var c crawlState
		err = json.Unmarshal(value, &c)
		st.counters[string(key)] = &c
	}
	return err
}

// check compares the complete store with itself, with the partition and with the model. It is
// called after every commit.
func (m *model) check() {
	m.steps++
	if len(m.part.loggedRepairs) > 0 { // includes transitions that urlLife lacks
		m.Fatalf("the store was found wrong in %v", slices.Collect(maps.Keys(m.part.loggedRepairs)))
	}
	st := m.load()
	m.figures.noteGivenUp(st)
	m.noteWholeRuns()
	m.checkStored()
	m.checkForgotten(st)
	m.checkDerived()
	m.checkKnown(st)
	m.checkCounters(st)
	m.checkUnparsed(st)
	m.checkExamples(st)
	m.checkFigures(st)
	m.checkListed()
	m.checkQueues(st)
	m.checkHosts(st)
	m.checkIndexes(st)
	m.checkSchedules()
	m.checkSeeds(st)
	m.checkLabels(st)
	m.checkAddresses()
	m.checkBarred(st)
	m.checkRules(st)
	m.checkRuns(st)
	m.checkPlans(st)
}

// checkStored: a commit leaves nothing unstored.
func (m *model) checkStored() {
	for name, c := range m.part.crawls.active {
		if c.dirty {
			m.Fatalf("crawl %s is not stored after a commit", name)
		}
	}
}

// indexKinds are all kinds of index keys.
const indexKinds = "QRIfEOTLZYc"

// checkDerived: indexes contain exactly the keys that records derive. While a crawl is being
// removed, they may have more.
func (m *model) checkDerived() {
	if m.isRemoving("c") || m.isRemoving("d") {
		return
	}
	has, lacks := table.NewTurn(m.store.db, 0), table.NewTurn(m.store.db, 1)
	defer has.Close()
	defer lacks.Close()
	indexed, derived := make(map[byte]int), make(map[byte]int) // by kind
	m.must(m.store.scan(table.Partition(0), nil, func(key, value []byte) (bool, error) {
		switch kind, rest := key[2], key[3:]; kind {
		case kindURL:
			id, _ := idAtEnd(rest)
			r, err := decodeRecord(value)
			return true, errors.Join(err, verifyRecord(m, &urlTable, id, r, has, lacks, derived))
		case kindHost:
			h, err := decodeHost(string(rest), value)
			return true, errors.Join(err, verifyRecord(m, &hostTable, string(rest), h, has, lacks, derived))
		case kindCounters:
			c, err := decodeCrawl(string(rest), value)
			return true, errors.Join(err, verifyRecord(m, &crawlTable, string(rest), c, has, lacks, derived))
		default:
			if strings.IndexByte(indexKinds, kind) >= 0 {
				indexed[kind]++
			}
			return true, nil
		}
	}))
	if !maps.Equal(indexed, derived) {
		m.Fatalf("indexes have %v keys by kind, records derive %v", indexed, derived)
	}
}

// verifyRecord compares the index keys of a record with the store, and counts them: an empty
// partition lacks them all.
func verifyRecord[K any, V table.Record[K]](m *model, t *table.Table[K, V], key K, v V, has, lacks *table.Turn, derived map[byte]int) error {
	t.Stored(has, key, v)
	err := has.Verify(v, func(kind byte) { m.Fatalf("an index lacks a key of kind %c, which record %v derives", kind, key) })
	return errors.Join(err, lacks.Verify(v, func(kind byte) { derived[kind]++ }))
}

// checkForgotten: once a deleted crawl is removed, no key names it except those of a new crawl of
// the name.
func (m *model) checkForgotten(st *stored) {
	for name, key := range st.named {
		if st.counters[name] == nil && !m.isRemoving(name) {
			m.Fatalf("key %q names crawl %s, of which nothing is known", key, name)
		}
	}
	for id := range st.waits {
		if st.records[id] == nil && !m.isRemoving(id.crawl) {
			m.Fatalf("URL %s of %s is to be visited again, and is not known", id.hash, id.crawl)
		}
	}
	for name, d := range m.deletions {
		if c := m.part.crawls.active[name]; c != nil && c.known() && c.Since > d.Rev {
			m.Fatalf("crawl %s came after deletion %d, by its state after %d", name, d.Rev, c.Since)
		}
	}
}

// checkKnown: exactly the acknowledged URLs are known.
func (m *model) checkKnown(st *stored) {
	for id, p := range m.known {
		if st.records[id] == nil && !m.restored {
			m.Fatalf("%s was acknowledged, and is not known", m.describe(id))
		} else if r := st.records[id]; r != nil && r.URL != p.url {
			m.Fatalf("%s is stored as %s", m.describe(id), r.URL)
		}
	}
	for id, r := range st.records {
		if m.known[id] == nil {
			m.Fatalf("%s is known, and nobody fed it", r.URL)
		}
	}
}

// checkCounters: the counters equal a count of the records.
func (m *model) checkCounters(st *stored) {
	counted := make(map[string]*frontierapi.Counters)
	for id, r := range st.records {
		if counted[id.crawl] == nil {
			counted[id.crawl] = &frontierapi.Counters{}
		}
		c := counted[id.crawl]
		if r.State < Queued || r.State > Excluded {
			m.Fatalf("%s is in no state: %v", m.describe(id), r.State)
		}
		if st.failed[id] != (r.State == Failed) {
			m.Fatalf("%s is %v, and in the list of those that failed: %v", m.describe(id), r.State, st.failed[id])
		}
		delete(st.failed, id)
		countRecord(c, r, 1)
		if r.State.ended() && r.Due != 0 {
			c.Planned++
		}
	}
	for id := range st.failed {
		m.Fatalf("%s is in the list of those that failed, and not known", m.describe(id))
	}
	for name, want := range counted {
		got := st.counters[name]
		if got == nil {
			m.Fatalf("crawl %s has no counters", name)
		}
		reduced := frontierapi.Counters{
			Queued: got.Queued, InFlight: got.InFlight, Waiting: got.Waiting, Parsing: got.Parsing, Done: got.Done,
			Failed: got.Failed, Planned: got.Planned, Recrawling: got.Recrawling, FailedBy: got.FailedBy, Excluded: got.Excluded,
			LeftOut: got.LeftOut,
		}
		if a, b := mustText(reduced), mustText(want); a != b {
			m.Fatalf("crawl %s has counters %s, and records that make %s", name, a, b)
		}
		if got.Pages != m.pages[name] && !m.moved {
			m.Fatalf("crawl %s counts %d pages, and %d came", name, got.Pages, m.pages[name])
		}
	}
}

// checkExamples: an example is a URL that ended by its reason.
func (m *model) checkExamples(st *stored) {
	for name, c := range st.counters {
		if st.doomed(name) {
			continue // its remains are removed with the rest
		}
		for state, all := range map[State]map[string]frontierapi.Example{Failed: c.Examples.Failures, Excluded: c.Examples.Exclusions, Done: c.Examples.LeftOut} {
			for why, e := range all {
				r := st.records[urlID{name, messages.HashURL(e.URL)}]
				if r == nil || r.State != state || r.endedBy() != why {
					m.Fatalf("crawl %s has %+v for an example of %s, and its record is %+v", name, e, why, r)
				}
			}
		}
	}
}

func mustText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// checkQueues: every queued URL is in its queue once, at its position, and nothing else is. The
// windows in memory are the heads of the queues.
func (m *model) checkQueues(st *stored) {
	want := make(map[string][]queueKey)
	for id, r := range st.records {
		if r.State == Queued {
			key := string(m.part.queuePrefix(weburl.Host(r.URL), id.crawl)[3:])
			want[key] = append(want[key], newQueueKey(r, id.hash))
		}
	}
	for key, places := range want {
		slices.SortFunc(places, compareQueueKeys)
		if !slices.Equal(places, st.queues[key]) {
			m.Fatalf("queue %q has %d URLs, and there are %d for it", key, len(st.queues[key]), len(places))
		}
	}
	for key, places := range st.queues {
		_, crawl, _ := strings.Cut(key, "\x00")
		if want[key] == nil && !m.isRemoving(strings.TrimSuffix(crawl, "\x00")) {
			m.Fatalf("queue %q has %d URLs, and there is none for it", key, len(places))
		}
	}
	windows := 0
	for _, h := range m.part.hosts.active {
		for _, w := range h.work {
			if w.queue != nil {
				windows++
				if len(w.changes) > 0 {
					m.Fatalf("after a commit the queue of %s has changes", h.name)
				}
				m.checkWindow(w.queue, st.queues[string(m.part.queuePrefix(h.name, w.crawl)[3:])], h.name)
			}
		}
	}
	if windows != m.part.hosts.windows {
		m.Fatalf("%d windows are counted, there are %d", m.part.hosts.windows, windows)
	}
}

func (m *model) checkWindow(q *queue, all []queueKey, host string) {
	n := len(all)
	if q.more {
		n, _ = slices.BinarySearchFunc(all, q.passed, compareQueueKeys)
		if n < len(all) && all[n] == q.passed {
			n++
		}
	}
	if !slices.Equal(q.window, all[:n]) {
		m.Fatalf("the window on %s has %d URLs, and should have %d of %d", host, len(q.window), n, len(all))
	}
}

// checkHosts: the counts of hosts are correct, hosts in memory equal those in the store, and a host
// with URLs to fetch is in the due index once.
func (m *model) checkHosts(st *stored) {
	under, lines := make(map[string]int), make(map[string]int)
	for id := range st.inFlight {
		under[weburl.Host(st.records[id].URL)]++
		under[domainName(st.records[id].URL)]++
	}
	for id := range st.oldSent {
		under[weburl.Host(st.old[id].URL)]++
		under[domainName(st.old[id].URL)]++
	}
	for name, h := range st.hosts {
		waiting := false
		for _, w := range h.work {
			if n := len(st.queues[string(m.part.queuePrefix(name, w.crawl)[3:])]); w.queued != n {
				m.Fatalf("host %s counts %d URLs of %s, and has %d", name, w.queued, w.crawl, n)
			}
			if w.parked != st.parked[[2]string{w.crawl, name}] && !m.doomed(w.crawl) {
				m.Fatalf("host %s is parked for %s: %v, by the index the opposite", name, w.crawl, w.parked)
			}
			waiting = waiting || w.queued > 0 && !w.parked
		}
		due := st.due[name]
		if h.line != "" {
			due = st.lines[[2]string{h.line, name}]
			lines[h.line]++
		}
		switch {
		case len(due) > 1 || len(due) == 1 && due[0] != h.due || len(due) == 0 && h.due != 0:
			m.Fatalf("host %s is due at %d, by the index at %d", name, h.due, due)
		case h.due-m.at() > lookAgain:
			m.Fatalf("host %s is not looked at for %v", name, time.Duration(h.due-m.at()))
		case !waiting && h.due != 0:
			m.Fatalf("host %s is due, and has nothing to ask for", name)
		case waiting && h.due == 0 && under[name] == 0:
			m.Fatalf("host %s has something to ask for, and is never due", name)
		}
	}
	for name := range st.due {
		if !strings.HasPrefix(name, lineMark) && (st.hosts[name] == nil || st.hosts[name].line != "") {
			m.Fatalf("host %s is due, and not known, or in a line", name)
		}
	}
	m.checkDomains(st, lines, under)
	for name, h := range m.part.hosts.active {
		if h.dirty {
			m.Fatalf("host %s is not stored after a commit", name)
		}
		if h.inFlight != under[name] {
			m.Fatalf("host %s counts %d requests under way, there are %d", name, h.inFlight, under[name])
		}
		old := st.hosts[name]
		if old != nil && (old.polite != h.polite || old.due != h.due || old.stats != h.stats || old.ip != h.ip) {
			m.Fatalf("host %s is %+v in memory, and %+v in the store", name, h, old)
		}
	}
}

// checkDomains: the lines contain the waiting hosts, and every host in a line is known to its
// domain.
func (m *model) checkDomains(st *stored, lines, under map[string]int) {
	entries := 0
	for _, due := range st.lines {
		entries += len(due)
	}
	for name, n := range lines {
		d := st.domains[name]
		if d == nil || !d.lined {
			m.Fatalf("domain %s has %d hosts in its line, and is %+v", name, n, d)
		}
		if d.due == 0 && under["*."+name] == 0 {
			m.Fatalf("domain %s has %d hosts in its line, and is never due", name, n)
		}
		entries -= n
	}
	if entries != 0 {
		m.Fatalf("%d hosts are in lines that they do not know of", entries)
	}
	for name, d := range st.domains {
		due := st.due[lineMark+name]
		if len(due) > 1 || len(due) == 1 && due[0] != d.due || len(due) == 0 && d.due != 0 {
			m.Fatalf("domain %s is due at %d, by the index at %d", name, d.due, due)
		}
	}
	for name, d := range m.part.hosts.domains {
		name = name[1:]
		if d.dirty || d.held || d.inFlight != under["*."+name] {
			m.Fatalf("domain %s is %+v after a commit; %d requests are under way", name, d, under["*."+name])
		}
		if old := st.domains[name]; old != nil && (old.polite != d.polite || old.due != d.due) {
			m.Fatalf("domain %s is %+v in memory, and %+v in the store", name, d, old)
		}
	}
}

// domainName returns the name of a URL's domain among hosts.
func domainName(url string) string { return "*." + weburl.Domain(weburl.Hostname(url)) }

// group returns the host of a URL, or its domain if the crawl groups by domain.
func (m *model) group(url string, spec *crawlspec.Spec) string {
	if spec.GroupBy == crawlspec.GroupByDomain {
		return domainName(url)
	}
	return weburl.Host(url)
}

// checkIndexes: requests in flight, retries and planned visits are in their indexes.
func (m *model) checkIndexes(st *stored) {
	for id, r := range st.records {
		if (r.State == InFlight) != st.inFlight[id] || st.inFlight[id] != (m.part.urls.inFlight[id] != nil) {
			m.Fatalf("%s is %v; under way by the index: %v, in memory: %v", m.describe(id), r.State, st.inFlight[id], m.part.urls.inFlight[id] != nil)
		}
		if (r.State == Waiting || r.State.ended() && r.Due != 0) && !st.retries[string(m.part.retryKey(r.Due, id)[3:])] {
			m.Fatalf("%s is %v and due again, and is not in the index", m.describe(id), r.State)
		}
		if r.State == Waiting && r.Due == 0 {
			m.Fatalf("%s waits for ever", m.describe(id))
		}
		if wait := time.Duration(r.Due - m.at()); r.State == Waiting && wait > longestWait || r.State.ended() && wait > longestRecrawl {
			m.Fatalf("%s is %v, and waits %v for its next visit", m.describe(id), r.State, wait)
		}
		if r.gateDue() && !m.part.crawls.get(id.crawl).rules.isCancelledFor(r.URL) {
			m.Fatalf("%s has ended with a redirect that led back to it, and is not to be visited again", m.describe(id))
		}
		if m.restored {
			continue
		}
		if f := m.under[id]; (f != nil) != (r.State == InFlight) {
			m.Fatalf("%s is %v, and under way is %+v", m.describe(id), r.State, f)
		}
	}
	if n := len(st.inFlight) + len(st.oldSent); n != len(m.part.urls.inFlight) {
		m.Fatalf("%d requests are under way by the index, %d in memory", n, len(m.part.urls.inFlight))
	}
	if st.earliest[0] != 0 && m.part.schedule.nextDue > st.earliest[0] || st.earliest[1] != 0 && m.part.urls.nextRetry > st.earliest[1] {
		m.Fatalf("next due is %d and %d, by the indexes %d", m.part.schedule.nextDue, m.part.urls.nextRetry, st.earliest)
	}
}

// Maximum waits of a URL, whatever the clocks say: the longest that a host may ask for plus the
// longest wait between two attempts, with jitter; and the longest interval of alter.
const (
	longestWait    = 24*time.Hour + 5*time.Hour/4
	longestRecrawl = 5*time.Hour + 5*time.Hour/16
)

// checkAddresses: the counts of addresses equal the requests in flight.
func (m *model) checkAddresses() {
	under := make(map[string]int)
	for _, req := range m.part.urls.inFlight {
		under[req.ip]++
	}
	for ip, a := range m.addresses.byIP {
		if a.inFlight != under[ip] {
			m.Fatalf("address %s counts %d requests under way, there are %d", ip, a.inFlight, under[ip])
		}
	}
}

// checkListed: the next owner of the state reads exactly the crawls that have not ended.
func (m *model) checkListed() {
	m.must(m.store.scan(table.Prefix(0, kindCounters), nil, func(key, value []byte) (bool, error) {
		var state crawlState
		m.must(json.Unmarshal(value, &state))
		listed, err := m.store.has(m.part.awakeKey(string(key[3:])))
		if want := state.known() && (!state.ended() || state.stale()); listed != want {
			m.Fatalf("crawl %s is listed: %v, want %v, of %s", key[3:], listed, want, value)
		}
		return true, err
	}))
	for _, kind := range []byte{kindOpening, kindUnchanged} {
		m.must(m.store.scan(table.Prefix(0, kind), nil, func(key, _ []byte) (bool, error) {
			name, _, err := table.CutName(key[3:])
			if state := m.load().counters[name]; !m.doomed(name) && (state == nil || kind == kindOpening && !state.Opening || kind == kindUnchanged && !state.Unchanged) {
				m.Fatalf("crawl %s has %q, and does not know", name, key[2:])
			}
			return false, err
		}))
	}
	m.must(m.store.scan(table.Prefix(0, kindAwake), nil, func(key, _ []byte) (bool, error) {
		there, err := m.store.has(m.part.crawlKey(string(key[3:])))
		if !there {
			m.Fatalf("crawl %s is listed, and there is none", key[3:])
		}
		return true, err
	}))
}

// checkBarred: each host with URLs that are excluded because it is not open is recorded. Otherwise
// its URLs would not be found when its domain is opened.
func (m *model) checkBarred(st *stored) {
	for id, r := range st.records {
		if r.barred() && !st.barred[[2]string{id.crawl, weburl.Host(r.URL)}] {
			m.Fatalf("%s is excluded by its scope, and its host is not noted", m.describe(id))
		}
	}
}

// checkRules: queued URLs are in scope, and URLs that a rule excludes are still excluded by it,
// once a review of changed rules is complete.
func (m *model) checkRules(st *stored) {
	if m.part.crawls.specsGen != m.gen || m.restored {
		return
	}
	for id, r := range st.records {
		if c := m.part.crawls.active[id.crawl]; c != nil && (c.Review != nil || c.Opening && r.Reason == frontierapi.ReasonScope) || m.part.crawls.stale[id.crawl] {
			continue
		}
		p := m.known[id]
		if r.Seed != p.seed {
			m.Fatalf("%s is a seed: %v, want %v", m.describe(id), r.Seed, p.seed)
		}
		if r.Own != p.priority || r.Depth != p.depth && r.Run == 0 {
			m.Fatalf("%s has priority %d and depth %d, want %d and %d", m.describe(id), r.Own, r.Depth, p.priority, p.depth)
		}
		if want := m.priority(id); r.State == Queued && r.Priority != want {
			m.Fatalf("%s is queued with priority %d, want %d", m.describe(id), r.Priority, want)
		}
		reason := m.reason(id, r.Depth)
		switch {
		case r.State == Queued && reason != "": // a waiting URL is evaluated when its wait is over
			m.Fatalf("%s is %v, and excluded by %s", m.describe(id), r.State, reason)
		case r.State == Excluded && reason != r.Reason && slices.Contains(ruleReasons, r.Reason):
			m.Fatalf("%s is excluded by %s, and the rules say %q", m.describe(id), r.Reason, reason)
		}
	}
}

// ruleReasons are the reasons that follow from the spec and the seeds alone.
var ruleReasons = []string{frontierapi.ReasonScope, frontierapi.ReasonExclude, frontierapi.ReasonDepth, frontierapi.ReasonCancelled}

// checkEnd: every URL has ended, and was sent unless a reason prevents it.
func (m *model) checkEnd() {
	for id, r := range m.load().records {
		p := m.known[id]
		switch {
		case !r.State.ended():
			m.Fatalf("%s is %v at the end", m.describe(id), r.State)
		case r.State == Excluded && r.Reason == frontierapi.ReasonRobots && p.last == messages.RobotsDenied,
			r.State == Excluded && r.Reason == frontierapi.ReasonAddress && p.last == messages.RefusedAddress:
		case r.State == Excluded && r.Reason != m.reason(id, r.Depth):
			m.Fatalf("%s is excluded by %q at the end, and the rules say %q", m.describe(id), r.Reason, m.reason(id, r.Depth))
		case r.State == Failed && r.Reason == "":
			m.Fatalf("%s has failed without a reason", m.describe(id))
		case r.State != Excluded && p.sent == 0 && r.Reason != reasonGivenUp:
			m.Fatalf("%s is %v, and was never sent", m.describe(id), r.State)
		}
	}
	for name, c := range m.part.crawls.active {
		if n := c.Pending(); n != 0 {
			m.Fatalf("crawl %s has %d URLs open at the end", name, n)
		}
	}
}
