package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/runtime"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// pageLogin logs in before a page is shown.
type pageLogin struct{ *visit }

// maxLoginLoads bounds the documents that a login loads, including redirects.
const maxLoginLoads = 20

// showBehindLogin shows a page. If the job has a login, the tab logs in before its first page, and
// when a page shows that the session has ended; then that page is shown once more.
func (t *tab) showBehindLogin(ctx context.Context, proxy *pageproxy.Proxy, job *Job) (*Page, error) {
	if job.How.Login == nil {
		return t.show(ctx, proxy, job)
	}
	fresh := t.loggedIn.IsZero() || job.LoggedOut && t.loggedIn.Before(job.Asked)
	if !fresh && !job.LoggedOut {
		p, err := t.show(ctx, proxy, job)
		if !errors.Is(err, errNoSession) {
			return p, err
		}
		fresh = true
	}
	if fresh {
		if err := t.logIn(ctx, proxy, job); err != nil {
			return nil, err
		}
	}
	document := &job.Main
	if job.Again != nil {
		var err error
		if document, err = job.Again(ctx); err != nil {
			return nil, err
		}
	}
	if document == nil {
		return &Page{Gone: true}, nil
	}
	proxy.Replace(document)
	return t.show(ctx, proxy, job)
}

// logIn runs the script of the login in its page. Its requests are part of the visit.
func (t *tab) logIn(ctx context.Context, proxy *pageproxy.Proxy, job *Job) error {
	v := t.newVisit(proxy, job)
	v.loggingIn = true
	defer v.begin(ctx)()
	t.sentSecrets.Store(true)
	proxy.Replace(nil) // if the login leads to the page, the request must reach the site
	within, cancel := context.WithTimeoutCause(v.ctx, time.Duration(job.How.Timeout), errTimeout)
	defer cancel()
	if err := (pageLogin{v}).run(within); err != nil {
		return pageLogin{v}.loginFailure(ctx, within, err)
	}
	t.loggedIn = time.Now()
	t.giveCookies(ctx, job)
	return nil
}

// run performs the steps of a login, and leaves its last page.
func (pl pageLogin) run(ctx context.Context) error {
	l := pl.job.How.Login
	if err := pl.mayAsk(ctx, l.URL); err != nil {
		return fmt.Errorf("its page may not be requested: %w", err)
	}
	failed, err := pl.tab.navigate(ctx, l.URL)
	if err == nil && failed != "" {
		err = errors.New("its page cannot be loaded: " + failed)
	}
	if err != nil {
		return err
	}
	wait := l.Wait
	wait.Until = cmp.Or(wait.Until, crawlspec.UntilIdle)
	if err := pl.settle(ctx, wait.Until); err != nil {
		return err
	}
	if err := pl.fill(ctx, l); err != nil {
		return err
	}
	if err := pl.succeed(ctx, &wait); err != nil {
		return err
	}
	_, err = pl.tab.navigate(ctx, emptyPage)
	return err
}

// refusedTime is how long a login may take. After it, an idle page means that the site has refused
// the login.
const refusedTime = 5 * time.Second

// Expressions that are true on an idle page after a failed login.
const (
	passwordField = `document.querySelector("input[type=password]")` // the page asks for a login; used if RenderLogin.When is empty
	serverError   = `performance.getEntriesByType("navigation")[0]?.responseStatus >= 500`
)

// refusals are logins that sites have refused. Trying them for each page would lock the account.
type refusals struct{ sync.Map }

// of returns an error if the login of a job was refused before.
func (r *refusals) of(job *Job) error {
	if known, ok := r.Load(loginKey(job)); ok {
		return &Error{LoginFailed, known.(*Error).Text + "; it is not tried again until the spec changes or the process restarts"}
	}
	return nil
}

// note remembers a refusal, if err is one.
func (r *refusals) note(job *Job, err error) {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == LoginRefused {
		r.Store(loginKey(job), e)
	}
}

// loginKey identifies a login of a crawl, including its secrets.
func loginKey(job *Job) string {
	if job.How.Login == nil {
		return ""
	}
	return fmt.Sprint(job.Crawl, job.How.Login.URL, job.How.Login.Script, job.Secrets)
}

