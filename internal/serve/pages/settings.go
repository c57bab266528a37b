package pages

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
)

// settings are the reader's settings, and information about this server.
type settings struct {
	Where    string // location of the cluster
	Mode     cluster.Mode
	Who      caller.Caller
	ReadOnly bool
}

func (s *server) settings(r *http.Request) (any, error) {
	return settings{s.Cluster.Where(), s.look(r.Context()).Mode, caller.Of(r.Context()), s.ReadOnly}, nil
}

// setTheme stores the chosen theme in a cookie, so that pages have it before any script runs. It
// changes no crawl.
func (s *server) setTheme(w http.ResponseWriter, r *http.Request) {
	c := &http.Cookie{ //nolint:gosec // it has no secret
		Name: themeCookie, Value: r.FormValue("theme"), Path: s.Prefix + "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
	if c.Value != "light" && c.Value != "dark" {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, s.Prefix+backTo(r.FormValue("back")), http.StatusSeeOther) //nolint:gosec // backTo leads to no other server
}

// backTo returns the page of this server that a form was on, or the overview.
func backTo(from string) string {
	u, err := url.Parse(from)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) {
		return "/"
	}
	return u.RequestURI()
}
