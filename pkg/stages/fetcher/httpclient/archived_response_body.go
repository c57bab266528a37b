package httpclient

import (
	"bytes"
	"io"
	"math"
	"net/http"

	"seine/internal/base/contentcoding"
	"seine/pkg/messages"
)

// An archive has more than pages: what was answered in the place of one, too. Without
// archive, no more is read of an error than its connection is worth.

// Bounds of the body of an answer that is no page. What a redirect has beside its
// Location is a notice; errors may be whole pages.
const (
	maxErrorBody    = 256 << 10
	maxRedirectBody = drainBytes
)

// answerBound is how much is kept of the body of an answer.
func (a exchangeArchive) answerBound() int64 {
	switch {
	case a.reply.Status < http.StatusOK: // after a 101 the connection has another protocol, and no body that ends
		return 0
	case a.reply.Class == messages.Redirect:
		return maxRedirectBody
	case a.reply.Class == messages.TooLarge:
		return min(maxErrorBody, a.ask.MaxBody)
	}
	return maxErrorBody
}

// readAnswer takes the body of an answer that is no page, if that is to be archived. The
// class stays whatever happens: what has come is kept, and why the rest is missing.
func (a exchangeArchive) readAnswer(resp *http.Response) {
	if !a.ask.Archive {
		return
	}
	a.wire = wireReader{x: a.exchange, src: resp.Body, most: math.MaxInt64}
	src, done, f := a.answerSource(resp)
	defer done()
	if f == nil {
		a.reply.Answer, f = a.readUpTo(src, a.answerBound(), resp.ContentLength)
	}
	if f != nil {
		a.reply.Truncated = truncation(f)
	}
}

// keepRest archives the head and the received part of the body of a page that failed. It archives no page whose type
// the spec does not accept.
func (a exchangeArchive) keepRest(resp *http.Response, f *Failure) {
	if f.Class == messages.UnsupportedType || a.err != nil {
		return
	}
	if a.wire.n == 0 { // it was refused by its header
		a.readAnswer(resp)
	} else if f.Class != messages.BadEncoding || a.decoded {
		a.reply.Truncated = truncation(f)
	}
	if len(a.reply.Answer) == messages.InlineBody {
		a.reply.Truncated = messages.TruncatedLength
	}
	a.write(resp)
}

// came keeps the beginning of a body that will not be a page.
func (a exchangeArchive) came(data []byte) {
	if a.ask.Archive {
		a.reply.Answer = bytes.Clone(data[:min(len(data), messages.InlineBody)])
	}
}

// answerSource returns the body as it is archived: as it comes, but decoded and without
// secrets if the spec has any.
func (a exchangeArchive) answerSource(resp *http.Response) (src io.Reader, done func(), f *Failure) {
	done = func() {}
	if !a.hidden.active() {
		return &a.wire, done, nil
	}
	names, err := contentcoding.Parse(resp.Header["Content-Encoding"])
	if err != nil {
		return nil, done, Failf(messages.BadEncoding, "%v", err)
	}
	if len(names) == 0 {
		return a.hidden.reader(&a.wire), done, nil
	}
	a.decoded = true
	z := contentcoding.NewReader(&a.wire, names, a.c.cfg.MaxRatio)
	return a.hidden.reader(z), func() { _ = z.Close() }, nil
}

// readUpTo reads a body of some length, -1 if that is not known, up to a bound, and
// returns what has come in any case.
func (a exchangeArchive) readUpTo(src io.Reader, most, length int64) ([]byte, *Failure) {
	need := most + 1
	if length >= 0 && !a.decoded {
		need = min(need, length)
	}
	if f := a.reserveMemory(need, need); f != nil {
		return nil, f
	}
	data, err := io.ReadAll(io.LimitReader(src, most+1))
	if int64(len(data)) > most {
		return data[:most], Failf(messages.TooLarge, "only its first %d bytes are kept", most)
	}
	if err != nil {
		return data, a.classifyReadError(err)
	}
	return data, nil
}

// truncation says in the words of an archive why a body is not whole.
func truncation(f *Failure) messages.Truncation {
	switch f.Class {
	case messages.Timeout, messages.Stalled:
		return messages.TruncatedTime
	case messages.BadEncoding:
		return messages.TruncatedUnspecified
	case messages.TooLarge:
		return messages.TruncatedLength
	default:
		return messages.TruncatedDisconnect
	}
}

// archiveAnswer leaves an answer that is no page in the reply as it went over the wire.
// That of a proxy is not from the site.
func (a exchangeArchive) archiveAnswer(resp *http.Response) {
	if a.reply.Class != messages.ProxyFailure {
		a.write(resp)
	}
}
