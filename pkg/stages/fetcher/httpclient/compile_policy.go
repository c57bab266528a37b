package httpclient

import (
	"encoding/base64"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"seine/pkg/crawlspec"
)

// missingAge is after how long the client looks again for missing secrets.
const missingAge = 5 * time.Second

// compiler compiles specs into policies.
type compiler struct {
	accepts accepts
	pools   *transportPools
	secrets secretStore
	log     *slog.Logger
	plain   sync.Map // names of secrets that were checked
}

// compile prepares the parts of a spec that all its requests share.
func (c *compiler) compile(spec *crawlspec.Spec) *Policy {
	p := &Policy{spec: spec, hidden: c.redactor(spec), guard: transportKeyOf(spec, nil).guardKey()}
	failed := false
	compiled := func(a crawlspec.Access, withheld []string) *profile {
		m := c.profile(spec, &a, withheld)
		failed = failed || m.err != nil
		p.hidden.learn(m)
		return m
	}
	p.others = compiled(spec.Access, nil)
	for i := range spec.Sources {
		m := sourceProfiles{trusted: compiled(spec.AccessOf(i, true), nil)}
		m.others = m.trusted
		if names := spec.Sources[i].Credentials(); names != nil {
			m.others = compiled(spec.AccessOf(i, false), names)
		}
		p.sources = append(p.sources, m)
	}
	for i := range spec.Requests {
		r := c.rule(&spec.Requests[i])
		if p.hidden != nil {
			r.secrets.used = p.hidden.mask
		}
		p.rules = append(p.rules, r)
	}
	p.login, p.loginErr = c.loginSecrets(spec.Render)
	if failed || p.loginErr != nil {
		p.until = time.Now().Add(missingAge)
	}
	return p
}

// loginSecrets returns the secrets for the script of a login.
func (c *compiler) loginSecrets(r *crawlspec.Render) (map[string]string, error) {
	if r == nil || r.Login == nil {
		return nil, nil
	}
	all := make(map[string]string, len(r.Login.Secrets))
	for name, text := range r.Login.Secrets {
		var err error
		if all[name], err = c.secrets.fill(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// profile prepares an access for use; its error affects no other access.
func (c *compiler) profile(spec *crawlspec.Spec, a *crawlspec.Access, withheld []string) *profile {
	m := &profile{withheld: withheld, cookies: a.Cookies != nil && *a.Cookies, transport: transportKeyOf(spec, a.TLS)}
	m.err = c.fill(m, spec, a)
	return m
}

// fill sets the headers and proxies of a profile.
func (c *compiler) fill(m *profile, spec *crawlspec.Spec, a *crawlspec.Access) (err error) {
	m.accepts = c.accepts.and(spec.Accepts())
	fixed := commonHeader(m.accepts)
	if m.private, err = c.addHeaders(fixed, a.Headers); err != nil {
		return err
	}
	if a.Auth != nil {
		value, err := c.authorization(a.Auth)
		if err != nil {
			return err
		}
		fixed["Authorization"] = []string{value}
		m.private = append(m.private, "Authorization")
	}
	agents := a.UserAgents
	if len(agents) == 0 {
		agents = []string{spec.Agent()}
	}
	for _, agent := range agents {
		h := maps.Clone(fixed)
		h["User-Agent"] = []string{agent}
		m.headers = append(m.headers, h)
	}
	for _, text := range a.Proxies {
		p, err := c.pools.proxy(text, c.secrets)
		if err != nil {
			return err
		}
		m.proxies = append(m.proxies, p)
	}
	return nil
}

// addHeaders sets fields in h with the spelling of the spec, and returns the names of those that
// hold a secret. It replaces fields of h with another spelling.
func (c *compiler) addHeaders(h http.Header, fields map[string]string) (private []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, err := c.secrets.fill(fields[name])
		if err != nil {
			return nil, err
		}
		if crawlspec.IsCredential(name, fields[name]) {
			private = append(private, name)
		}
		setField(h, name, value)
	}
	return private, nil
}

// setField sets a field with the given spelling, and removes fields with another spelling.
func setField(h http.Header, name, value string) {
	for old := range h {
		if strings.EqualFold(old, name) {
			delete(h, old)
		}
	}
	h[name] = []string{value}
}

func (c *compiler) authorization(a *crawlspec.Auth) (string, error) {
	if a.Bearer != "" {
		token, err := c.secrets.fill(a.Bearer)
		return "Bearer " + token, err
	}
	password, err := c.secrets.fill(a.Password)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+password)), err
}

// rule is a compiled RequestRule of the spec. render_rule.go fills it in for a URL.
type rule struct {
	*crawlspec.RequestRule
	match   *regexp.Regexp
	header  map[string]string // with secrets and parameters as placeholders
	private []string
	secrets secretStore
}

func (c *compiler) rule(r *crawlspec.RequestRule) rule {
	re, err := crawlspec.CompilePattern(r.Match)
	if err != nil {
		panic(err) // the spec is valid
	}
	out := rule{RequestRule: r, match: re, header: r.Headers, secrets: c.secrets}
	for name, value := range r.Headers {
		if crawlspec.IsCredential(name, value) {
			out.private = append(out.private, name)
		}
	}
	return out
}
