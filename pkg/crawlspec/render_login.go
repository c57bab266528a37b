package crawlspec

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"seine/internal/base/weburl"
)

// RenderStorage is the lifetime of data that pages store in the browser.
type RenderStorage string

// Values of RenderStorage.
const (
	StoragePage  RenderStorage = "page"  // deleted after each page
	StorageCrawl RenderStorage = "crawl" // available to the next pages of the crawl
)

// RenderLogin says how a tab of the browser gets a session: before its first page, and when
// a page shows that the session has ended.
type RenderLogin struct {
	// URL is the page where the script runs. Secrets are sent only to its origin.
	URL string `json:"url"`
	// Script is the body of an async function in JavaScript that logs in. Its one argument,
	// secrets, is an object that has those of Secrets.
	Script string `json:"script"`
	// Secrets are available to the script by name, each as "{secret:NAME}", never the secret itself.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Wait says when the page of URL is complete, so that the script can run, and when the
	// login is: until (idle if it is left out) holds before and after the script, all else after it.
	Wait RenderWait `json:"wait,omitzero"`
	// When is a JavaScript expression that is true on a page without a session; a promise is awaited.
	When string `json:"when,omitempty"`
}

// maxLoginSecrets bounds the secrets of a login.
const maxLoginSecrets = 20

// KeepsStorage reports whether data that pages store in the browser is available to the next pages,
// which a login requires.
func (r *Render) KeepsStorage() bool { return r.Storage == StorageCrawl || r.Login != nil }

// Leads reports whether a canonical URL is the login page's, ignoring both queries.
func (l *RenderLogin) Leads(url string) bool {
	login, err := weburl.Canonicalize(l.URL)
	if err != nil {
		return false
	}
	login, _, _ = strings.Cut(login, "?")
	url, _, _ = strings.Cut(url, "?")
	return url == login
}

// SecretsTo returns the origin whose page may read the secrets, "" if there are none.
func (l *RenderLogin) SecretsTo() string {
	if l == nil || len(l.Secrets) == 0 {
		return ""
	}
	url, err := weburl.Canonicalize(l.URL)
	if err != nil {
		return ""
	}
	return weburl.Origin(url)
}

// templates returns the texts that name secrets, sorted by their names in the script.
func (l *RenderLogin) templates() (all []Template) {
	if l == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(l.Secrets)) {
		all = append(all, Template(l.Secrets[name]))
	}
	return all
}

var (
	errNoLoginURL    = errors.New("is missing: say where to log in, as in https://shop.example/login")
	errNoLoginScript = errors.New("is missing: say how to log in, in JavaScript that fills the form and sends it")
	errPlainSecret   = errors.New(`write the name of a secret, as in "{secret:NAME}": a spec is not secret`)
)

func (r *Render) checkLogin(p *Problems) {
	p.oneOf("render.storage", string(r.Storage), []string{string(StoragePage), string(StorageCrawl)})
	l := r.Login
	if l == nil {
		return
	}
	if l.URL == "" {
		p.Add("render.login.url", errNoLoginURL)
	} else if _, err := weburl.Canonicalize(l.URL); err != nil {
		p.Add("render.login.url", err)
	}
	p.noSecret("render.login.url", l.URL)
	if strings.TrimSpace(l.Script) == "" {
		p.Add("render.login.script", errNoLoginScript)
	}
	p.script("render.login.script", l.Script)
	p.long("render.login.when", l.When)
	p.noSecret("render.login.when", l.When)
	r.checkWait(p, "render.login.wait", &l.Wait)
	l.checkSecrets(p)
}

func (l *RenderLogin) checkSecrets(p *Problems) {
	if len(l.Secrets) > maxLoginSecrets {
		p.Addf("render.login.secrets", "%d secrets: at most %d", len(l.Secrets), maxLoginSecrets)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.Secrets)) {
		at := "render.login.secrets." + name
		if l.Secrets[name] == "" {
			p.Add(at, errPlainSecret)
		}
		p.secretOnly(at, l.Secrets[name])
	}
}
