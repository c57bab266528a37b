package fetcher

import (
	"context"
	"net/http"

	"seine/internal/render"
	"seine/internal/render/pageproxy"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// loginFirst is the reason for rendering a page that requires a session.
const loginFirst = "the site wants a login first"

// wantsLogin reports whether the reply shows that the session is missing, and the browser can log
// in and share its cookies with the fetcher.
func (j *fetchJob) wantsLogin() bool {
	r := j.spec.Render
	if r == nil || r.Login == nil || !j.ask.Policy.KeepsCookies(j.ask.URL) || r.Login.Leads(j.ask.URL) {
		return false
	}
	if j.reply.Class == messages.ClientError && j.reply.Status == http.StatusUnauthorized {
		return true
	}
	next, ok := redirected(j.reply)
	return ok && r.Login.Leads(next)
}

var errNoSession = &httpclient.Failure{
	Class: messages.ClientError, Detail: messages.DetailLogin,
	Text: "the site wants a login right after that of the spec: it answers 401, or leads to render.login.url",
}

// fetchAgain fetches the document again in the same turn, after a login, and makes that the reply.
// It returns nil if the reply has no document.
func (rd rendering) fetchAgain(ctx context.Context, t *fetchJob, transport *httpclient.Requisites) (*pageproxy.Document, error) {
	before := t.reply
	t.noteAnswer()
	t.release()
	t.ask.ETag, t.ask.LastModified = "", "" // they belong to the response without the session
	if err := rd.doExchange(ctx, t); err != nil {
		return nil, err
	}
	askedBefore(t.reply, before)
	if err := rd.followSelfRedirects(ctx, t); err != nil {
		return nil, err
	}
	if t.wantsLogin() {
		return nil, errNoSession
	}
	transport.Answered(t.reply.Header)
	document, failed := t.document()
	if failed != nil {
		return nil, failed
	}
	return document, nil
}

// loginFailure returns the failure of a page whose login failed, nil if that is not the cause. A
// failed login counts as a failure of the host, which delays the next one; a login that the site
// refuses is not retried.
func loginFailure(err *render.Error) *httpclient.Failure {
	class := map[render.Kind]messages.Class{render.LoginFailed: messages.Timeout, render.LoginRefused: messages.ClientError, render.NoSession: messages.ClientError}[err.Kind]
	if class == "" {
		return nil
	}
	return &httpclient.Failure{Class: class, Text: "rendering: " + err.Text, Detail: messages.DetailLogin}
}
