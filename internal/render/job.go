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

// Job is a page that is to be rendered.
type Job struct {
	// Crawl names the pages that may share a cache: those of one crawl and one revision of its spec.
	Crawl string
	// Main is the document that was fetched.
	Main pageproxy.Document
	// How says what is waited for, blocked and run.
	How *crawlspec.Render
	// UserAgent is what the browser calls itself.
	UserAgent string
	// Transport asks for what the page wants beside its document. It has the guard of addresses, and follows no redirect.
	Transport http.RoundTripper
	// Allow is asked before each such request; see pageproxy.Visit.
	Allow func(ctx context.Context, r *http.Request) error
	// Record is given each such exchange, if set, with up to MaxRecorded bytes of its body; see pageproxy.Visit.
	Record      func(pageproxy.Exchange)
	MaxRecorded int64
	// MaxBody bounds the document that is made, in bytes.
	MaxBody int64
	// GiveCookie is called with cookies that the browser has now and had not before, each with a URL that it is for and as a
	// Set-Cookie field, if it is set.
	GiveCookie func(url, field string)
	// Secrets are those of How.Login, by the names that its script has for them.
	Secrets map[string]string
	// LoggedOut says that the site has answered at Asked that there is no session, in the place of Main. It needs Again.
	LoggedOut bool
	Asked     time.Time
	// Again fetches Main once more after a login, as the answer may be another then. Where there is no document to show any
	// more, it returns nil. Without it, Main is shown as it is.
	Again func(ctx context.Context) (*pageproxy.Document, error)
}

// Page is what a browser shows of a document.
type Page struct {
	// HTML is the document as its scripts have made it, in UTF-8.
	HTML []byte
	// Redirect is the URL that scripts or a meta element of the document lead to at once, "" if they do not. Then there
	// is no HTML.
	Redirect string
	// Gone says that Job.Again has returned no document: there is nothing else.
	Gone bool
	// Cut says what was not waited for, or which action failed, "" if the page is complete.
	Cut string
	// Actions say what each of those of the job has done, for a person.
	Actions []string
	// Screenshots are PNGs of the whole page: those of actions, then that of the complete page, if the job wants them.
	Screenshots [][]byte
	// PDF is the page as it is printed, if the job wants it.
	PDF []byte
	// Problems are requests that went wrong, and errors of scripts.
	Problems pageproxy.Problems
	large    bool // it takes much memory, which the next page of the tab needs

	// Totals are the requests that the page made.
	Totals pageproxy.Totals
}

// addProblems puts the problems of requests before those of scripts. Pictures are blocked by default, and say nothing.
func (p *Page) addProblems(of pageproxy.Problems) {
	of = slices.DeleteFunc(of, func(r pageproxy.Problem) bool { return r.Reason == errImage.Error() })
	all := append(of, p.Problems...)
	p.Problems = all[:min(len(all), pageproxy.MaxProblems)]
}

// Reasons why a page may not make a request.
var (
	errNoRequests = errors.New("the page may make no request (max_requests: 0)")
	errImage      = errors.New("pictures are blocked")
)

// allow is Allow with what the browser does not ask about: whether the icon of the page is blocked with its pictures. A
// limit of no request at all is one that the proxy would take for none.
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
