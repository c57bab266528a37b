package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/base/panics"
	"seine/internal/ops/deadletters"
	"seine/internal/ops/history"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/internal/ops/procstats"
	"seine/internal/ops/records"
	"seine/internal/ops/seeds"
	"seine/internal/run/embedded"
	"seine/internal/run/specfile"
	"seine/internal/serve/cluster"
	"seine/internal/serve/problem"
	"seine/internal/serve/replays"
	"seine/internal/serve/scrape"
	"seine/internal/serve/webhooks"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier/frontierapi"
)

func init() { huma.NewError = newProblem } // set once, before any server starts

// newProblem replaces huma.NewError. Its detail describes the error and what to do.
func newProblem(status int, msg string, errs ...error) huma.StatusError {
	p := new(Problem)
	p.Status, p.Title = status, http.StatusText(status)
	var all []string
	for _, err := range fixable(status, errs) {
		p.Add(err)
		if d, ok := err.(huma.ErrorDetailer); ok { //nolint:errorlint // never wrapped
			all = append(all, detailText(d.ErrorDetail()))
		}
	}
	if p.Detail = advice(status, msg); len(all) > 0 {
		p.Detail = strings.Join(all[:min(len(all), mostDetails)], "; ") + ". " + p.Detail
	}
	return p
}

// fixable returns the errors that a caller can fix. If the body could not be read, it drops errors
// about its fields.
func fixable(status int, errs []error) (all []error) {
	unread := status == http.StatusBadRequest || status == http.StatusUnsupportedMediaType
	for _, err := range errs {
		d, ok := err.(huma.ErrorDetailer) //nolint:errorlint // never wrapped
		if err != nil && !(unread && ok && strings.HasPrefix(d.ErrorDetail().Location, "body.")) {
			all = append(all, err)
		}
	}
	return all
}

// mostDetails bounds the errors in the detail; the list has all of them.
const mostDetails = 3

func detailText(d *huma.ErrorDetail) string {
	if d.Location == "" {
		return d.Message
	}
	return d.Location + ": " + d.Message
}

// invalid is huma's message before its list of errors.
const invalid = "validation failed"

// advice adds to huma's messages what to do.
func advice(status int, msg string) string {
	switch {
	case status == http.StatusUnsupportedMediaType && msg == invalid:
		return "Set Content-Type to one that " + Base + "/openapi.json has for this operation"
	case msg == invalid:
		return "Send what " + Base + "/openapi.json says of this operation"
	case status == http.StatusRequestEntityTooLarge:
		return "the body is too large (" + msg + "): send less at a time"
	case status == http.StatusRequestTimeout:
		return "the body did not come in time (" + msg + "): send it at once"
	case status == http.StatusUnsupportedMediaType:
		return msg + ": set Content-Type to one that " + Base + "/openapi.json has for this operation"
	case status == http.StatusBadRequest && !strings.Contains(msg, ":"):
		return msg + ": send what " + Base + "/openapi.json says of this operation"
	}
	return msg
}

// problemf returns the error of an operation.
func problemf(status int, format string, args ...any) error {
	return newProblem(status, fmt.Sprintf(format, args...))
}

// retryLater returns an error with Retry-After.
func retryLater(status int, detail string) error {
	return huma.ErrorWithHeaders(newProblem(status, detail), http.Header{"Retry-After": {"2"}})
}

// problemOf converts an error to a problem.
func (a *API) problemOf(err error) error {
	if _, ok := errors.AsType[huma.StatusError](err); ok {
		return err
	}
	for _, find := range []func(error) error{problemOfName, problemOfRight, problemByKind, a.problemOfInput} {
		if p := find(err); p != nil {
			return p
		}
	}
	a.logged.Do(func() { a.Log.Warn("an operation of the API failed", "error", err, "stack", string(panics.Stack(err))) })
	return problemf(http.StatusInternalServerError, "%v", err)
}

// problemOfName handles crawls and hosts that do not exist.
func problemOfName(err error) error {
	none, is := lookup.IsNotFound(err)
	switch {
	case is && none.Kind == lookup.KindCrawl:
		return problemf(http.StatusNotFound, "%v: GET %s/crawls lists the crawls, POST %[2]s/crawls creates one", err, Base)
	case is:
		return problemf(http.StatusNotFound, "%v: GET %s/hosts lists some; \"new\": true accepts a host without URLs", err, Base)
	}
	return nil
}

// problemOfRight handles permissions that NATS denies the server.
func problemOfRight(err error) error {
	if _, told := errors.AsType[*webhooks.RecordsRefusedError](err); told {
		return problemf(http.StatusForbidden, "%v", err)
	}
	if _, refused := errors.AsType[*stages.PermissionError](err); refused {
		return problemf(http.StatusForbidden, "%v: let this server connect as a user with the permission, such as operator", err)
	}
	return nil
}