// succeed waits until the login has worked. It returns errRefused or errUnmet as soon as it
// certainly will not.
func (pl pageLogin) succeed(ctx context.Context, wait *crawlspec.RenderWait) error {
	brief, cancel := context.WithTimeout(ctx, min(refusedTime, time.Duration(pl.job.How.Timeout)/2))
	defer cancel()
	err := pl.waitFor(brief, wait)
	if err == nil || brief.Err() == nil || ctx.Err() != nil {
		return err
	}
	resting, cancel := context.WithTimeout(ctx, refusedTime)
	defer cancel()
	if pl.settle(resting, crawlspec.UntilIdle) != nil {
		return pl.waitFor(ctx, wait)
	}
	if wanted, err := pl.tab.evaluate(ctx, cmp.Or(pl.job.How.Login.When, passwordField)); err == nil && wanted {
		return errRefused
	}
	if failed, err := pl.tab.evaluate(ctx, serverError); err != nil || failed {
		return pl.waitFor(ctx, wait)
	}
	return errUnmet
}

var (
	errRefused = errors.New("the site has refused it: check the secrets and the script")
	errUnmet   = errors.New("its page is idle, and its wait condition is not met: check the secrets, the script and wait")
)

// mayAsk asks for permission like the proxy, whose refusal would look like any other page.
func (pl pageLogin) mayAsk(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	return pl.job.allow()(ctx, r)
}

// loginScript runs a script if the page has the origin that its secrets are for; otherwise it
// yields the error. A page with status 401 or 403 may have the login form too.
const loginScript = `(async secrets => {
	if (location.origin !== ORIGIN) return "its URL leads to " + location.origin + ", which the secrets are not for"
	const status = performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0
	if (status >= 400 && status !== 401 && status !== 403) return "its page is answered with status " + status
	await (async () => {SCRIPT
	})()
	return ""
})(SECRETS)`

// fill runs the script of the login. A script that leads to another page ends there; the caller
// waits for what follows.
func (pl pageLogin) fill(ctx context.Context, l *crawlspec.RenderLogin) error {
	url, err := weburl.Canonicalize(l.URL)
	if err != nil {
		return err
	}
	secrets, err := json.Marshal(pl.job.Secrets)
	if err != nil {
		return err
	}
	script := strings.NewReplacer("ORIGIN", quote(weburl.Origin(url)), "SCRIPT", l.Script, "SECRETS", string(secrets)).Replace(loginScript)
	value, thrown, err := runtime.Evaluate(script).WithAwaitPromise(true).WithReturnByValue(true).WithUserGesture(true).Do(pl.tab.within(ctx))
	refused, why := (*cdproto.Error)(nil), ""
	switch {
	case errors.As(err, &refused) && ctx.Err() == nil:
		return nil
	case err != nil:
		return err
	case thrown != nil:
		return errors.New("its script fails: " + thrownText(thrown))
	}
	if err := jsontext.Unmarshal(value.Value, &why); err != nil || why == "" {
		return err
	}
	return errors.New(why)
}

// thrownText returns the text of an exception, without its position.
func thrownText(thrown *runtime.ExceptionDetails) string {
	text := thrown.Text
	if e := thrown.Exception; e != nil && e.Description != "" {
		text, _, _ = strings.Cut(e.Description, "\n")
	} else if e != nil && len(e.Value) > 0 {
		text = string(e.Value)
	}
	return text
}

// loginFailure returns the error for a failed login: the browser has ended, the crawl ends, or the
// login does not work as specified.
func (pl pageLogin) loginFailure(ctx, within context.Context, err error) error {
	why := err.Error()
	switch cause := context.Cause(pl.ctx); {
	case pl.tab.browser.ended():
		return errBrowserGone
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case cause != nil:
		why = cause.Error()
	case within.Err() != nil:
		why = "its wait condition was not met within " + pl.job.How.Timeout.String() + "; check the secrets, the script and wait"
	}
	failed := &Error{LoginFailed, "the login at " + pl.job.How.Login.URL + " failed: " + why}
	if errors.Is(err, errRefused) || errors.Is(err, errUnmet) {
		failed.Kind = LoginRefused
	}
	return failed
}

// checkSession returns errNoSession if the page shows that there is no session.
func (pl pageLogin) checkSession(ctx context.Context) error {
	l := pl.job.How.Login
	if l == nil || l.When == "" {
		return nil
	}
	ended, err := pl.tab.evaluate(ctx, l.When)
	switch {
	case ended:
		return errNoSession
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil // exceptions count as false
}

// endsSession reports whether the page itself has redirected to the login.
func (pl pageLogin) endsSession() bool {
	l := pl.job.How.Login
	if l == nil {
		return false
	}
	to, err := weburl.Canonicalize(pl.redirect)
	return err == nil && l.Leads(to)
}

// record returns the job's Record, without request bodies in a visit that logs in: they contain
// secrets, in any form.
func (t *tab) record(job *Job) func(pageproxy.Exchange) {
	if job.Record == nil || job.How.Login == nil {
		return job.Record
	}
	return func(x pageproxy.Exchange) {
		if t.sentSecrets.Load() {
			x.RequestBody = nil
		}
		job.Record(x)
	}
}
