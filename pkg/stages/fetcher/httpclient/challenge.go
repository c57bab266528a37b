package httpclient

import (
	"bytes"
	"io"
	"net/http"

	"seine/internal/base/contentcoding"
	"seine/internal/fetch/challenge"
	"seine/internal/page/mediatype"
	"seine/pkg/messages"
)

// challengeCheck recognises a challenge that was sent in place of a page.
type challengeCheck struct{ *exchange }

// A site that checks for humans may respond with a challenge page, even with status 200. That is
// not the requested page, but the reason why there is none. A robots.txt is not checked, since a
// page in its place is not one anyway.

// blocked marks the reply as blocked if its header shows a challenge.
func (c challengeCheck) blocked(resp *http.Response) {
	if !c.ask.Robots {
		c.blockedBy(challenge.InHeader(resp.Header), "header")
	}
}

// blockedBody marks the reply as blocked if the body that was read shows a challenge.
func (c challengeCheck) blockedBody() {
	if b := &c.reply.Body; c.mayChallenge() && b.Object == "" && b.Size <= challenge.MaxBody {
		body := b.Decoded()
		if body == nil {
			body = decoded(b.Data, []string{b.Encoding})
		}
		c.blockedBy(challenge.InBody(body), "body")
	}
}

// blockedError marks an error response as blocked if its body shows a challenge. It reads at most
// the maximum size of a challenge.
func (c challengeCheck) blockedError(resp *http.Response) {
	if !c.mayChallenge() || c.reply.Class == messages.Blocked || !mayBeBlocked(c.reply.Status) || resp.ContentLength > challenge.MaxBody {
		return
	}
	codings := resp.Header["Content-Encoding"]
	if c.decoded {
		codings = nil
	}
	c.blockedBy(challenge.InBody(decoded(c.beginning(resp), codings)), "body")
}

// beginning returns the body of an error, up to the maximum size of a challenge.
func (c challengeCheck) beginning(resp *http.Response) []byte {
	if came := c.reply.Answer; c.ask.Archive {
		return came[:min(len(came), challenge.MaxBody)]
	}
	c.watch.phase(drainTime, errNotDrained)
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, challenge.MaxBody)) // a partial body is checked as well
	c.wire.n += int64(len(raw))
	return raw
}

// mayBeBlocked reports whether challenges are sent with this error status.
func mayBeBlocked(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// mayChallenge reports whether the response is HTML, in place of a page.
func (c challengeCheck) mayChallenge() bool {
	return !c.ask.Robots && mediatype.Declared(c.reply.ContentType) == "text/html"
}

func (c challengeCheck) blockedBy(vendor, where string) {
	if vendor == "" {
		return
	}
	text := "a challenge of " + vendor + " came instead of the page (recognised by its " + where + ")"
	if s := c.reply.Status; s >= 400 {
		_, status := classOf(s, c.reply.Header)
		text = status + ": " + text
	}
	c.reply.Failed(Failf(messages.Blocked, "%s", text))
	c.reply.ETag, c.reply.LastModified = "", ""
}

// decoded decodes the content codings of a possibly incomplete body, as far as possible.
func decoded(data []byte, codings []string) []byte {
	names, err := contentcoding.Parse(codings)
	if err != nil || len(names) == 0 {
		return data
	}
	z := contentcoding.NewReader(bytes.NewReader(data), names, 0)
	defer func() { _ = z.Close() }()
	text, _ := io.ReadAll(io.LimitReader(z, challenge.MaxBody+1))
	return text
}