// kinds maps errors to a status and advice: {error} stands for the error, {api} for Base.
var kinds = []struct {
	err    error
	status int
	detail string
	passes bool // the request can be retried soon
}{
	{err: deadletters.ErrNone, status: http.StatusNotFound, detail: "dead letter {error}: GET {api}/dead-letters lists all"},
	{err: cluster.ErrEmpty, status: http.StatusNotFound, detail: "{error}: POST {api}/crawls or seine crawl URL creates one"},
	{err: webhooks.ErrNone, status: http.StatusNotFound, detail: "{error}: GET {api}/webhooks lists all"},
	{err: replays.ErrNone, status: http.StatusNotFound, detail: "{error}: GET {api}/crawls/{crawl}/replays lists all"},
	{err: procstats.ErrNoProcess, status: http.StatusNotFound, detail: "{error}: GET {api}/processes lists all"},
	{err: fs.ErrNotExist, status: http.StatusNotFound, detail: "the file was removed: {error}"},

	{err: cluster.ErrAway, status: http.StatusServiceUnavailable, passes: true, detail: "{error}: try again in a moment; if it stays so, start NATS and the stages (docs/guides/stages.md)"},
	{err: cluster.ErrBusy, status: http.StatusTooManyRequests, passes: true, detail: "{error}"},
	{err: scrape.ErrBusy, status: http.StatusTooManyRequests, passes: true, detail: "{error}: ask for it later, or for pages of other hosts meanwhile"},
	{err: frontierapi.ErrUnanswered, status: http.StatusServiceUnavailable, passes: true, detail: "{error}: start a frontier, or try again in a moment if one has just started"},
	{err: embedded.ErrInUse, status: http.StatusServiceUnavailable, passes: true, detail: "another command has the directory open: try again in a moment"},
	{err: context.DeadlineExceeded, status: http.StatusGatewayTimeout, passes: true, detail: lateDetail},
	{err: context.Canceled, status: http.StatusGatewayTimeout, passes: true, detail: lateDetail},

	{err: stages.ErrRevision, status: http.StatusPreconditionFailed, detail: "{error}: get the spec again and change it"},
	{err: crawlspec.ErrStandsStill, status: http.StatusConflict, detail: "{error}: PUT another spec"},
	{err: deadletters.ErrNoOrigin, status: http.StatusConflict, detail: dropDetail},
	{err: deadletters.ErrForgotten, status: http.StatusConflict, detail: dropDetail},
	{err: deadletters.ErrForeign, status: http.StatusConflict, detail: dropDetail},
	{err: deadletters.ErrTooSoon, status: http.StatusConflict, detail: dropDetail},
	{err: procstats.ErrNoDrain, status: http.StatusConflict, detail: "{error}: pause the crawl, or end the process where it runs (SIGTERM)"},
	{err: webhooks.ErrThere, status: http.StatusConflict, detail: "{error}: DELETE {api}/webhooks/{webhook} removes it, or use another name"},
	{err: webhooks.ErrTooMany, status: http.StatusConflict, detail: "{error}: DELETE {api}/webhooks/{webhook} removes one"},
	{err: webhooks.ErrElsewhere, status: http.StatusConflict, detail: elsewhereDetail},
	{err: replays.ErrElsewhere, status: http.StatusConflict, detail: elsewhereDetail},
	{err: replays.ErrFolder, status: http.StatusConflict, detail: "{error}: use another name, or omit it"},
	{err: replays.ErrTooMany, status: http.StatusConflict, detail: "{error}: DELETE {api}/crawls/{crawl}/replays/{replay} removes one"},
	{err: replays.ErrRuns, status: http.StatusConflict, detail: "{error}"},
	{err: replays.ErrDropped, status: http.StatusConflict, detail: "{error}"},
	{err: records.ErrEncrypted, status: http.StatusConflict, detail: "{error}"},
	{err: records.ErrDatabase, status: http.StatusConflict, detail: "{error}"},
	{err: records.ErrFormat, status: http.StatusConflict, detail: "{error}"},

	{err: records.ErrCursor, status: http.StatusUnprocessableEntity, detail: cursorDetail},
	{err: history.ErrNotURL, status: http.StatusUnprocessableEntity, detail: "{error}"},
	{err: scrape.ErrURL, status: http.StatusUnprocessableEntity, detail: "{error}"},
	{err: scrape.ErrBrowser, status: http.StatusUnprocessableEntity, detail: "{error}"},
}

