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

// exchangeArchive records an exchange in its wire form, for archives.
type exchangeArchive struct{ *exchange }

// takeNotes makes the connection record the exchange, if it is to be archived. HTTP/2 connections
// record nothing: their header fields are compressed together with those of other exchanges.
func (a exchangeArchive) takeNotes(info httptrace.GotConnInfo) {
	c, ok := info.Conn.(*conn)
	if !ok {
		return
	}
	a.notes = nil
	if a.ask.Archive {
		a.notes = &wireCapture{most: a.c.cfg.maxNotes()}
	}
	c.begin(a.notes)
}

// maxNotes bounds the recorded size of a request, and of the head of a response.
func (c Config) maxNotes() int { return int(c.MaxHeader) + 64<<10 }

// write stores the wire form of the exchange in the reply. HTTP/2 exchanges are written in the form
// of HTTP/1.1, with fields sorted by name. The request omits cookies and fields with a secret. If
// the body is kept decoded, the head must not say that it is encoded.
func (a exchangeArchive) write(resp *http.Response) {
	if !a.ask.Archive {
		return
	}
	var request []byte
	if a.notes != nil {
		request, a.reply.Head = a.notes.heads()
	}
	if a.reply.Head == nil && resp.ProtoMajor == 2 {
		a.reply.Head = writeHead(fmt.Sprintf("HTTP/1.1 %03d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), resp.Header)
	}
	if request == nil {
		h := a.sent.Header.Clone()
		h["Host"] = []string{weburl.Host(a.ask.URL)}
		request = writeHead(a.sent.Method+" / HTTP/1.1", h)
		if a.shape != nil {
			request = append(request, a.shape.body...)
		}
	}
	a.reply.Request, a.reply.Source = a.withoutSecrets(request), a.reply.IP
	a.hidden.exchange(a.reply)
	if a.decoded {
		a.reply.Head = renamed(a.reply.Head, "Content-Encoding", "Content-Length")
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

// withoutSecrets returns a request with its target in origin form (a proxy receives another form),
// and without data that must not be stored.
func (a exchangeArchive) withoutSecrets(request []byte) []byte {
	hidden := slices.Concat([]string{"Cookie", "Proxy-Authorization"}, a.profile.private)
	url, method, noBody := a.ask.URL, http.MethodGet, false
	if s := a.shape; s != nil {
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
