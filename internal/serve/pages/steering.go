package pages

import (
	"fmt"
	"net/http"
	"net/url"

	"seine/internal/ops/steer"
)

// verbs are the actions on a crawl or a host, with their messages.
var verbs = map[string]string{"pause": "is paused", "resume": "is resumed", "cancel": "is cancelled"}

// steer handles POST /crawls/{crawl}/{verb} and POST /crawls/{crawl}/hosts/{host}/{verb}. The path
// is in the audit log.
func (cp crawlPages) steer(r *http.Request) (to, said string, err error) {
	crawl, host, verb := r.PathValue("crawl"), r.PathValue("host"), r.PathValue("verb")
	if verbs[verb] == "" {
		return "", "", errNoPage
	}
	path, what := "/crawls/"+url.PathEscape(crawl), "Crawl "+crawl
	if host != "" {
		path, what = path+"/hosts/"+url.PathEscape(host), what+" at "+steer.Where(host)
	}
	var done steer.Done
	err = cp.carryOut(r, http.MethodPost, path+"/"+verb, nil, "", &done)
	return r.FormValue("back"), fmt.Sprintf("%s %s (revision %d of its spec).", what, verbs[verb], done.Rev), err
}

// remove handles POST /crawls/{crawl}/delete.
func (cp crawlPages) remove(r *http.Request) (to, said string, err error) {
	crawl := r.PathValue("crawl")
	if r.FormValue("name") != crawl {
		return "", "", badInput{fmt.Errorf("%q: write the name of the crawl, %s, to have it deleted", r.FormValue("name"), crawl)}
	}
	err = cp.carryOut(r, http.MethodDelete, "/crawls/"+url.PathEscape(crawl), nil, "", nil)
	return "/crawls", "Crawl " + crawl + " is being deleted; its output stays.", err
}
