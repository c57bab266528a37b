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

// challengeCheck recognises a challenge that came in the place of a page.
type challengeCheck struct{ *exchange }

// A site that checks for a person may answer with a challenge page,
// with status 200 too. That is not the requested page, but the reason why there
// is none. A robots.txt is not looked at, since whatever answers for it is no page anyway.

// blocked makes the reply one that was blocked if its header says so.
func (c challengeCheck) blocked(resp *http.Response) {
	if !c.ask.Robots {
		c.blockedBy(challenge.InHeader(resp.Header), "header")
	}
}

// blockedBody does so if the body says it that was read.
func (c challengeCheck) blockedBody() {
	if b := &c.reply.Body; c.mayChallenge() && b.Object == "" && b.Size <= challenge.MaxBody {
		body := b.Decoded()
		if body == nil {
			body = decoded(b.Data, []string{b.Encoding})
		}
		c.blockedBy(challenge.InBody(body), "body")
	}
}

// blockedError does so for an answer that is an error, of whose body it reads what a
// challenge may have at most.
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

// beginning returns of the body of an error what a challenge may have at most.
func (c challengeCheck) beginning(resp *http.Response) []byte {
	if came := c.reply.Answer; c.ask.Archive {
		return came[:min(len(came), challenge.MaxBody)]
	}
	c.watch.phase(drainTime, errNotDrained)
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, challenge.MaxBody)) // what comes is looked at
	c.wire.n += int64(len(raw))
	return raw
}

// mayBeBlocked reports whether an error is one of those with which challenges come.
func mayBeBlocked(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// mayChallenge reports whether the answer is HTML, in the place of a page.
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

// decoded undoes the content codings of what may be the beginning of a body, as far as that
// goes.
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
