package render

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// Job is a page to be rendered.
type Job struct {
	// Crawl identifies the pages that may share a cache: those of one crawl and one revision of its
	// spec.
	Crawl string
	// Main is the fetched document.
	Main pageproxy.Document
	// How configures waiting, blocking and actions.
	How *crawlspec.Render
	// UserAgent is the user agent of the browser.
	UserAgent string
	// Transport sends the requests of the page other than for its document. It has the address
	// guard, and does not follow redirects.
	Transport http.RoundTripper
	// Allow is called before each such request; see pageproxy.Visit.
	Allow func(ctx context.Context, r *http.Request) error
	// Record, if set, is called with each such exchange, with up to MaxRecorded bytes of its body;
	// see pageproxy.Visit.
	Record      func(pageproxy.Exchange)
	MaxRecorded int64
	// MaxBody bounds the resulting document, in bytes.
	MaxBody int64
	// GiveCookie, if set, is called with new cookies of the browser, each with a URL that it is for
	// and as a Set-Cookie field.
	GiveCookie func(url, field string)
	// Secrets are the secrets of How.Login, by the names that its script uses.
	Secrets map[string]string
	// LoggedOut means that the response of the site at Asked, returned instead of Main, shows that
	// there is no session. It needs Again.
	LoggedOut bool
	Asked     time.Time
	// Again fetches Main once more after a login, since the response may differ then. It returns
	// nil if there is no longer a document to show. If Again is nil, Main is shown unchanged.
	Again func(ctx context.Context) (*pageproxy.Document, error)
}

// Page is the result of rendering a document.
type Page struct {
	// HTML is the document after its scripts have run, in UTF-8.
	HTML []byte
	// Redirect is the URL to which scripts or a meta element of the document redirect at once, or
	// "". If it is set, HTML is empty.
	Redirect string
	// Gone is set if Job.Again returned no document. All other fields are then empty.
	Gone bool
	// Cut describes the wait that was cut short, or the failed action. It is "" if the page is
	// complete.
	Cut string
	// Actions describe the results of the job's actions, for people.
	Actions []string
	// Screenshots are PNGs of the whole page: those of actions, then that of the complete page, if
	// the job requests it.
	Screenshots [][]byte
	// PDF is the printed page, if the job requests it.
	PDF []byte
	// Problems are failed requests and script errors.
	Problems pageproxy.Problems
	large    bool // it takes much memory, which the tab's next page needs

	// Totals are the requests that the page made.
	Totals pageproxy.Totals
}

// addProblems puts the problems of requests before those of scripts. It omits blocked images, which
// are blocked by default.
func (p *Page) addProblems(of pageproxy.Problems) {
	of = slices.DeleteFunc(of, func(r pageproxy.Problem) bool { return r.Reason == errImage.Error() })
	all := append(of, p.Problems...)
	p.Problems = all[:min(len(all), pageproxy.MaxProblems)]
}

// Reasons why a request of a page is refused.
var (
	errNoRequests = errors.New("the page may not make requests (max_requests: 0)")
	errImage      = errors.New("pictures are blocked")
)

// allow returns Allow with checks that the browser does not do: it blocks the icon of the page with
// its images, and all requests if max_requests is 0, which the proxy would treat as no limit.
func (j *Job) allow() func(ctx context.Context, r *http.Request) error {
	pictures := !slices.Contains(j.How.Block.Types, "image")
	return func(ctx context.Context, r *http.Request) error {
		switch {
		case j.How.MaxRequests == 0:
			return errNoRequests
		case !pictures && strings.HasPrefix(r.Header.Get("Accept"), "image/"):
			return errImage
		case j.Allow != nil:
			return j.Allow(ctx, r)
		}
		return nil
	}
}
