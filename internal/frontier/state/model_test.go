package state

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// defaultSteps is the approximate number of actions in a case of the model test, unless
// -rapid.steps is set.
const defaultSteps = 30

// TestModel plays random candidates, results, crashes, moves to another store, changes of the specs
// (including schedules, recrawl rules, priorities and cancellations), deletions of their keys and
// of crawls with new crawls after them, and wrong clocks. It checks every turn against the promises
// of docs/contract.md: see model. The cases are the same each time. -rapid.seed gives others (0 is
// random, which `make fuzz` uses), -rapid.checks more, -rapid.steps longer ones.
func TestModel(t *testing.T) {
	most := defaultCases
	if testing.Short() {
		most /= 10
	}
	orDefault(t, "rapid.checks", most)
	orDefault(t, "rapid.steps", defaultSteps)
	orDefault(t, "rapid.seed", 1)
	cases, actions, turns := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := &simDriver{simEnv: newSimEnv(rt, map[string]*crawlspec.Spec{"c": drawSpec(rt), "d": drawSpec(rt)})}
		defer func() {
			cases, actions, turns = cases+1, actions+g.actions, turns+g.model.steps
			g.close()
		}()
		for _, name := range []string{"c", "d"} {
			rt.Logf("crawl %s: %s", name, describeSpec(g.specs[name]))
		}
		rt.Repeat(g.moves())
		g.drain()
		g.model.checkEnd()
	})
	t.Logf("%d cases, %d actions, %d commits checked", cases, actions, turns)
}

func orDefault(t *testing.T, name string, n int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	was := flag.Lookup(name).Value.String()
	_ = flag.Set(name, fmt.Sprint(n))
	t.Cleanup(func() { _ = flag.Set(name, was) })
}

// simDriver generates random actions against one partition.
type simDriver struct {
	*simEnv
	actions  int
	answered []*messages.Request // for repeated results
	ends     []*messages.Candidates
	look     lostPages
}

// moves returns the actions, with duplicates of the frequent ones.
func (g *simDriver) moves() map[string]func(*rapid.T) {
	moves := make(map[string]func(*rapid.T))
	for _, a := range []struct {
		name  string
		times int
		do    func()
	}{
		{"turn", 6, g.turn}, {"answer", 4, g.answer}, {"answer all", 1, g.answerAll}, {"go on", 2, g.goOn}, {"feed", 4, g.feedSome},
		{"feed many", 1, g.feedMany}, {"parse", 3, g.parse}, {"answer late", 1, g.answerLate}, {"lose", 1, g.lose}, {"lose page", 1, g.losePage}, {"find lost pages", 2, g.findLostPages},
		{"pass time", 3, g.passTime}, {"set the clock", 2, g.setClock}, {"crash", 2, g.crashes},
		{"snapshot", 1, g.saves}, {"move", 1, g.moveAway}, {"change spec", 2, g.changeSpec}, {"delete", 1, g.deleteCrawl}, {"delete key", 1, g.deleteKey}, {"finish loading", 1, g.finishLoading},
	} {
		for i := range a.times {
			moves[a.name+strings.Repeat("'", i)] = func(t *rapid.T) {
				g.T = t
				a.do()
				g.actions++
			}
		}
	}
	return moves
}

func draw[V any](g *simDriver, label string, from ...V) V {
	return rapid.SampledFrom(from).Draw(g.T, label)
}

func (g *simDriver) number(label string, least, most int) int {
	return rapid.IntRange(least, most).Draw(g.T, label)
}

// anyURL draws one of few URLs, so that they recur.
func (g *simDriver) anyURL() string {
	host := draw(g, "host", "a.test", "www.a.test", "b.test", "c.test:8080", "d.test", "e.test")
	return fmt.Sprintf("https://%s/%s%d", host, draw(g, "dir", "w", "x", "y"), g.number("page", 0, 3))
}

func (g *simDriver) anyCrawl() string { return draw(g, "crawl", "c", "c", "d") }

func (g *simDriver) anyURLs(most int) (urls []messages.Candidate) {
	for range g.number("urls", 0, most) {
		c := messages.Candidate{URL: g.anyURL()}
		if p := draw(g, "priority", -1, -1, 0, 9); p >= 0 {
			c.Priority = &p
		}
		urls = append(urls, c)
	}
	return urls
}

