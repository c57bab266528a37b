package crawlspec

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// RequestRule defines how matching URLs are requested, where a plain GET is not enough, such as for APIs. The URL
// stays the name of the page; the rule changes only the request.
//
//	match: "https://api.example.org/search?*"
//	method: POST
//	headers: {Content-Type: application/json}
//	body: '{"q": "{q}", "page": {page|1}}'
//	query: {key: "{secret:API_KEY}"}
//
// sends what the URL's parameters q and page say as JSON, and a key that no
// message holds.
type RequestRule struct {
	Match  string `json:"match"`
	Method string `json:"method,omitempty"` // GET if empty
	// Query adds parameters to the query that is sent, or replaces them.
	Query   map[string]Template `json:"query,omitempty"`
	Headers map[string]string   `json:"headers,omitempty"`
	// Body is sent with the request. What is filled in is escaped for the
	// Content-Type in Headers: JSON, a form, or not at all. The parameters that it
	// uses are left out of the query that is sent.
	Body Template `json:"body,omitempty"`
}

// Methods are the valid methods of a request rule.
var Methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch}

// maxRequestBody bounds the template of a body, in bytes.
const maxRequestBody = 64 << 10

func (r *RequestRule) check(p *Problems, path string) {
	p.pattern(path+".match", r.Match)
	if r.Method != "" {
		p.oneOf(path+".method", r.Method, Methods)
	}
	switch {
	case r.Body != "" && (r.Method == "" || r.Method == http.MethodGet):
		p.Addf(path+".body", "a GET has none; write method: POST")
	case len(r.Body) > maxRequestBody:
		p.Addf(path+".body", "has %d bytes: at most %d", len(r.Body), maxRequestBody)
	}
	named := r.namesHost()
	checkHeaders(p, path+".headers", r.Headers, named)
	p.Add(path+".body", checkSecrets(string(r.Body), named))
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		if name == "" {
			p.Addf(path+".query", "a parameter has no name")
		}
		p.Add(path+".query."+name, checkSecrets(string(r.Query[name]), named))
	}
}

// SecretParameters returns the names of the parameters of Query that hold a secret. URLs do not
// contain them: they are added when the request is sent. It omits parameters that the rule also
// reads from the URL.
func (r *RequestRule) SecretParameters() []string {
	var names []string
	read := r.reads()
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		if len(r.Query[name].Secrets()) > 0 && !read[name] {
			names = append(names, name)
		}
	}
	return names
}

// reads returns the names of the URL parameters that the rule uses.
func (r *RequestRule) reads() map[string]bool {
	read := make(map[string]bool)
	for _, t := range r.templates() {
		for _, p := range t.Placeholders() {
			read[p.Name] = read[p.Name] || !p.Secret
		}
	}
	return read
}

// templates returns the templates of the rule.
func (r *RequestRule) templates() []Template {
	all := []Template{r.Body}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		all = append(all, r.Query[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		all = append(all, Template(r.Headers[name]))
	}
	return all
}

// Secrets returns the names of the secrets that a fetcher needs for the spec, each once and sorted:
// those in headers, credentials, proxies, request rules and the login.
func (s *Spec) Secrets() []string {
	var texts []Template
	for source := -1; source < len(s.Sources); source++ {
		a := s.AccessOf(source, true)
		for _, v := range a.Headers {
			texts = append(texts, Template(v))
		}
		if a.Auth != nil {
			texts = append(texts, Template(a.Auth.Password), Template(a.Auth.Bearer))
		}
		for _, p := range a.Proxies {
			texts = append(texts, Template(p))
		}
	}
	for i := range s.Requests {
		texts = append(texts, s.Requests[i].templates()...)
	}
	if s.Render != nil {
		texts = append(texts, s.Render.Login.templates()...)
	}
	var names []string
	for _, t := range texts {
		names = append(names, t.Secrets()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namesHost reports whether only URLs of one origin match.
func (r *RequestRule) namesHost() bool { return r.origin() != "" }

// origin returns the origin of all matching URLs, as in "https://example.org:8443"; "" if they may
// have several.
func (r *RequestRule) origin() string {
	scheme, rest, _ := strings.Cut(r.Match, "://")
	host, _, slash := strings.Cut(rest, "/")
	if scheme != "http" && scheme != "https" || !slash || host == "" || strings.Contains(host, "*") {
		return ""
	}
	return scheme + "://" + host
}

// SecretsTo returns the origin that receives the secrets of the rule, "" if it has none.
func (r *RequestRule) SecretsTo() string {
	if !slices.ContainsFunc(r.templates(), func(t Template) bool { return secretIn(string(t)) != "" }) {
		return ""
	}
	return r.origin()
}
