package httpclient

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"seine/internal/base/weburl"
	"seine/internal/page/mediatype"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// renderedRequest is a request for a URL that is not a plain GET.
type renderedRequest struct {
	method  string
	url     string // canonical
	header  map[string]string
	body    string
	private []string // names of fields that must not be stored
	// hidden means that url or body holds a secret, so neither is stored.
	hidden bool
}

// render fills in the rule for a URL. The error is a failure: a parameter or a secret is missing.
func (r *rule) render(target string) (*renderedRequest, error) {
	base, rawQuery, _ := strings.Cut(target, "?")
	params, err := url.ParseQuery(rawQuery)
	if err != nil {
		params = url.Values{} // its placeholders will find no values
	}
	s := &renderedRequest{method: r.Method, private: r.private}
	if s.method == "" {
		s.method = http.MethodGet
	}
	if s.header, err = r.headers(params); err != nil {
		return nil, err
	}
	if s.body, err = r.Body.Fill(r.value(params, escaperOf(s.header))); err != nil {
		return nil, err
	}
	query, err := r.query(rawQuery, params)
	if err != nil {
		return nil, err
	}
	if query != "" {
		base += "?" + query
	}
	if s.url, err = weburl.Canonicalize(base); err != nil {
		// Without the URL, which may hold a secret.
		return nil, Failf(messages.Misconfigured, "request rule for %s: what it makes of the URL cannot be sent: %v", r.Match, errors.Unwrap(err))
	}
	s.hidden = r.hides()
	return s, nil
}

func (r *rule) headers(params url.Values) (map[string]string, error) {
	filled := make(map[string]string, len(r.header))
	for name, value := range r.header {
		v, err := crawlspec.Template(value).Fill(r.value(params, nil))
		if err != nil {
			return nil, err
		}
		if !httpguts.ValidHeaderFieldValue(v) {
			return nil, Failf(messages.Misconfigured, "request rule for %s: header %s would have a value that no header can have", r.Match, name)
		}
		filled[name] = v
	}
	return filled, nil
}

// query returns the URL's query without the parameters that the body uses, and with those of the
// rule.
func (r *rule) query(raw string, params url.Values) (string, error) {
	dropped := make(map[string]bool)
	for name := range r.Query {
		dropped[name] = true
	}
	for _, p := range r.Body.Placeholders() {
		dropped[p.Name] = !p.Secret
	}
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		key, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if pair != "" && !(err == nil && dropped[name]) {
			kept = append(kept, pair) // with its spelling
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		v, err := r.Query[name].Fill(r.value(params, nil))
		if err != nil {
			return "", err
		}
		kept = append(kept, url.QueryEscape(name)+"="+url.QueryEscape(v))
	}
	return strings.Join(kept, "&"), nil
}

// value returns a function that returns the escaped value of a placeholder.
func (r *rule) value(params url.Values, escape func(string) string) func(crawlspec.Placeholder) (string, error) {
	return func(p crawlspec.Placeholder) (v string, err error) {
		switch {
		case p.Secret:
			if v, err = r.secrets.get(p.Name); err != nil {
				return "", err
			}
		case params.Has(p.Name):
			v = params.Get(p.Name)
		case p.HasDefault:
			v = p.Default
		default:
			return "", Failf(messages.Misconfigured, "request rule for %s: the URL has no parameter %s, and {%s} has no default, as in {%s|1}",
				r.Match, p.Name, p.Name, p.Name)
		}
		if escape != nil {
			v = escape(v)
		}
		return v, nil
	}
}

// hides reports whether the URL or the body contains a secret.
func (r *rule) hides() bool {
	secret := func(t crawlspec.Template) bool {
		return slices.ContainsFunc(t.Placeholders(), func(p crawlspec.Placeholder) bool { return p.Secret })
	}
	return secret(r.Body) || slices.ContainsFunc(slices.Collect(maps.Values(r.Query)), secret)
}

// escaperOf returns the escaping of values in a body of the type that the header names.
func escaperOf(header map[string]string) func(string) string {
	for name, value := range header {
		if !strings.EqualFold(name, "Content-Type") {
			continue
		}
		switch t := mediatype.Declared(value); {
		case t == "application/x-www-form-urlencoded":
			return url.QueryEscape
		case t == "application/json", strings.HasSuffix(t, "+json"):
			return jsonText
		}
	}
	return nil
}

// jsonText escapes a string for JSON, without quotes: the template has them if the value is to be a
// string.
func jsonText(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		panic(err) // a string cannot fail
	}
	return string(b[1 : len(b)-1])
}