func (g *simDriver) feedSome() {
	m := &messages.Candidates{Crawl: g.anyCrawl(), Source: draw(g, "source", messages.SourceSeed, messages.SourceLink, messages.SourceRedirect)}
	if m.Source != messages.SourceSeed {
		m.Depth, m.Run = g.number("depth", 0, 3), int64(draw(g, "run", 0, 0, 0, 1, 2))
	}
	m.URLs = g.anyURLs(5)
	g.label(m)
	if draw(g, "bad", 0, 0, 0, 0, 1) == 1 {
		m.URLs = append(m.URLs, messages.Candidate{URL: notURL})
	}
	g.feedLogged(m)
}

func (g *simDriver) feedLogged(m *messages.Candidates) {
	var urls []string
	for _, c := range m.URLs {
		urls = append(urls, c.URL)
	}
	if len(urls) > 10 {
		urls = append(urls[:1], fmt.Sprintf("… (%d)", len(m.URLs)))
	}
	g.Logf("URLS %d: %s of %s, depth %d, run %d, ends %v: %s", len(g.urls)+1, m.Source, m.Crawl, m.Depth, m.Run, m.Ends, strings.Join(urls, " "))
	g.feed(m)
}

// feedMany makes a queue longer than its window.
func (g *simDriver) feedMany() {
	if draw(g, "many", 0, 0, 0, 0, 0, 1) == 0 {
		g.feedSome()
		return
	}
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceSeed, Depth: 0}
	first := draw(g, "first", 100, 150)
	for i := range g.number("count", 1, 2) * queueWindow {
		m.URLs = append(m.URLs, messages.Candidate{URL: fmt.Sprintf("https://b.test/w%d", first+i)})
	}
	g.feedLogged(m)
}

func (g *simDriver) anyTurn() turn {
	return turn{
		urls: g.number("URLs applied", 0, 6), results: g.number("results applied", 0, 6),
		resultsFirst: draw(g, "results first", true, true, false), room: draw(g, "room", 8, 2, 1, 0, 100),
	}
}

func (g *simDriver) turn() {
	t := g.anyTurn()
	g.Logf("turn %+v", t)
	g.play(t)
}

func (g *simDriver) crashes() {
	t := g.anyTurn()
	t.end = draw(g, "dies", beforeCommit, beforePublish, whilePublishes, beforeNotes)
	t.publish = g.number("published", 0, 3)
	machine := draw(g, "the machine", false, false, true)
	if !machine && draw(g, "the process goes on", false, true) { // the partition left the process, and returns to it
		g.stays = g.addresses
	}
	g.Logf("turn %+v, ended by a crash of the machine: %v", t, machine)
	g.play(t)
	g.catchUpSomehow(func(hold bool) { g.crash(machine, hold) })
}

func (g *simDriver) saves() {
	g.Logf("snapshot %d", len(g.snapshots))
	g.snapshot()
}

func (g *simDriver) moveAway() {
	n := g.number("snapshot", 0, len(g.snapshots)-1)
	g.Logf("the partition moves with snapshot %d", n)
	g.snapshots = g.snapshots[:n+1] // no other state continues
	g.catchUpSomehow(func(hold bool) { g.move(g.snapshots[n], hold) })
}

// catchUpSomehow starts a partition, which may crash while it catches up.
func (g *simDriver) catchUpSomehow(start func(hold bool)) {
	hold := draw(g, "filters load slowly", false, true)
	perTurn, dies := draw(g, "messages in a turn", 100, 3, 1), draw(g, "dies after", -1, -1, -1, 0, 1, 2)
	g.Logf("catching up in turns of %d messages, dying after %d of them; filters load slowly: %v", perTurn, dies, hold)
	start(hold)
	if !g.catchUp(perTurn, dies) {
		g.crash(false, hold)
		g.catchUp(perTurn, -1)
	}
}

func (g *simDriver) finishLoading() {
	g.Logf("filters are loaded")
	g.loaded()
}

func (g *simDriver) passTime() {
	d := draw(g, "time", time.Second, time.Millisecond, 300*time.Millisecond, 10*time.Second, time.Minute, 70*time.Minute, 7*time.Hour)
	g.now = g.now.Add(d)
	g.Logf("%v pass", d)
}

