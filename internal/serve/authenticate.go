package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
)

// checkExposure rejects an address that other machines can reach if no authentication is
// configured.
func (o *Options) checkExposure(host string) error {
	if o.Tokens != nil && o.Tokens.Len() == 0 && o.TLS.ClientCA == "" {
		return errors.New("--tokens: the file has no tokens: create one with seine token create")
	}
	if isLoopback(host) || o.Tokens != nil || o.TLS.ClientCA != "" {
		return nil
	}
	return fmt.Errorf("--listen %s: other machines can reach that address and could read and change every crawl: "+
		"give --tokens FILE (seine token create makes one) or --client-ca FILE, or listen at %s", o.Listen, DefaultListen)
}

// isLoopback reports whether a host is reachable from this machine only.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// openPaths need no authentication: users log in there, and health checks have no token.
var openPaths = map[string]bool{"/login": true, "/logout": true, "/healthz": true}

// isOpen reports whether a path needs no authentication. The static files are the same for all
// users, and the login page needs them.
func isOpen(path string) bool { return openPaths[path] || strings.HasPrefix(path, "/static/") }

// authenticate identifies the caller.
func (o *Options) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, why := o.caller(r)
		if why == "" {
			authenticated(r.Context())
		}
		switch {
		case why == "" || isOpen(r.URL.Path):
			next.ServeHTTP(w, r.WithContext(caller.With(r.Context(), c)))
		case wantsPage(r):
			http.Redirect(w, r, o.PathPrefix+"/login?to="+url.QueryEscape(localPath(r.URL.RequestURI())), http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="seine"`)
			problem.Write(w, http.StatusUnauthorized, why)
		}
	})
}

// wantsPage reports whether a browser requests a page, as opposed to a program requesting data.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// caller returns the caller of a request, or the reason why there is none.
func (o *Options) caller(r *http.Request) (c caller.Caller, why string) {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return caller.Caller{Name: "certificate " + r.TLS.VerifiedChains[0][0].Subject.CommonName, Scopes: caller.All()}, ""
	}
	if o.Tokens == nil {
		if host, _, err := net.SplitHostPort(r.RemoteAddr); o.TLS.ClientCA == "" && err == nil && isLoopback(host) {
			return caller.Caller{Name: caller.Local, Scopes: caller.All()}, ""
		}
		return c, "a client certificate is needed: present one that is signed by the authority of --client-ca"
	}
	secret := secretOf(r)
	if secret == "" {
		return c, "a token is needed: send it as Authorization: Bearer TOKEN (the server's owner makes one with seine token create)"
	}
	c, ok := o.Tokens.Caller(secret)
	if !ok {
		return c, "the token is not known here, was revoked, or has expired: ask the server's owner for another (seine token create)"
	}
	return c, ""
}

// secretOf returns the token of a request, from its header or from the cookie of the login page.
func secretOf(r *http.Request) string {
	if scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(secret)
	}
	if cookie, err := r.Cookie(cookieName); err == nil {
		return cookie.Value
	}
	return ""
}
