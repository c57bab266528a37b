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

// refusal is the reason why the API rejected the request of a form.
type refusal struct {
	Status int
	Detail string
}

// Error returns the detail.
func (r *refusal) Error() string { return r.Detail }

// carryOut sends a request to the API on behalf of the caller, under the same checks as for
// programs, and decodes the response into to, unless that is nil. The error is a *refusal.
func (s *server) carryOut(r *http.Request, method, path string, body []byte, kind string, to any, header ...string) error {
	ask, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), method, api.Base+path, bytes.NewReader(body)) //nolint:gosec // handled in this process
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

// get sends a GET request and decodes the response into to. query has names and values; empty
// values are dropped.
func (s *server) get(r *http.Request, path string, to any, query ...string) error {
	return s.carryOut(r, http.MethodGet, withQuery(path, make(url.Values), query), nil, "", to)
}

// carryOutJSON is carryOut with a JSON body.
func (s *server) carryOutJSON(r *http.Request, method, path string, body, to any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return badInput{err}
	}
	return s.carryOut(r, method, path, text, "application/json", to)
}

// saidCookie has the result of the last form until the next page shows it.
const saidCookie = "seine-said"

// done redirects to a page, which shows what was done.
func (s *server) done(w http.ResponseWriter, r *http.Request, to, said string) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it has no secret
		Name: saidCookie, Value: url.QueryEscape(said), Path: s.Prefix + "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	s.Feed.Refresh()
	s.answers.Forget()
	http.Redirect(w, r, s.Prefix+backTo(to), http.StatusSeeOther) //nolint:gosec // backTo leads to no other server
}

// said returns the result of the last form, once.
func (s *server) said(w http.ResponseWriter, r *http.Request) string {
	c, err := r.Cookie(saidCookie)
	if err != nil || r.Header.Get("X-Seine-Parts") != "" { // a page that is rendered again has shown it
		return ""
	}
	http.SetCookie(w, &http.Cookie{Name: saidCookie, Path: s.Prefix + "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // removes the cookie
	text, _ := url.QueryUnescape(c.Value)
	return text
}
