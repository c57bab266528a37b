package pages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"seine/internal/base/jsontext"
	"seine/internal/serve/api"
	problems "seine/internal/serve/problem"
	"seine/internal/serve/responsebuffer"
)

// refusal is why the API has not done what a form asked for.
type refusal struct {
	Status int
	Detail string
}

// Error is the detail.
func (r *refusal) Error() string { return r.Detail }

// carryOut has the API do something, as the caller of a request and under the same guards as any program, and reads its
// answer into to, unless that is nil. The error is a *refusal.
func (s *server) carryOut(r *http.Request, method, path string, body []byte, kind string, to any, header ...string) error {
	ask, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), method, api.Base+path, bytes.NewReader(body)) //nolint:gosec // it goes to no server, but to the handler of the API
	if err != nil {
		return badInput{err}
	}
	ask.RemoteAddr = r.RemoteAddr
	if kind != "" {
		ask.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		ask.Header.Set(header[i], header[i+1])
	}
	out := responsebuffer.New()
	s.API.ServeHTTP(out, ask)
	if out.Status >= http.StatusBadRequest {
		return &refusal{out.Status, cmp.Or(inPageWords(problems.Detail(out.Body.Bytes())), http.StatusText(out.Status))}
	}
	if to == nil {
		return nil
	}
	return jsontext.Unmarshal(out.Body.Bytes(), to)
}

// get has the API answer a question into to. The query has names and values; empty values are left out.
func (s *server) get(r *http.Request, path string, to any, query ...string) error {
	return s.carryOut(r, http.MethodGet, withQuery(path, make(url.Values), query), nil, "", to)
}

// carryOutJSON is carryOut for a body that is JSON.
func (s *server) carryOutJSON(r *http.Request, method, path string, body, to any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return badInput{err}
	}
	return s.carryOut(r, method, path, text, "application/json", to)
}

// saidCookie has what came of the last form, until the next page has told it.
const saidCookie = "seine-said"

// done leads back to a page, which says what was done.
func (s *server) done(w http.ResponseWriter, r *http.Request, to, said string) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it has no secret; without TLS it goes in the clear as the pages do
		Name: saidCookie, Value: url.QueryEscape(said), Path: s.Prefix + "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	s.Feed.Refresh()
	s.answers.Forget()
	http.Redirect(w, r, s.Prefix+backTo(to), http.StatusSeeOther) //nolint:gosec // backTo leads to no other server
}

// said returns what came of the last form, once.
func (s *server) said(w http.ResponseWriter, r *http.Request) string {
	c, err := r.Cookie(saidCookie)
	if err != nil || r.Header.Get("X-Seine-Parts") != "" { // a page that is rendered again has shown it
		return ""
	}
	http.SetCookie(w, &http.Cookie{Name: saidCookie, Path: s.Prefix + "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // it is removed
	text, _ := url.QueryUnescape(c.Value)
	return text
}
