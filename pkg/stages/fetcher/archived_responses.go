package fetcher

import (
	"slices"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// An archive has more than pages: redirects, errors, 304s, and what was answered for
// robots.txt. Each such answer is a message of its own, published before the result of
// its request. Without archive: true there are none.

// noteAnswer keeps the answer of the last exchange of the turn for the archive, unless
// it is the page, or is kept already.
func (t *fetchJob) noteAnswer() {
	r := t.reply
	if r.Class == messages.OK || r == t.noted {
		return
	}
	t.noted = r
	via := t.via
	if via == "" {
		via = t.req.Referrer
	}
	if m := t.answer(r, r.Class, via, t.hops); m != nil {
		t.answers, t.via = append(t.answers, m), r.URL
		t.hops++
	}
}

// noteRobots keeps what was answered for robots.txt.
func (t *fetchJob) noteRobots(hops []*httpclient.Reply) {
	via := t.ask.URL
	for n, r := range hops {
		if m := t.answer(r, messages.RobotsFetched, via, n); m != nil {
			t.answers = append(t.answers, m)
		}
		via = r.URL
	}
}

// answer is the message with an answer, nil if it is not known as it went over the wire.
func (t *fetchJob) answer(r *httpclient.Reply, class messages.Class, via string, n int) *nats.Msg {
	room := t.inline - len(r.Request) - len(r.Head)
	if len(r.Head) == 0 || room < 0 {
		return nil
	}
	body, truncated := r.Answer, r.Truncated
	if r.Class == messages.OK {
		body = r.Body.Data
	}
	if len(body) > room {
		body, truncated = body[:room], messages.TruncatedLength
	}
	p := t.archivedAnswer(r, via, len(body))
	p.Class, p.Truncated = class, truncated
	return p.AnswerMsg(t.partition, n, slices.Concat(r.Request, r.Head, body))
}

// archivedAnswer is what all answers that are archived tell alike. So many bytes of the body are kept.
func (t *fetchJob) archivedAnswer(r *httpclient.Reply, via string, size int) messages.Page {
	p := t.answerOf(r)
	p.URL, p.Referrer, p.IP = r.URL, via, r.Source
	p.RequestSize, p.HeadSize, p.BodySize = len(r.Request), len(r.Head), int64(size)
	t.describe(&p)
	return p
}

// describe notes what an archive says of itself.
func (t *fetchJob) describe(p *messages.Page) {
	p.Robots, p.Contact = string(t.spec.Robots), t.spec.Contact
}
