package state

import "seine/pkg/messages"

// A cookie gate answers a request without its cookie with a redirect to a page that sets the cookie
// and redirects back. By then the URL counts as visited. So it is visited once more, with requests
// whose redirects the fetcher follows itself: cookies are kept by the fetcher that got them.

// meetGate marks a URL as a gate if a redirect closes a circle of redirects from it and the crawl
// keeps cookies for it. It reports whether the URL must be queued for another visit.
func (d *discovery) meetGate(r, found *urlRecord, id urlID, rules *Rules) (queued bool, err error) {
	if r.Gate || !rules.keepsCookies(r.URL) {
		return false, nil
	}
	if r.Gate, err = d.closesCircle(r.URL, found, rules, id.crawl); err != nil || !r.Gate {
		return false, err
	}
	d.tx.save(id, r)
	return r.gateDue(), nil // a visit in progress is checked when it ends
}

// gateDue reports whether the last visit ended with a redirect that led back to this URL, and no
// request that follows the redirects has been sent since.
func (r *urlRecord) gateDue() bool {
	return r.Gate && !r.GateTried && r.State == Done && r.Class == messages.Redirect
}

// closesCircle reports whether the redirects that led to found began at url. It does not see URLs
// of other partitions, so it misses circles over several domains.
func (d *discovery) closesCircle(url string, found *urlRecord, rules *Rules, crawl string) (bool, error) {
	from := found.Referrer
	for n := min(found.Redirects, rules.limitsOf(url).MaxRedirects+1); n > 0 && from != url; n-- {
		r, err := d.urls.record(urlID{crawl, messages.HashURL(from)})
		if err != nil || r == nil || n == 1 { // the first of them was reached by a link
			return false, err
		}
		from = r.Referrer
	}
	return found.Redirects > 0 && from == url, nil
}

// keepsCookies reports whether the crawl keeps cookies for a URL.
func (r *Rules) keepsCookies(url string) bool {
	return r.cookies && keeps(r.AccessOf(r.AccessSource(url), false).Cookies)
}

func keeps(cookies *bool) bool { return cookies != nil && *cookies }