// setClock sets the time of day, right or wrong, for processes that start from now on; running ones
// ignore it.
func (g *simDriver) setClock() {
	g.wrong = true
	g.skew = draw(g, "skew", 0, time.Millisecond, time.Second, time.Hour, 24*time.Hour, 365*24*time.Hour)
	if draw(g, "behind", false, true) {
		g.skew = -g.skew
	}
	g.Logf("the clock is ahead by %v from the next start on", g.skew)
}

// take draws a request in FETCH and removes it; nil if there is none.
func (g *simDriver) take() *messages.Request {
	if len(g.fetch) == 0 {
		return nil
	}
	seq := rapid.SampledFrom(slices.Sorted(maps.Keys(g.fetch))).Draw(g.T, "request")
	req := g.fetch[seq]
	delete(g.fetch, seq)
	return req
}

func (g *simDriver) answer() {
	if req := g.take(); req != nil {
		class := g.anyClass()
		if req.ETag != "" && draw(g, "unchanged", false, true) {
			class = messages.NotModified
		}
		g.answerWith(req, class)
	} else {
		g.turn()
	}
}

func (g *simDriver) answerAll() {
	class := draw(g, "class", messages.OK, messages.OK, messages.NotModified, messages.Timeout)
	for _, seq := range slices.Sorted(maps.Keys(g.fetch)) {
		req := g.fetch[seq]
		delete(g.fetch, seq)
		g.answerWith(req, class)
	}
}

// goOn plays some turns in which all requests have the same result.
func (g *simDriver) goOn() {
	class := draw(g, "all end", messages.Timeout, messages.OK, messages.NotModified, messages.Throttled)
	each := draw(g, "each takes", 2*time.Second, 20*time.Millisecond, 12*time.Second)
	for range g.number("turns", 2, 8) {
		g.now = g.now.Add(each)
		g.Logf("%v pass, a turn, and all requests end with %s", each, class)
		g.play(turn{urls: 6, results: 100, resultsFirst: true, room: 100})
		for _, seq := range slices.Sorted(maps.Keys(g.fetch)) {
			req := g.fetch[seq]
			delete(g.fetch, seq)
			g.answerWith(req, class)
		}
	}
}

// answerLate answers a request whose result is no longer expected, or answers one again.
func (g *simDriver) answerLate() {
	all := slices.Concat(g.limbo, g.answered)
	if len(all) == 0 {
		g.turn()
		return
	}
	g.answerWith(rapid.SampledFrom(all).Draw(g.T, "late"), g.anyClass())
}

func (g *simDriver) anyClass() messages.Class {
	return draw(g, "class", messages.OK, messages.OK, messages.OK, messages.Timeout, messages.ServerError,
		messages.ServerError, messages.Throttled, messages.Gone, messages.Redirect, messages.RobotsFetched,
		messages.RobotsDenied, messages.RefusedAddress, messages.DNSFailure, messages.NotModified, messages.TooLarge, messages.Blocked)
}

func (g *simDriver) answerWith(req *messages.Request, class messages.Class) {
	if req.Recorded && draw(g, "is it gone", false, false, true) {
		class = draw(g, "how", messages.Gone, messages.Redirect)
	}
	if class == messages.NotModified && req.ETag == "" {
		class = messages.ClientError // as the fetcher classifies it
	}
	res := &messages.Result{
		Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Run: req.Run, Class: class, BytesWire: 10,
	}
	if g.specs[req.Crawl].GroupBy == crawlspec.GroupByIP {
		res.IP = draw(g, "address", "192.0.2.1", "192.0.2.2")
	}
	switch class {
	case messages.OK:
		res.Status, res.Digest, res.ETag = 200, draw(g, "digest", "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"), "e"
		if draw(g, "parsed before the result", false, false, true) {
			g.endWith(req)
		} else {
			g.unparsed = append(g.unparsed, req)
		}
	case messages.NotModified:
		g.unchanged(req)
	case messages.Redirect:
		res.Status = 301
		to := g.anyURLs(1)
		if req.Redirects > 0 && draw(g, "back", true, true, false) {
			to = []messages.Candidate{{URL: req.Referrer}}
		}
		g.feedLogged(&messages.Candidates{
			Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceRedirect, Depth: req.Depth, Redirects: req.Redirects + 1, Referrer: req.URL, Run: req.Run, URLs: to,
			Metadata: req.Metadata, Inherit: req.Inherit,
		})
	case messages.ServerError, messages.Throttled:
		res.Status = 429
		if class == messages.ServerError {
			res.Status = draw(g, "status", 500, 503, 408)
		}
		res.RetryAfter = messages.Millis(draw(g, "retry after", 0, 0, 20*time.Second, 2*time.Hour, 30*time.Hour))
	case messages.RobotsDenied, messages.RefusedAddress:
		res.BytesWire, res.IP = 0, draw(g, "was robots.txt asked for", "", "192.0.2.1")
	case messages.RobotsFetched:
		d := messages.Millis(draw(g, "crawl delay", 0, 3*time.Second, 20*time.Second))
		res.CrawlDelay = &d
	case messages.Gone:
		res.Status = 404
	case messages.Blocked:
		res.Status = draw(g, "status", 200, 403)
	default:
	}
	res.GoneRecord = req.Recorded && messages.IsGone(res.Class, res.Status)
	g.Logf("RESULTS %d: %s %d of %s in %s, round %d, attempt %d", len(g.results)+1, class, res.Status, req.URL, req.Crawl, req.Visit.Round, req.Attempt)
	g.answered = append(g.answered, req)
	g.report(res)
}

