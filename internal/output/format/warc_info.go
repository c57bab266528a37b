package format

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"

	"seine/internal/base/version"
	"seine/internal/base/weburl"
	"seine/internal/output/warc"
)

// infoFields returns the warcinfo fields, like those of Heritrix. They depend only on the first
// exchange in the file, so a rewritten file is identical.
func (a *archiver) infoFields(x *exchange) []warc.Field {
	fields := []warc.Field{
		{Name: "software", Value: "Seine/" + version.Number},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "isPartOf", Value: a.group.Crawl},
	}
	for _, f := range []warc.Field{
		{Name: "operator", Value: x.Contact}, {Name: "robots", Value: x.Robots},
		{Name: "http-header-user-agent", Value: requestField(x.Request, "User-Agent")},
	} {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// readRequest takes from the request the data that the URL lacks: a request rule may change the
// path and query, the method and the body.
func (x *exchange) readRequest() {
	line, _, _ := bytes.Cut(x.Request, []byte("\r\n"))
	method, path, ok := strings.Cut(strings.TrimSuffix(string(line), " HTTP/1.1"), " ")
	if !ok || x.view != "" {
		return
	}
	x.target = strings.TrimSuffix(x.target, weburl.Path(x.target)) + path
	if method != http.MethodGet {
		_, body, _ := bytes.Cut(x.Request, []byte("\r\n\r\n"))
		x.method, x.query = method, warc.RequestQuery(requestField(x.Request, "Content-Type"), body)
	}
}

// requestField returns the value of a header field of a request as sent, "" if missing.
func requestField(request []byte, name string) string {
	for line := range bytes.Lines(request) {
		field, value, ok := strings.Cut(string(line), ":")
		if ok && textproto.CanonicalMIMEHeaderKey(field) == name {
			return strings.TrimSpace(value)
		}
		if strings.TrimSpace(string(line)) == "" {
			break // the body follows
		}
	}
	return ""
}
