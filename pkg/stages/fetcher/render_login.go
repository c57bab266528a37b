package fetcher

import (
	"context"
	"net/http"

	"seine/internal/render"
	"seine/internal/render/pageproxy"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// loginFirst is why a page is shown in a browser whose document only comes with a session.
const loginFirst = "the site wants a login first"

// wantsLogin reports whether the reply says that there is no session, where one may be had: the browser logs in, and its cookies
// are those of the fetcher.
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

// fetchAgain asks for the document once more in the same turn, after a login, and makes the answer the reply. It returns nil if
// there is no document in it.
func (rd rendering) fetchAgain(ctx context.Context, t *fetchJob, transport *httpclient.Requisites) (*pageproxy.Document, error) {
	before := t.reply
	t.noteAnswer()
	t.release()
	t.ask.ETag, t.ask.LastModified = "", "" // they are of what was answered without the session
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

// loginFailure is how a page ended whose login did, nil if that is not why. A login that fails is a failure of the host, so that
// it rests until the next one; one that the site refuses is not retried.
func loginFailure(err *render.Error) *httpclient.Failure {
	class := map[render.Kind]messages.Class{render.LoginFailed: messages.Timeout, render.LoginRefused: messages.ClientError, render.NoSession: messages.ClientError}[err.Kind]
	if class == "" {
		return nil
	}
	return &httpclient.Failure{Class: class, Text: "rendering: " + err.Text, Detail: messages.DetailLogin}
}
