package fetcher

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"seine/internal/base/contentcoding"
	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/internal/page/mediatype"
	"seine/internal/render"
	"seine/internal/render/chromium"
	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// rendering renders pages in a browser.
type rendering struct{ *Fetcher }

// pageRenderer renders pages in a browser.
type pageRenderer interface {
	Render(ctx context.Context, job *render.Job) (*render.Page, error)
	Warm(ctx context.Context)
}

// Render makes the fetcher also take the requests whose pages may need a browser, and render such
// pages; with only, it takes no others. It must be called before Run.
func (f *Fetcher) Render(r *render.Renderer, only bool) { f.renderer, f.renderOnly = r, only }

// takeRendered takes the requests whose pages may need a browser: at once if the fetcher only
// renders, otherwise as soon as a crawl wants pages rendered.
func (rd rendering) takeRendered(ctx context.Context) error {
	if !rd.renderOnly {
		if err := rd.awaitRendering(ctx); err != nil {
			return nil // the fetcher is stopped, and no crawl wanted pages rendered
		}
	}
	go rd.renderer.Warm(ctx)
	return rd.take(ctx, messages.StageRenderer, messages.ConsumerRender)
}

// specPoll is the interval of checks for changed specs, each of which costs one atomic load.
const specPoll = time.Second

// awaitRendering waits for the first crawl that wants pages rendered. It returns an error only if
// ctx is done.
func (rd rendering) awaitRendering(ctx context.Context) error {
	for known := uint64(0); ; {
		now := rd.specs.Generation()
		for _, c := range rd.specs.Changes(known) {
			if spec, err := rd.specs.Get(ctx, c.Crawl, 0); err == nil && spec.Spec != nil && spec.MayRender() {
				return nil
			}
		}
		for known = now; rd.specs.Generation() == known; {
			if err := sleep.For(ctx, specPoll); err != nil {
				return err
			}
		}
	}
}

// renderPage renders the page in a browser if the spec wants it and the page is HTML, and makes the
// result the reply. The page was fetched as usual; the same client sends the requests of the
// browser. It returns an error only if ctx is done, or httpclient.ErrNotSent: another process may
// have the request by now, and the browser sends no more requests to the host.
func (rd rendering) renderPage(ctx context.Context, t *fetchJob) error {
	plan, document, failed := rd.planRender(ctx, t)
	if failed != nil {
		t.reply.Failed(failed)
	}
	if plan.why == "" {
		t.rendered.whyNot = plan.whyNot
		return nil
	}
	requisites := new(requisiteLog)
	page, err := rd.showPage(ctx, t, document, requisites)
	t.rendered = renderedVisit{why: plan.why, ended: time.Now()}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case requisites.withheld.Load(), t.isSuspect() && (err != nil || page.Cut != ""): // its time ended while this process was suspended
		return httpclient.ErrNotSent
	case err != nil && t.reply == nil: // the document was not fetched again
		return err
	case t.keepsDocument(err):
		t.keepDocument(err)
		return nil
	case err != nil:
		t.failRender(err)
		return nil
	}
	t.rendered.requests = page.Totals.Requests
	for _, p := range page.Problems {
		p.Reason, p.URL = string(t.ask.Policy.Hide([]byte(p.Reason))), t.ask.Policy.Redact(p.URL)
		t.rendered.problems = append(t.rendered.problems, messages.RenderProblem(p))
	}
	t.rendered.screenshots, t.rendered.pdf = page.Screenshots, page.PDF
	t.reply.BytesWire += page.Totals.Bytes
	if err := rd.keepParts(ctx, t, page, requisites.exchanges); err != nil {
		return err
	}
	switch {
	case page.Gone && t.reply.Class == messages.OK:
		t.rendered.why = "" // the reply is then something that a browser does not show
	case page.Gone:
	case page.Redirect != "":
		t.leadTo(string(t.ask.Policy.Hide([]byte(page.Redirect))))
	default:
		rd.auto.learn(ctx, plan, t, page.HTML)
		page.HTML = t.ask.Policy.Hide(page.HTML)
		t.show(page)
	}
	return nil
}

// planRender decides whether the page is rendered and why, and returns the document for the
// browser.
func (rd rendering) planRender(ctx context.Context, t *fetchJob) (renderPlan, *pageproxy.Document, *httpclient.Failure) {
	mode := t.spec.Renders(t.req.URL)
	if rd.renderer == nil || mode == crawlspec.RenderNever {
		return renderPlan{}, nil, nil
	}
	if t.wantsLogin() {
		return renderPlan{why: loginFirst}, nil, nil
	}
	document, failed := t.document()
	if document == nil {
		return renderPlan{}, nil, failed
	}
	if mode == crawlspec.RenderAuto && weburl.Route(t.req.URL) != "" {
		mode = crawlspec.RenderAlways // all routes have the same document
	}
	return rd.auto.plan(ctx, mode, t, document.Body), document, nil
}

