package frontier

import (
	"context"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// handleQuery replies to a question.
func (p *partitionLoop) handleQuery(q queuedQuery) {
	var about frontierapi.Query
	var reply any
	err := jsontext.Unmarshal(q.Data(), &about)
	if err == nil {
		switch q.op {
		case frontierapi.OpStatus:
			reply, err = p.state.Questions.Status(about)
		case frontierapi.OpHosts:
			reply, err = p.state.Questions.Slowest(about.Crawl, about.Top)
		case frontierapi.OpHost:
			reply, err = p.state.Questions.HostDetail(about.Host)
		case frontierapi.OpSurvey:
			reply, err = p.survey(about)
		case frontierapi.OpFailed:
			reply, err = p.state.Questions.FailedURLs(about)
		case frontierapi.OpURLs:
			reply, err = p.state.Questions.URLsOfHost(about)
		case frontierapi.OpExplain:
			reply, err = p.state.Questions.Explain(about.Crawl, about.URL)
		case messages.OpClaim:
			reply, err = p.claim(q.Data(), q.Headers().Get(messages.HeaderClaimant))
		}
	}
	if err := respond(q.Request, reply, err); err != nil {
		p.log.Debug("cannot answer", "question", q.op, "error", err)
	}
}

// claim answers a fetcher that was given a request again.
func (p *partitionLoop) claim(payload []byte, claimant string) (messages.ClaimReply, error) {
	ask, err := messages.DecodeRequest(payload)
	if err != nil {
		return messages.ClaimReply{}, err
	}
	return p.state.Requests.Claim(ask, claimant, func() bool { return p.hasAllResults(ask.Crawl) }), nil
}

// hasAllResults reports whether every result of a crawl that is stored is applied.
func (p *partitionLoop) hasAllResults(crawl string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	last, err := p.f.bus.LastSequence(ctx, messages.StreamResults, messages.SubjectResults(crawl, p.partition))
	return err == nil && last <= p.state.Positions()[messages.StreamResults].Sequence
}

// surveyRest is how many times as long as a survey took it is taken for true: people
// who look must not slow down what they look at.
const surveyRest = 20

// surveyed is a survey that was made.
type surveyed struct {
	frontierapi.Survey
	about frontierapi.Query
	until time.Time
}

// survey answers OpSurvey, with the last answer if it is fresh.
func (p *partitionLoop) survey(about frontierapi.Query) (frontierapi.Survey, error) {
	if p.surveyed.about != about || !time.Now().Before(p.surveyed.until) {
		began := time.Now()
		s, err := p.state.Questions.Survey(about)
		if err != nil {
			return frontierapi.Survey{}, err
		}
		p.surveyed = surveyed{Survey: s, about: about, until: time.Now().Add(surveyRest * time.Since(began))}
	}
	return p.surveyed.Survey, nil
}
