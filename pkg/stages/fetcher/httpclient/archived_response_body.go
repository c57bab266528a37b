package httpclient

import (
	"bytes"
	"io"
	"math"
	"net/http"

	"seine/internal/base/contentcoding"
	"seine/pkg/messages"
)

// An archive also contains responses that are not pages. Without archive, only as much of an error
// body is read as the reuse of its connection is worth.

// Limits of the body of a response that is not a page. The body of a redirect is only a notice;
// errors may be whole pages.
const (
	maxErrorBody    = 256 << 10
	maxRedirectBody = drainBytes
)

// answerBound returns how much of the body of a response is kept.
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

// readAnswer reads the body of a response that is not a page, if it is to be archived. Errors do
// not change the class: the received part is kept, with the reason why the rest is missing.
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

// keepRest archives the head and the received part of the body of a failed page. It archives no
// page whose type the spec does not accept.
func (a exchangeArchive) keepRest(resp *http.Response, f *Failure) {
	if f.Class == messages.UnsupportedType || a.err != nil {
		return
	}
	if a.wire.n == 0 { // it was refused because of its header
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

// answerSource returns the body for the archive: as received or, if the spec has secrets, decoded
// and without them.
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

// readUpTo reads at most most bytes of a body, whose length is -1 if unknown, and always returns
// the received part.
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

// truncation returns the reason for an incomplete body in the terms of archives.
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

// archiveAnswer stores the wire form of a response that is not a page in the reply, unless a proxy
// sent it instead of the site.
func (a exchangeArchive) archiveAnswer(resp *http.Response) {
	if a.reply.Class != messages.ProxyFailure {
		a.write(resp)
	}
}