// document returns the document for the browser, nil if the reply is not an HTML page.
func (j *fetchJob) document() (*pageproxy.Document, *httpclient.Failure) {
	r := j.reply
	if r.Class != messages.OK || !IsHTML(r.ContentType) {
		return nil, nil
	}
	body, err := decodedBody(r.Body.Data, r.Body.Encoding, j.ask.MaxBody)
	if err != nil {
		return nil, httpclient.Failf(messages.BadEncoding, "%v", err)
	}
	header := maps.Clone(r.Header)
	delete(header, "Content-Disposition") // a browser would download the page
	if j.spec.Render.Login != nil {
		header["Cache-Control"] = []string{"no-store"} // the document may change after a login
	}
	return &pageproxy.Document{URL: j.ask.URL, Status: r.Status, Header: header, Body: body}, nil
}

// showPage renders a document in the browser; if document is nil, the one that is fetched after the
// login.
func (rd rendering) showPage(ctx context.Context, t *fetchJob, document *pageproxy.Document, requisites *requisiteLog) (*render.Page, error) {
	job := rd.renderJob(t, document, requisites)
	if job.How.Login != nil {
		var err error
		if job.Secrets, err = t.ask.Policy.LoginSecrets(); err != nil {
			return nil, err
		}
	}
	return rd.renderer.Render(ctx, job)
}

// renderedVisit is the outcome of rendering a page.
type renderedVisit struct {
	why      string // "" if it was not rendered
	whyNot   string
	cut      string // why the page may be incomplete
	problems messages.RenderProblems
	ended    time.Time // when the browser stopped sending requests to the host
	requests int       // other than the one for the document
	actions  string    // the outcomes of the spec's actions

	screenshots [][]byte
	pdf         []byte
}

// IsHTML reports whether a content type is one of HTML pages, which a browser can render.
func IsHTML(contentType string) bool {
	media := mediatype.Declared(contentType)
	return media == "text/html" || media == "application/xhtml+xml"
}

// decodedBody decodes the content codings of a body. It returns an error if the result has more
// than most bytes.
func decodedBody(data []byte, codings string, most int64) ([]byte, error) {
	if codings == "" {
		return data, nil
	}
	names, err := contentcoding.Parse([]string{codings})
	if err != nil {
		return nil, err
	}
	z := contentcoding.NewReader(bytes.NewReader(data), names, 0)
	body, err := io.ReadAll(io.LimitReader(z, most+1))
	if int64(len(body)) > most {
		err = fmt.Errorf("the body is over the limit of %s", crawlspec.Bytes(most))
	}
	return body, errors.Join(err, z.Close())
}

// renderJob returns the job for the renderer.
func (rd rendering) renderJob(t *fetchJob, document *pageproxy.Document, requisites *requisiteLog) *render.Job {
	ask, agent := t.ask, t.ask.Policy.UserAgent(t.ask.URL)
	transport := rd.client.Requisites(&ask)
	job := &render.Job{
		Crawl:     fmt.Sprint(t.ask.CookieJar, " ", t.spec.Rev, " ", agent),
		Main:      pageproxy.Document{URL: t.ask.URL},
		How:       t.spec.Render,
		UserAgent: agent,
		Transport: transport,
		Allow: func(ctx context.Context, r *http.Request) error {
			if t.isSuspect() {
				requisites.withheld.Store(true)
				return errRequisiteNotSent
			}
			return rd.allowRequisite(ctx, t, r)
		},
		MaxBody:   t.ask.MaxBody,
		LoggedOut: document == nil, Asked: t.reply.Started,
	}
	if document != nil {
		job.Main = *document
	}
	if how := t.spec.Render; t.ask.Archive || len(how.Capture) > 0 {
		job.Record, job.MaxRecorded = requisites.record, int64(how.MaxBytes)
	}
	if t.ask.Policy.KeepsCookies(t.ask.URL) {
		transport.Answered(t.reply.Header)
		job.GiveCookie = transport.GiveCookie
		job.Again = func(ctx context.Context) (*pageproxy.Document, error) { return rd.fetchAgain(ctx, t, transport) }
	}
	return job
}

// Reasons why a requisite is not requested.
var (
	errRequisiteRobots  = errors.New("robots.txt forbids it (if its owner lets you, set robots: ignore)")
	errRequisiteBlocked = errors.New("the spec blocks it (render.block.urls)")
	errRequisiteNotSent = errors.New("the request may have been redelivered")
)