// parse ends a visit, or ends it again.
func (g *simDriver) parse() {
	if len(g.unparsed) == 0 {
		g.turn()
		return
	}
	i := g.number("page", 0, len(g.unparsed)-1)
	g.endWith(g.unparsed[i])
	if draw(g, "once", true, true, false) {
		g.unparsed = slices.Delete(g.unparsed, i, i+1)
	}
}

func (g *simDriver) endWith(req *messages.Request) {
	g.feedLogged(g.endOf(req))
}

// lose removes a request from FETCH, like a broker that loses its tail; a fetcher may have it all
// the same.
func (g *simDriver) lose() {
	req := g.take()
	if req == nil {
		g.turn()
		return
	}
	g.Logf("request for %s, round %d, attempt %d leaves FETCH without a result", req.URL, req.Visit.Round, req.Attempt)
	g.limbo = append(g.limbo, req)
	g.model.vanished(req)
}

// drawSpec draws the first spec of a crawl.
func drawSpec(t *rapid.T) *crawlspec.Spec {
	spec := crawlspec.Default()
	spec.MaxDelay, spec.MaxAttempts = crawlspec.Duration(10*time.Second), 3
	spec.Breaker = crawlspec.Breaker{Failures: 2, Wait: crawlspec.Duration(10 * time.Second), MaxWait: crawlspec.Duration(time.Minute)}
	spec.Scope = rapid.SampledFrom([]crawlspec.Scope{crawlspec.ScopeHost, crawlspec.ScopeDomain, crawlspec.ScopeAny}).Draw(t, "scope")
	spec.GroupBy = rapid.SampledFrom([]crawlspec.GroupBy{crawlspec.GroupByHost, crawlspec.GroupByHost, crawlspec.GroupByDomain, crawlspec.GroupByIP}).Draw(t, "group by")
	spec.Breaker.Probes = rapid.SampledFrom([]int{1, 1000}).Draw(t, "probes")
	spec.Cookies = new(rapid.Bool().Draw(t, "cookies"))
	spec.Gone = rapid.SampledFrom([]crawlspec.WhenGone{crawlspec.WhenGoneDrop, crawlspec.WhenGoneRecord}).Draw(t, "gone")
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		alter(t, &spec)
	}
	return &spec
}

