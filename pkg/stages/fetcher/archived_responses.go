package fetcher

import (
	"slices"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// An archive contains more than pages: redirects, errors, 304s, and responses for robots.txt. Each
// such response is a separate message, published before the result of its request. Without archive:
// true there are none.

// noteAnswer keeps the response of the last exchange of the turn for the archive, unless it is the
// page or has been kept already.
func (j *fetchJob) noteAnswer() {
	r := j.reply
	if r.Class == messages.OK || r == j.lastArchived {
		return
	}
	j.lastArchived = r
	via := j.redirectedTo
	if via == "" {
		via = j.req.Referrer
	}
	if m := j.answer(r, r.Class, via, j.archivedHops); m != nil {
		j.archived, j.redirectedTo = append(j.archived, m), r.URL
		j.archivedHops++
	}
}

// noteRobots keeps the responses for robots.txt.
func (j *fetchJob) noteRobots(hops []*httpclient.Reply) {
	via := j.ask.URL
	for n, r := range hops {
		if m := j.answer(r, messages.RobotsFetched, via, n); m != nil {
			j.archived = append(j.archived, m)
		}
		via = r.URL
	}
}

// answer returns the message for a response, nil if its wire form is unknown.
func (j *fetchJob) answer(r *httpclient.Reply, class messages.Class, via string, n int) *nats.Msg {
	room := j.inline - len(r.Request) - len(r.Head)
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
	p := j.archivedAnswer(r, via, len(body))
	p.Class, p.Truncated = class, truncated
	return p.AnswerMsg(j.partition, n, slices.Concat(r.Request, r.Head, body))
}

// archivedAnswer returns the common fields of all archived responses. size is how much of the body
// is kept, in bytes.
func (j *fetchJob) archivedAnswer(r *httpclient.Reply, via string, size int) messages.Page {
	p := j.answerOf(r)
	p.URL, p.Referrer, p.IP = r.URL, via, r.Source
	p.RequestSize, p.HeadSize, p.BodySize = len(r.Request), len(r.Head), int64(size)
	j.describe(&p)
	return p
}

// describe sets the spec fields that archives record.
func (j *fetchJob) describe(p *messages.Page) {
	p.Robots, p.Contact = string(j.spec.Robots), j.spec.Contact
}