// allowRequisite returns an error if the spec or the robots.txt of its host forbids a request of
// the page.
func (rd rendering) allowRequisite(ctx context.Context, t *fetchJob, r *http.Request) error {
	url, err := httpclient.RequisiteURL(r)
	if err != nil {
		return err
	}
	if t.spec.Render.Blocks(url) {
		return errRequisiteBlocked
	}
	if t.spec.Robots != crawlspec.RobotsObey {
		return nil
	}
	ask := httpclient.Request{URL: url, Policy: t.ask.Policy, CookieJar: t.ask.CookieJar, Timeout: t.ask.Timeout, MaxBody: t.ask.MaxBody, Robots: true}
	got, err := rd.robots.get(ctx, &ask)
	switch {
	case err != nil:
		return err
	case got.file == nil:
		return errors.New(unreachable(got.last).Text)
	case !got.file.Group(t.spec.ProductToken()).Allowed(weburl.Path(url)):
		return errRequisiteRobots
	}
	return nil
}

// renderFailure returns the failure of a page that could not be rendered.
func renderFailure(err error) *httpclient.Failure {
	var page *render.Error
	if failed := (*httpclient.Failure)(nil); errors.As(err, &failed) {
		return failed
	}
	if errors.Is(err, chromium.ErrNone) {
		return httpclient.Failf(messages.Misconfigured, "the spec wants the page rendered, and %v", err)
	}
	if !errors.As(err, &page) { // the browser cannot be started
		return &httpclient.Failure{Class: messages.ProtocolError, Text: "the page cannot be rendered: " + err.Error(), Detail: messages.DetailRender}
	}
	if f := loginFailure(page); f != nil {
		return f
	}
	class := map[render.Kind]messages.Class{render.NoAnswer: messages.Timeout, render.TooLarge: messages.TooLarge}[page.Kind]
	if class == "" {
		class = messages.ProtocolError
	}
	return &httpclient.Failure{Class: class, Text: "rendering: " + page.Text, Detail: messages.DetailRender}
}

// renderTries is how often rendering of a page is tried before its document is kept as received.
const renderTries = 2

// keepsDocument reports whether the received document replaces a page that could not be rendered:
// rendering fails each time, or would yield nothing else. A document from before a login does not.
func (j *fetchJob) keepsDocument(err error) bool {
	var page *render.Error
	if !errors.As(err, &page) || loginFailure(page) != nil || j.spec.Render.Login != nil {
		return false
	}
	most := min(renderTries, j.spec.HostLimits(weburl.Hostname(j.req.URL)).MaxAttempts)
	return page.Kind == render.TooLarge || page.Kind == render.HalfRead || j.req.Attempt == 0 || j.req.Attempt >= most // 0 is a request outside of any crawl, which is sent once
}

// keepDocument keeps the document as received in the reply, with the reason.
func (j *fetchJob) keepDocument(err error) {
	why := string(j.ask.Policy.Hide([]byte(renderFailure(err).Text)))
	j.rendered = renderedVisit{whyNot: why, cut: why + "; the document is as it was received", ended: j.rendered.ended}
	j.reply.Text = j.rendered.cut
}

// failRender makes the reply a failed rendering. It hides secrets in the texts of scripts.
func (j *fetchJob) failRender(err error) {
	f := *renderFailure(err)
	f.Text = string(j.ask.Policy.Hide([]byte(f.Text)))
	j.reply.Failed(&f)
}

// leadTo makes the page a redirect to the target of its scripts.
func (j *fetchJob) leadTo(url string) {
	r := j.reply
	r.Header = maps.Clone(r.Header)
	r.Header.Set("Location", url)
	r.Class, r.Text = messages.Redirect, "the page redirects by script"
	r.Body, r.Request, r.Head = httpclient.Body{}, nil, nil
	r.Shrink(0)
}

// renderedType is the content type of a rendered document.
const renderedType = "text/html; charset=utf-8"

// show makes the rendered document the body of the page. It drops the validators of the received
// document: another page of the same shell may have changed.
func (j *fetchJob) show(page *render.Page) {
	r := j.reply
	sum := sha256.Sum256(page.HTML)
	r.Digest, r.ETag, r.LastModified = messages.Digest(sum[:]), "", ""
	r.ContentType = renderedType
	r.Header = maps.Clone(r.Header)
	r.Header.Set("Content-Type", r.ContentType)
	r.Body = httpclient.Body{Data: page.HTML, Size: int64(len(page.HTML))}
	r.Request, r.Head = nil, nil
	hidden := func(text string) string { return string(j.ask.Policy.Hide([]byte(text))) }
	j.rendered.cut, j.rendered.actions = hidden(page.Cut), hidden(strings.Join(page.Actions, "; "))
	r.Text = j.rendered.cut
}
