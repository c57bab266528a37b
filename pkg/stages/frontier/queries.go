package frontier

import (
	"context"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// answers answers queries about a partition.
type answers struct{ *partitionLoop }

// answer replies to a query.
func (p *partitionLoop) answer(q queuedQuery) { answers{p}.answer(q) }

func (a answers) answer(q queuedQuery) {
	var about frontierapi.Query
	var reply any
	err := jsontext.Unmarshal(q.Data(), &about)
	if err == nil {
		switch q.op {
		case frontierapi.OpStatus:
			reply, err = a.state.Questions.Status(about)
		case frontierapi.OpHosts:
			reply, err = a.state.Questions.Slowest(about.Crawl, about.Top)
		case frontierapi.OpHost:
			reply, err = a.state.Questions.HostDetail(about.Host)
		case frontierapi.OpSurvey:
			reply, err = a.survey(about)
		case frontierapi.OpFailed:
			reply, err = a.state.Questions.FailedURLs(about)
		case frontierapi.OpURLs:
			reply, err = a.state.Questions.URLsOfHost(about)
		case frontierapi.OpExplain:
			reply, err = a.state.Questions.Explain(about.Crawl, about.URL)
		case messages.OpClaim:
			reply, err = a.claim(q.Data(), q.Headers().Get(messages.HeaderClaimant))
		}
	}
	if err := respond(q.Request, reply, err); err != nil {
		a.log.Debug("cannot answer", "question", q.op, "error", err)
	}
}

// claim answers a fetcher whose request may have been done before.
func (a answers) claim(payload []byte, claimant string) (messages.ClaimReply, error) {
	ask, err := messages.DecodeRequest(payload)
	if err != nil {
		return messages.ClaimReply{}, err
	}
	return a.state.Requests.Claim(ask, claimant, func() bool { return a.hasAllResults(ask.Crawl) }), nil
}

// hasAllResults reports whether every stored result of a crawl is applied.
func (a answers) hasAllResults(crawl string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	last, err := a.f.bus.LastSequence(ctx, messages.StreamResults, messages.SubjectResults(crawl, a.partition))
	return err == nil && last <= a.state.Positions()[messages.StreamResults].Sequence
}

// surveyRest is how long a survey is cached, as a multiple of the time it took: users who watch a
// crawl must not slow it down.
const surveyRest = 20

// surveyed is a cached survey.
type surveyed struct {
	frontierapi.Survey
	about frontierapi.Query
	until time.Time
}

// survey answers OpSurvey, from the cache if the last answer is fresh.
func (a answers) survey(about frontierapi.Query) (frontierapi.Survey, error) {
	if a.surveyed.about != about || !time.Now().Before(a.surveyed.until) {
		began := time.Now()
		s, err := a.state.Questions.Survey(about)
		if err != nil {
			return frontierapi.Survey{}, err
		}
		a.surveyed = surveyed{Survey: s, about: about, until: time.Now().Add(surveyRest * time.Since(began))}
	}
	return a.surveyed.Survey, nil
}