const (
	lateDetail      = "the cluster did not answer in time: try again, or run seine doctor"
	dropDetail      = "{error} (drop it if you do not need it)"
	elsewhereDetail = "{error}: use that server, or another --state"
	cursorDetail    = "invalid cursor: use next of the previous page, or omit the cursor to start"
)

func problemByKind(err error) error {
	for _, k := range kinds {
		if !errors.Is(err, k.err) {
			continue
		}
		detail := strings.NewReplacer("{error}", err.Error(), "{api}", Base).Replace(k.detail)
		if k.passes {
			return retryLater(k.status, detail)
		}
		return newProblem(k.status, detail)
	}
	return nil
}

// problemOfInput handles errors in the request.
func (a *API) problemOfInput(err error) error {
	if broken, ok := errors.AsType[*specfile.Errors](err); ok {
		return specProblem(broken)
	}
	_, format := errors.AsType[*seeds.FormatError](err)
	failed, fetch := errors.AsType[*fetcher.FetchError](err)
	_, replay := errors.AsType[*replays.InputError](err)
	switch {
	case format, replay:
		return problemf(http.StatusUnprocessableEntity, "%v", err)
	case fetch:
		return a.fetchProblem(failed)
	}
	return nil
}

// specProblem returns all errors of a spec, with line and column.
func specProblem(broken *specfile.Errors) error {
	p := &huma.ErrorModel{Status: http.StatusUnprocessableEntity, Title: http.StatusText(http.StatusUnprocessableEntity)}
	for _, one := range broken.Problems {
		p.Errors = append(p.Errors, &huma.ErrorDetail{Message: one.Text, Location: one.Path, Value: map[string]int{"line": one.Line, "column": one.Column}})
	}
	p.Detail = fmt.Sprintf("the spec is invalid: fix %s", broken.Error())
	return p
}

// SiteResponse is the result of the request for a page.
type SiteResponse struct {
	URL    string         `json:"url"` // of the page, or of what it redirects to
	Class  messages.Class `json:"class" doc:"How the request ended, as in docs/reference/wire.md: gone, throttled, timeout and so on."`
	Status int            `json:"status,omitempty" doc:"Of the site's response; absent if there was none."`
}

// Problem is the reply of a failed operation (RFC 9457).
type Problem struct {
	huma.ErrorModel
	Site *SiteResponse `json:"site,omitempty" doc:"Of a page that could not be fetched: how its site answered."`
}

// problemIn returns a problem for inclusion in a larger reply.
func problemIn(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	p := new(Problem)
	if other, ok := errors.AsType[*huma.ErrorModel](err); ok {
		p.ErrorModel = *other
	}
	return p
}

// ofRequest is advice for failures that the request causes, by the class of the result.
var ofRequest = map[messages.Class]string{
	messages.UnsupportedType: "a list of URLs begins at an HTML page",
	messages.Misconfigured:   "correct the spec of the request, or the server's --secrets",
}

// fetchProblem returns the problem for a page that could not be fetched.
func (a *API) fetchProblem(e *fetcher.FetchError) error {
	status, advice := http.StatusBadGateway, cmp.Or(overview.Remedies[e.Class], ofRequest[e.Class], "try again later")
	switch {
	case e.Class == messages.ClientError && e.Status < http.StatusBadRequest:
		advice = overview.Remedies[messages.Redirect]
	case e.Class == messages.RobotsDenied:
		status = http.StatusForbidden
	case e.Class == messages.RefusedAddress && a.AllowPrivate:
		status, advice = http.StatusForbidden, "add allow_private: true to the spec of the request"
	case e.Class == messages.RefusedAddress:
		status, advice = http.StatusForbidden, "start the server with --allow-private"
	}
	p := &Problem{Site: &SiteResponse{URL: e.URL, Class: e.Class, Status: e.Status}}
	p.Status, p.Title, p.Detail = status, http.StatusText(status), fmt.Sprintf("%v: %s", e, advice)
	return p
}

// methods are the HTTP methods of operations.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch}

// notFound replies to a path without operations, or to a method that the path does not support.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range methods {
		other := r.Clone(r.Context())
		other.Method = m
		if _, pattern := a.mux.Handler(other); pattern != "" {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		problem.Write(w, http.StatusMethodNotAllowed, r.Method+" does nothing here: use "+strings.Join(allowed, " or "))
		return
	}
	problem.Write(w, http.StatusNotFound, "no such path: "+a.PathPrefix+Base+"/openapi.json lists all paths")
}

// specProblems returns the problems of a spec.
func specProblems(err error) []specfile.Problem {
	if broken, ok := errors.AsType[*specfile.Errors](err); ok {
		return broken.Problems
	}
	return []specfile.Problem{{Text: err.Error()}}
}