// alter makes one change to a spec.
func alter(t *rapid.T, s *crawlspec.Spec) {
	one, two := 1, 2
	d := func(ds ...time.Duration) crawlspec.Duration {
		return crawlspec.Duration(rapid.SampledFrom(ds).Draw(t, "duration"))
	}
	switch rapid.SampledFrom([]string{
		"delay", "per_host", "state", "max_pages", "max_pages_per_host", "exclude", "max_depth", "recrawl", "schedule", "robots", "jitter",
		"scope", "group_by", "sources", "cookies", "gone", "schedule", "links", "recrawl", "state", "priorities", "again", "seeds", "seeds", "on_status",
	}).Draw(t, "alter") {
	case "group_by":
		s.GroupBy = rapid.SampledFrom([]crawlspec.GroupBy{crawlspec.GroupByHost, crawlspec.GroupByDomain, crawlspec.GroupByIP}).Draw(t, "group by")
	case "on_status":
		minute := crawlspec.Duration(time.Minute)
		s.OnStatus = rapid.SampledFrom([]crawlspec.StatusRules{
			nil, {"404": {Attempts: 2}}, {"4xx": {Wait: minute}}, {"503": {Attempts: 1}, "404": {Attempts: 4, Wait: minute}}, {"blocked": {Attempts: 1}},
		}).Draw(t, "on_status")
	case "seeds":
		s.Seeds = drawSeeds(t)
	case "sources":
		s.Sources = nil
		if rapid.Bool().Draw(t, "a source") {
			delay := d(0, 3*time.Second, 10*time.Second)
			state := rapid.SampledFrom([]crawlspec.RunState{crawlspec.Running, crawlspec.Paused, crawlspec.Cancelled}).Draw(t, "state of the source")
			s.Sources = []crawlspec.HostRule{{Hosts: []string{"www.a.test"}, Delay: &delay, State: &state}}
		}
	case "scope":
		s.Scope = rapid.SampledFrom([]crawlspec.Scope{crawlspec.ScopeHost, crawlspec.ScopeDomain, crawlspec.ScopeAny}).Draw(t, "scope")
	case "delay":
		s.Delay = d(0, time.Second, 5*time.Second)
	case "per_host":
		s.PerHost = rapid.IntRange(1, 3).Draw(t, "per_host")
	case "state":
		s.State = rapid.SampledFrom([]crawlspec.RunState{crawlspec.Running, crawlspec.Paused, crawlspec.Cancelled}).Draw(t, "state")
	case "max_pages":
		s.MaxPages = rapid.SampledFrom([]int64{0, 1, 3, 10}).Draw(t, "max_pages")
	case "max_pages_per_host":
		s.MaxPagesPerHost = rapid.SampledFrom([]int64{0, 1, 3}).Draw(t, "max_pages_per_host")
	case "exclude":
		s.Exclude = rapid.SampledFrom([][]string{nil, {"*/x*"}, {"*/y*"}}).Draw(t, "exclude")
	case "max_depth":
		s.MaxDepth = rapid.SampledFrom([]*int{nil, &one, &two}).Draw(t, "max_depth")
	case "recrawl":
		s.Recrawl = rapid.SampledFrom([][]crawlspec.RecrawlRule{
			nil, {{Match: "*", Every: crawlspec.Duration(time.Hour)}},
			{{Match: "*", Min: crawlspec.Duration(time.Minute), Max: crawlspec.Duration(5 * time.Hour)}},
			{{Match: "*/x*", Every: crawlspec.Duration(10 * time.Minute)}},
			{{Match: "*/x*", Every: crawlspec.Duration(5 * time.Hour)}, {Match: "*", Min: crawlspec.Duration(10 * time.Minute), Max: crawlspec.Duration(time.Hour)}},
		}).Draw(t, "recrawl")
	case "schedule":
		s.Schedule = rapid.SampledFrom(slices.Sorted(maps.Keys(schedulePeriods))).Draw(t, "schedule")
	case "again":
		s.Again += rapid.Int64Range(1, 3).Draw(t, "again")
	case "priorities":
		s.Priorities = rapid.SampledFrom([][]crawlspec.PriorityRule{nil, {{Match: "*/x*", Priority: 1}}, {{Match: "*", Priority: 8}}}).Draw(t, "priorities")
	case "links":
		s.Links.NoFollow = rapid.SampledFrom([]crawlspec.Robots{crawlspec.RobotsObey, crawlspec.RobotsIgnore}).Draw(t, "nofollow")
	case "robots":
		s.Robots = rapid.SampledFrom([]crawlspec.Robots{crawlspec.RobotsObey, crawlspec.RobotsIgnore}).Draw(t, "robots")
	case "gone":
		s.Gone = rapid.SampledFrom([]crawlspec.WhenGone{crawlspec.WhenGoneDrop, crawlspec.WhenGoneRecord}).Draw(t, "gone")
	case "cookies":
		s.Cookies = new(rapid.Bool().Draw(t, "cookies"))
	case "jitter":
		s.Jitter = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "jitter")
	}
}

