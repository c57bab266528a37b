package state

import "seine/pkg/messages"

// A cookie gate answers a request without its cookie by a redirect to where that is
// set, and from there back. By then the URL counts as visited; so it is visited once
// more, with requests whose redirects the fetcher follows itself: cookies are kept
// by the fetcher that got them.

// meetGate notes that a redirect closes a circle of redirects from a URL, where
// cookies are kept. It reports whether that has queued the URL for another visit.
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

// gateDue reports whether the last visit ended with a redirect that led back here,
// and none has been sent since that may pass.
func (r *urlRecord) gateDue() bool {
	return r.Gate && !r.GateTried && r.State == Done && r.Class == messages.Redirect
}

// closesCircle reports whether the redirects that have led to found began at url.
// It does not see URLs of other partitions, where a circle over several domains may
// lie.
func (d *discovery) closesCircle(url string, found *urlRecord, rules *Rules, crawl string) (bool, error) {
	from := found.Referrer
	for n := min(found.Redirects, rules.limitsOf(url).MaxRedirects+1); n > 0 && from != url; n-- {
		r, err := d.urls.record(urlID{crawl, messages.HashURL(from)})
		if err != nil || r == nil || n == 1 { // what led to the first of them was a link
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
