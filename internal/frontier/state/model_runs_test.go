package state

import (
	"maps"
	"slices"

	"seine/pkg/messages"
)

// modelRuns is the model's state of the runs of crawls with a schedule.
type modelRuns struct {
	kept    map[urlID]keptLinks // links by page, from its last visit that reported them
	awaited map[urlID]awaited   // by unchanged page
	taken   map[urlID]int64     // the last run that has the links of a page
	whole   map[string]wholeRun // by crawl
}

// wholeRun is the last run of a crawl that visits all URLs, and so needs no links. It also holds
// the crawl's runs at the last commit.
type wholeRun struct {
	run         int64
	last, again int64 // the last run, and the last over all URLs by the spec
	all         bool  // all URLs are still being added to it
}

type keptLinks struct {
	round uint64
	to    []urlID
}

// awaited are the links that a run is to find again.
type awaited struct {
	run int64
	to  []urlID
}

func newRuns() modelRuns {
	return modelRuns{make(map[urlID]keptLinks), make(map[urlID]awaited), make(map[urlID]int64), make(map[string]wholeRun)}
}

func (r *modelRuns) forget(crawl string) {
	maps.DeleteFunc(r.kept, func(id urlID, _ keptLinks) bool { return id.crawl == crawl })
	maps.DeleteFunc(r.awaited, func(id urlID, _ awaited) bool { return id.crawl == crawl })
	maps.DeleteFunc(r.taken, func(id urlID, _ int64) bool { return id.crawl == crawl })
	delete(r.whole, crawl)
}

// fed records a message about a page.
func (r *modelRuns) fed(c *messages.Candidates) {
	page := urlID{c.Crawl, messages.HashURL(c.Referrer)}
	links := r.kept[page]
	switch {
	case c.Source == messages.SourceUnchanged:
		r.taken[page] = max(r.taken[page], c.Run)
		if links.round == c.PageRound && c.Run >= r.awaited[page].run {
			r.awaited[page] = awaited{c.Run, links.to}
		}
		return
	case !c.Ends.IsZero() && c.ParseError == "":
		r.taken[page] = max(r.taken[page], c.Run)
	}
	if c.PageRound == 0 || c.PageRound < links.round {
		return
	}
	if links = (keptLinks{round: c.PageRound}); c.PageRound != r.kept[page].round {
		delete(r.awaited, page) // the page came again with its links
	}
	for _, u := range c.URLs {
		if u.URL != notURL {
			links.to = append(links.to, urlID{c.Crawl, messages.HashURL(u.URL)})
		}
	}
	r.kept[page] = links
}

// checkRuns: the links of an unchanged page belong to the run that found it unchanged.
func (m *model) checkRuns(st *stored) {
	if m.restored {
		return
	}
	for page, a := range m.runs.awaited {
		if c := m.part.crawls.active[page.crawl]; c != nil && c.Unchanged || m.doomed(page.crawl) {
			continue
		}
		for _, id := range a.to {
			if r := st.records[id]; r == nil || r.Run < a.run {
				m.Fatalf("%s was not found in run %d, which has found %s unchanged", m.describe(id), a.run, m.describe(page))
			}
		}
		delete(m.runs.awaited, page)
	}
}

// noteWholeRuns records which runs visit all URLs.
func (m *model) noteWholeRuns() {
	for name, c := range m.part.crawls.active {
		if !c.known() || m.doomed(name) {
			continue
		}
		was, known := m.runs.whole[name]
		is := wholeRun{was.run, c.Run, c.Again, c.Reseed != nil && c.Reseed.All}
		if known && (is.again != was.again || is.last != was.last && was.all) || !known && m.moved && is.again > 0 {
			is.run = c.Run
		}
		m.runs.whole[name] = is
	}
}

// conditional checks a request with validators against the known links.
func (m *model) conditional(wire *messages.Request) {
	page := urlID{wire.Crawl, wire.Visit.URL}
	if wire.ETag == "" || wire.PageRound != 0 || wire.Run <= max(m.runs.taken[page], m.runs.whole[wire.Crawl].run) {
		return
	}
	m.Fatalf("%s was asked for in run %d under a condition, and nobody would know its links", m.describe(page), wire.Run)
}

// unchanged reports an unchanged page, if the frontier wants that.
func (g *simDriver) unchanged(req *messages.Request) {
	if req.PageRound != 0 {
		g.feedLogged(&messages.Candidates{
			Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceUnchanged, Referrer: req.URL, Depth: req.Depth, Run: req.Run, PageRound: req.PageRound,
		})
	}
}

// endOf returns the message that ends a visit, the same each time.
func (g *simDriver) endOf(req *messages.Request) *messages.Candidates {
	at := slices.IndexFunc(g.ends, func(c *messages.Candidates) bool { return c.Crawl == req.Crawl && c.Ends == req.Visit })
	if at >= 0 {
		return g.ends[at]
	}
	c := &messages.Candidates{
		Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceLink, Referrer: req.URL, Depth: req.Depth + 1, Run: req.Run,
		Ends: req.Visit, ParseError: draw(g, "parse error", "", "", "", "broken"), Warning: draw(g, "warning", "", "", "read in part"), URLs: g.anyURLs(2),
		LeftOut: draw(g, "left out", "", "", "language: x", "y"),
	}
	c.InheritFrom(req.Metadata, req.Inherit)
	if n := g.number("records", 0, 2); n > 0 && c.ParseError == "" {
		c.Records = []messages.KindCount{{Kind: messages.KindPage, N: 1}, {Kind: "product", N: int64(n)}}
	}
	if g.specs[req.Crawl].Schedule != "" && c.ParseError == "" {
		c.PageRound, c.PageDepth = req.Visit.Round, req.Depth
	}
	g.ends = append(g.ends, c)
	return c
}
