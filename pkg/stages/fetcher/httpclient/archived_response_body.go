package httpclient

import (
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
func (x *exchange) answerBound() int64 {
	switch {
	case x.reply.Status < http.StatusOK: // what follows a 101 is no body, and does not end
		return 0
	case x.reply.Class == messages.Redirect:
		return maxRedirectBody
	}
	return maxErrorBody
}

// readAnswer takes the body of an answer that is no page, if that is to be archived. The
// class stays whatever happens: what has come is kept, and why the rest is missing.
func (x *exchange) readAnswer(resp *http.Response) {
	if !x.ask.Archive {
		return
	}
	x.wire = wireReader{x: x, src: resp.Body, most: math.MaxInt64}
	src, done, f := x.answerSource(resp)
	defer done()
	if f == nil {
		x.reply.Answer, f = x.readUpTo(src, x.answerBound(), resp.ContentLength)
	}
	if f != nil {
		x.reply.Truncated = truncation(f)
	}
}

// answerSource returns the body as it is archived: as it comes, but decoded and without
// secrets if the spec has any.
func (x *exchange) answerSource(resp *http.Response) (src io.Reader, done func(), f *Failure) {
	done = func() {}
	if !x.hidden.active() {
		return &x.wire, done, nil
	}
	names, err := contentcoding.Parse(resp.Header["Content-Encoding"])
	if err != nil {
		return nil, done, Failf(messages.BadEncoding, "%v", err)
	}
	if len(names) == 0 {
		return x.hidden.reader(&x.wire), done, nil
	}
	x.decoded = true
	z := contentcoding.NewReader(&x.wire, names, x.c.cfg.MaxRatio)
	return x.hidden.reader(z), func() { _ = z.Close() }, nil
}

// readUpTo reads a body of some length, -1 if that is not known, up to a bound, and
// returns what has come in any case.
func (x *exchange) readUpTo(src io.Reader, most, length int64) ([]byte, *Failure) {
	need := most + 1
	if length >= 0 && !x.decoded {
		need = min(need, length)
	}
	if f := x.reserveMemory(need, need); f != nil {
		return nil, f
	}
	data, err := io.ReadAll(io.LimitReader(src, most+1))
	if int64(len(data)) > most {
		return data[:most], Failf(messages.TooLarge, "only its first %d bytes are kept", most)
	}
	if err != nil {
		return data, x.classifyReadError(err)
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
func (x *exchange) archiveAnswer(resp *http.Response) {
	if x.reply.Class != messages.ProxyFailure {
		x.archive(resp)
	}
}