func describeSpec(s *crawlspec.Spec) string {
	depth := "∞"
	if s.MaxDepth != nil {
		depth = fmt.Sprint(*s.MaxDepth)
	}
	return fmt.Sprintf("%s, scope %s by %s, delay %v ±%v, per_host %d, max_pages %d, per host %d, exclude %q, max_depth %s, recrawl %v, schedule %q, again %d, priorities %v, seeds %s, robots %s, probes %d, sources %s, cookies %t, on_status %s",
		s.State, s.Scope, s.GroupBy, s.Delay, s.Jitter, s.PerHost, s.MaxPages, s.MaxPagesPerHost, s.Exclude, depth, s.Recrawl, s.Schedule, s.Again, s.Priorities, mustText(s.Seeds), s.Robots, s.Breaker.Probes, mustText(s.Sources), keeps(s.Cookies), mustText(s.OnStatus))
}

func (g *simDriver) changeSpec() {
	name := g.anyCrawl()
	spec := g.specInBucket(name)
	alter(g.T, &spec)
	g.Logf("crawl %s: %s", name, describeSpec(&spec))
	g.change(name, &spec)
}

// deleteKey deletes the key of a crawl's spec with its history. The crawl may be paused afterwards,
// which stores a spec again.
func (g *simDriver) deleteKey() {
	name := g.anyCrawl()
	g.purged[name] = true
	spec := g.specInBucket(name)
	if paused := draw(g, "then paused", false, true); paused {
		spec.State = crawlspec.Paused
		g.change(name, &spec)
	}
	g.Logf("the key of crawl %s is gone; from the next start on at the latest: %s", name, describeSpec(&spec))
}

// deleteCrawl deletes a crawl; URLs submitted later under its name start a new one.
func (g *simDriver) deleteCrawl() {
	name := g.anyCrawl()
	spec := drawSpec(g.T)
	g.delete(name, spec)
	g.Logf("crawl %s is deleted at revision %d; a new one has %s", name, g.gen, describeSpec(spec))
}

// drain lets the crawls end: nothing blocks them any more, all requests are answered and parsed,
// and time passes.
func (g *simDriver) drain() {
	g.Logf("the crawls come to their end")
	g.loaded()
	for name, s := range g.specs {
		spec := *s
		spec.State, spec.MaxPages, spec.MaxPagesPerHost, spec.Recrawl, spec.Schedule = crawlspec.Running, 0, 0, nil, ""
		spec.Sources = nil
		spec.Delay, spec.PerHost, spec.Robots = 0, 100, crawlspec.RobotsIgnore
		g.change(name, &spec)
	}
	for _, req := range g.unparsed {
		g.feed(&messages.Candidates{Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceLink, Ends: req.Visit})
	}
	g.unparsed = nil
	step, idle := time.Second, 0
	for !g.over() {
		g.findLostPages()
		before := g.stored
		g.play(turn{urls: 1000, results: 1000, resultsFirst: true, room: 1000})
		for _, seq := range slices.Sorted(maps.Keys(g.fetch)) {
			req := g.fetch[seq]
			delete(g.fetch, seq)
			g.report(&messages.Result{Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Run: req.Run, Class: messages.OK, Status: 200})
			g.feed(&messages.Candidates{Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceLink, Ends: req.Visit})
		}
		if step, idle = min(2*step, 7*time.Hour), idle+1; g.stored > before {
			step, idle = time.Second, 0
		}
		if idle > 40 {
			g.Fatalf("nothing happens any more, and it is not the end: %d URLs of c are open, %d of d", g.left("c"), g.left("d"))
		}
		g.now = g.now.Add(step)
	}
}

// over reports whether nothing but planned visits can happen any more.
func (g *simDriver) over() bool {
	return !g.unsown("c") && !g.unsown("d") && len(g.unread(messages.StreamURLs)) == 0 && len(g.unread(messages.StreamResults)) == 0 && len(g.fetch) == 0 &&
		g.left("c") == 0 && g.left("d") == 0 && g.part.crawls.specsGen == g.gen && !g.part.TimersPending()
}

// left returns how many URLs of a crawl have not ended.
func (g *simDriver) left(crawl string) int64 {
	state, err := g.part.crawls.stateOf(crawl)
	g.must(err)
	return state.Pending()
}
