package httpclient

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"

	"seine/internal/base/weburl"
)

// takeNotes has the connection note down the exchange, if it is to be archived.
// A connection of HTTP/2 has nothing to note: its header fields are compressed
// with those of other exchanges.
func (x *exchange) takeNotes(info httptrace.GotConnInfo) {
	c, ok := info.Conn.(*conn)
	if !ok {
		return
	}
	x.notes = nil
	if x.ask.Archive {
		x.notes = &wireCapture{most: x.c.cfg.maxNotes()}
	}
	c.begin(x.notes)
}

// maxNotes bounds what is kept of a request, and of the head of a response.
func (c Config) maxNotes() int { return int(c.MaxHeader) + 64<<10 }

// archive leaves the exchange in the reply as it went over the wire. That of
// HTTP/2 is written down in the form of HTTP/1.1, fields sorted by name. Fields
// that hold a secret are left out of the request, and so are cookies. Of a body
// that is kept decoded, the head must not say that it is encoded.
func (x *exchange) archive(resp *http.Response) {
	if !x.ask.Archive {
		return
	}
	var request []byte
	if x.notes != nil {
		request, x.reply.Head = x.notes.heads()
	}
	if x.reply.Head == nil && resp.ProtoMajor == 2 {
		x.reply.Head = writeHead(fmt.Sprintf("HTTP/1.1 %03d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), resp.Header)
	}
	if request == nil {
		h := x.sent.Header.Clone()
		h["Host"] = []string{weburl.Host(x.ask.URL)}
		request = writeHead(x.sent.Method+" / HTTP/1.1", h)
		if x.shape != nil {
			request = append(request, x.shape.body...)
		}
	}
	x.reply.Request, x.reply.Source = x.withoutSecrets(request), x.reply.IP
	x.hidden.exchange(x.reply)
	if x.decoded {
		x.reply.Head = renamed(x.reply.Head, "Content-Encoding", "Content-Length")
	}
}

func writeHead(first string, h http.Header) []byte {
	var b bytes.Buffer
	b.WriteString(first + "\r\n")
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			b.WriteString(name + ": " + v + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// withoutSecrets returns a request with the target in origin form (a proxy sees
// another), and without what must not be stored.
func (x *exchange) withoutSecrets(request []byte) []byte {
	hidden := slices.Concat([]string{"Cookie", "Proxy-Authorization"}, x.profile.private)
	url, method, noBody := x.ask.URL, http.MethodGet, false
	if s := x.shape; s != nil {
		hidden, method, noBody = append(hidden, s.private...), s.method, s.hidden
		if !s.hidden {
			url = s.url
		}
	}
	head, rest, _ := bytes.Cut(request, []byte("\r\n\r\n"))
	fields := slices.DeleteFunc(strings.Split(string(head), "\r\n")[1:], func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.ContainsFunc(hidden, func(h string) bool { return strings.EqualFold(h, name) })
	})
	out := []byte(method + " " + weburl.Path(url) + " HTTP/1.1\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n")
	if noBody {
		return out
	}
	return append(out, rest...)
}
