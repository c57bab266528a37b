package state

import (
	"slices"
	"time"

	"seine/pkg/messages"
)

// lostPages is the progress of a search for lost pages.
type lostPages struct {
	part *Partition // that has counted
	// pages are those in PAGES at the count. upto is the end of URLS once a parser has received
	// them, 0 before.
	pages []*messages.Request
	upto  int
}

// losePage removes a page from PAGES.
func (g *simDriver) losePage() {
	if len(g.unparsed) == 0 {
		g.turn()
		return
	}
	i := g.number("page", 0, len(g.unparsed)-1)
	req := g.unparsed[i]
	g.unparsed = slices.Delete(g.unparsed, i, i+1)
	g.Logf("page %s of %s, round %d, attempt %d leaves PAGES unparsed", req.URL, req.Crawl, req.Visit.Round, req.Attempt)
	others := g.unparsed
	if g.look.part != nil { // the search does not wait for a page that came after its start
		others = slices.DeleteFunc(slices.Clone(g.look.pages), func(p *messages.Request) bool { return !slices.Contains(g.unparsed, p) })
	}
	g.model.pageLost(req, others)
}

// findLostPages does the next step of a frontier's lostPages.find.
func (g *simDriver) findLostPages() {
	look := &g.look
	switch {
	case look.part != g.part:
		g.now = g.now.Add(time.Duration(g.number("milliseconds before", 0, 2)) * time.Millisecond)
		g.Logf("%d visits are parsed", g.part.CountParsing())
		*look = lostPages{part: g.part, pages: slices.Clone(g.unparsed)}
		g.now = g.now.Add(time.Duration(g.number("milliseconds after", 0, 2)) * time.Millisecond)
	case look.upto == 0:
		for _, req := range look.pages {
			if i := slices.Index(g.unparsed, req); i >= 0 {
				g.unparsed = slices.Delete(g.unparsed, i, i+1)
				g.endWith(req)
			}
		}
		look.upto = max(len(g.urls), 1)
	case g.part.positions[messages.StreamURLs].Sequence >= uint64(min(look.upto, len(g.urls))):
		g.Logf("%d visits have lost their pages", g.part.Unparsed())
		g.part.FetchUnparsed()
		*look = lostPages{}
	default:
		g.turn()
	}
}

// pageLost records that a page has left PAGES. Unless it, or another page of the visit, was parsed
// before, another visit fetches it.
func (m *model) pageLost(req *messages.Request, others []*messages.Request) {
	id := urlID{req.Crawl, req.Visit.URL}
	is := func(other *messages.Request) bool { return other.Crawl == req.Crawl && other.Visit == req.Visit }
	ends := func(u message) bool { return u.candidates.Crawl == req.Crawl && u.candidates.Ends == req.Visit }
	if !slices.ContainsFunc(others, is) && !slices.ContainsFunc(m.urls, ends) {
		m.lost[id] = max(m.lost[id], req.Visit.Round)
	}
}

// lostAfterAll records that a late page was already treated as lost: the attempts of the next
// visit, of which this is the first request, continue the count.
func (m *model) lostAfterAll(o sent) {
	if late, came := m.late[o.id]; came && o.attempt > 1 && o.round > late {
		m.lost[o.id] = late
	}
	delete(m.late, o.id)
}

// fetchesLost reports whether a request belongs to the visit after one whose page is lost.
func (m *model) fetchesLost(o sent) bool {
	round := m.lost[o.id]
	return m.ended[visitOf{o.id, round}] == messages.OK && o.round > round && messages.Deletions(o.round) == messages.Deletions(round)
}

// wantsPage: a page that is fetched again because it was lost is requested unconditionally.
func (m *model) wantsPage(wire *messages.Request) {
	digest, came := m.figures.fetched[urlID{wire.Crawl, wire.Visit.URL}]
	if came && digest == "" && wire.ETag+wire.LastModified != "" {
		m.Fatalf("%s has lost its page, and is asked for only if it is another", wire.URL)
	}
}

// checkUnparsed: only existing visits are counted, so that a review of all URLs begins only where
// pages are lost.
func (m *model) checkUnparsed(st *stored) {
	parsed := make(map[string]int64)
	for id, r := range st.records {
		if r.State == Parsing && r.Due <= m.part.urls.parsingAt {
			parsed[id.crawl]++
		}
	}
	for name, c := range m.part.crawls.active {
		if c.unparsed > parsed[name] && !m.doomed(name) {
			m.Fatalf("%d visits of %s are counted as parsed since before %d, there are %d", c.unparsed, name, m.part.urls.parsingAt, parsed[name])
		}
	}
}
