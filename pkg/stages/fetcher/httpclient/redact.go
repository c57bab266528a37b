package httpclient

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/fetch/secrets"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// redactor removes the secrets of a spec from responses, so that a secret that a host repeats is in
// no message, log or file. It recognises secrets by their values, and in URLs also by the names of
// their parameters. A nil redactor, for a spec without secrets, changes nothing.
type redactor struct {
	mask *secrets.Mask
	urls *weburl.Normalizer
}

// redactor returns the redactor of a spec. A secret that is missing now is added when a request
// rule finds it.
func (c *compiler) redactor(spec *crawlspec.Spec) *redactor {
	names := spec.Secrets()
	if len(names) == 0 {
		return nil
	}
	r := &redactor{mask: new(secrets.Mask), urls: spec.SecretNormalizer()}
	for _, name := range names {
		v, err := c.secrets.Get(name)
		if err != nil {
			continue
		}
		r.mask.Add(v)
		if _, told := c.plain.LoadOrStore(name, true); !told && !secrets.Maskable(v) {
			c.log.Warn("a secret is too short or too common to be redacted: if a site prints it, it is stored", "secret", name)
		}
	}
	return r
}

// learn adds the derived forms of secrets in a profile.
func (r *redactor) learn(m *profile) {
	if r == nil {
		return
	}
	credentials := func(header string) {
		_, text, _ := strings.Cut(header, " ")
		r.mask.Add(strings.TrimRight(text, "=")) // base64 padding is optional
	}
	for _, h := range m.headers {
		credentials(h.Get("Authorization"))
	}
	for _, p := range m.proxies {
		if p.url.User != nil {
			credentials(basic(p.url.User))
		}
	}
}

func (r *redactor) active() bool { return r != nil && r.mask.Active() }

func (r *redactor) text(s string) string {
	if r == nil {
		return s
	}
	return r.mask.String(s)
}

// url removes the parameters with secrets from a canonical URL.
func (r *redactor) url(u string) string {
	if r == nil {
		return u
	}
	return r.urls.Normalize(u)
}

// reader returns a decoded body without secrets.
func (r *redactor) reader(body io.Reader) io.Reader {
	if r == nil {
		return body
	}
	return r.mask.Reader(body)
}

var errSecretInPath = Failf(messages.ClientError, "redirects to a URL that has a secret of the spec outside its query: such a URL cannot be stored")

// header removes the secrets from the fields of a response. It returns a failure if the target of a
// redirect contains a secret outside its query.
func (r *redactor) header(h http.Header) (f *Failure) {
	if !r.active() {
		return nil
	}
	for name, values := range h {
		for i, v := range values {
			if !r.mask.In(v) {
				continue
			}
			switch name {
			case "Etag", "Last-Modified":
				delete(h, name) // a validator must be sent unchanged
			case "Location":
				v, _, _ = strings.Cut(v, "#") // the fragment does not change the target
				if path, _, _ := strings.Cut(v, "?"); r.mask.In(path) {
					f = errSecretInPath
				}
				values[i] = r.location(v)
			default:
				values[i] = r.mask.String(v)
			}
		}
	}
	return f
}

// location returns a reference without the parameters that are secrets. A request rule with such a
// parameter adds it again; otherwise the host is asked without it.
func (r *redactor) location(ref string) string {
	path, query, ok := strings.Cut(ref, "?")
	if !ok {
		return r.mask.String(ref)
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if _, v, _ := strings.Cut(pair, "="); !r.mask.Is(v) {
			kept = append(kept, pair)
		}
	}
	if len(kept) > 0 {
		path += "?" + strings.Join(kept, "&")
	}
	return r.mask.String(path)
}

// exchange removes the secrets from the request and from the response head as received.
func (r *redactor) exchange(reply *Reply) {
	if !r.active() {
		return
	}
	r.mask.Bytes(reply.Request)
	r.mask.Bytes(reply.Head)
}

// renamed returns a head with an X-Orig- prefix on fields that no longer apply, so that readers
// ignore them, as other archivers do.
func renamed(head []byte, fields ...string) []byte {
	var out []byte
	for line := range bytes.Lines(head) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		for _, f := range fields {
			if strings.EqualFold(string(bytes.TrimSpace(name)), f) {
				out = append(out, "X-Orig-"...)
			}
		}
		out = append(out, line...)
	}
	return out
}
