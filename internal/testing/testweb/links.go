package testweb

// target is the kind of target of a link.
type target uint8

const (
	toPage target = iota
	toRedirect
	toPrivate
	toMissing
	toTrap
	toLoop
	toSpecial
)

// link is one link of a page; n is a page number, or the index of a trap or loop.
type link struct {
	host     int
	n        int
	to       target
	nofollow bool
}

// appendLinks chooses the links of a page: first the required ones, then random ones up to
// LinksPerPage.
func (s *site) appendLinks(links []link, host, page int, r *rng) []link {
	links = s.appendChildren(links, host, page)
	if s.hasPrivate(host, page) {
		links = append(links, link{host: host, n: page, to: toPrivate})
	}
	if s.hasMissing(host, page) {
		links = append(links, link{host: host, n: page, to: toMissing})
	}
	if s.hasTrap(host, page) {
		for n := range len(trapEntries) {
			links = append(links, link{host: host, n: n, to: toTrap})
		}
	}
	if page == 0 {
		links = s.appendHomeLinks(links, host)
	}
	for len(links) < s.cfg.LinksPerPage {
		links = append(links, s.randomLink(host, r))
	}
	return links
}

// appendChildren adds the links of the tree, which make every page reachable; they are never
// nofollow.
func (s *site) appendChildren(links []link, host, page int) []link {
	for child := 2*page + 1; child <= 2*page+2 && child < s.cfg.PagesPerHost; child++ {
		to := toPage
		if s.isRedirected(host, child) {
			to = toRedirect
		}
		links = append(links, link{host: host, n: child, to: to})
	}
	return links
}

func (s *site) appendHomeLinks(links []link, host int) []link {
	if s.cfg.RedirectRate > 0 {
		for n := range len(loopEntries) {
			links = append(links, link{host: host, n: n, to: toLoop})
		}
	}
	if s.cfg.Special && host == 0 {
		links = append(links, link{to: toSpecial})
	}
	return links
}

func (s *site) randomLink(host int, r *rng) link {
	to := host
	if s.cfg.Hosts > 1 && r.chance(s.cfg.CrossHostLinks) {
		to = (host + 1 + r.intn(s.cfg.Hosts-1)) % s.cfg.Hosts
	}
	return link{host: to, n: r.intn(s.cfg.PagesPerHost), nofollow: r.intn(12) == 0}
}

// appendTarget appends the escaped path of a link's target.
func (s *site) appendTarget(b []byte, l link) []byte {
	switch l.to {
	case toRedirect:
		return s.appendRedirect(b, l.host, l.n)
	case toPrivate:
		return s.appendPrivate(b, l.host, l.n)
	case toMissing:
		return s.appendMissing(b, l.host, l.n)
	case toTrap:
		return append(b, trapEntries[l.n]...)
	case toLoop:
		return append(b, loopEntries[l.n]...)
	case toSpecial:
		return append(b, specialPrefix...)
	default:
		return s.appendPath(b, l.host, l.n)
	}
}
