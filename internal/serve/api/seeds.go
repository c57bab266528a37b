package api

import (
	"bytes"
	"context"
	"net/http"

	"seine/internal/ops/seeds"
	"seine/internal/serve/caller"
	"seine/pkg/stages"
)

// SeedVerdicts are the results for seeds.
type SeedVerdicts struct {
	Accepted int `json:"accepted"`
	Repeated int `json:"repeated"`
	Excluded int `json:"excluded"`
	NoURL    int `json:"no_url"`
	Fed      int `json:"fed" doc:"How many are safe with NATS. One that the crawl knows is not fetched again, unless it had failed or was excluded."`
	// Verdicts are those of the requested lines.
	Verdicts []seeds.Verdict `json:"verdicts" nullable:"false" doc:"In the order of the lines."`
	Left     int             `json:"verdicts_left_out,omitempty" doc:"How many verdicts there are beyond those."`
}

type seedsInput struct {
	CrawlPath
	Priority int    `query:"priority" minimum:"-1" maximum:"9" default:"-1" doc:"0 goes first, 9 last; of seeds that say none themselves."`
	Verdicts string `query:"verdicts" enum:"problems,all,none" default:"problems" doc:"Lines to return verdicts for: those that are not added (at most 1,000), all, or none."`
	RawBody  []byte `contentType:"text/plain" doc:"Up to 100,000 lines: a URL each, or JSON as {\"url\": …, \"priority\": …, \"metadata\": {…}}; # begins a comment."`
}

// maxSeedBytes bounds the seeds of one request.
const maxSeedBytes = 16 << 20

// maxProblems bounds the returned problems.
const maxProblems = 1000

func (u urlOperations) registerSeeds() {
	register(u.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/seeds", id: "feed-seeds", tag: "seeds", scope: caller.Write, body: maxSeedBytes, bulk: true, errors: []int{404, 413},
		summary: "Add URLs to a crawl", about: "Each line has its own result; invalid lines do not affect the others.",
	}, func(ctx context.Context, in *seedsInput) (*body[SeedVerdicts], error) {
		return u.judgeSeeds(ctx, in, true)
	})
	register(u.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/seeds/check", id: "check-seeds", tag: "seeds", scope: caller.Read, harmless: true, body: maxSeedBytes, bulk: true, errors: []int{404, 413},
		summary: "Check URLs without adding them", about: "The same results as adding them, without effect.",
	}, func(ctx context.Context, in *seedsInput) (*body[SeedVerdicts], error) {
		return u.judgeSeeds(ctx, in, false)
	})
}

func (u urlOperations) judgeSeeds(ctx context.Context, in *seedsInput, feed bool) (*body[SeedVerdicts], error) {
	out := SeedVerdicts{Verdicts: []seeds.Verdict{}}
	err := u.ofCrawl(in.Crawl)(ctx, func(ctx context.Context, bus *stages.Bus) error {
		spec, err := stages.SpecOf(ctx, bus, in.Crawl)
		if err != nil {
			return err
		}
		j, err := seeds.NewJudge(spec.Spec)
		if err != nil {
			return err
		}
		j.Report = func(v seeds.Verdict) { out.count(v, in.Verdicts) }
		if !feed {
			return j.Read(bytes.NewReader(in.RawBody))
		}
		if err := u.checkReach(spec.Spec, in.Crawl); err != nil {
			return err
		}
		return out.feed(ctx, bus, j, in)
	})
	if err == nil && feed && u.Starter != nil {
		u.Starter.Resume(in.Crawl)
	}
	return answerOf(out, err)
}

// feed publishes the accepted seeds.
func (s *SeedVerdicts) feed(ctx context.Context, bus *stages.Bus, j *seeds.Judge, in *seedsInput) error {
	var priority *int
	if in.Priority >= 0 {
		priority = &in.Priority
	}
	p := seeds.NewPublisher(ctx, stages.NewPublisher(bus, "serve"), in.Crawl, priority)
	j.Take = p.Add
	err := j.Read(bytes.NewReader(in.RawBody))
	if flushed := p.Flush(); err == nil {
		err = flushed
	}
	s.Fed = p.Fed
	return err
}

func (s *SeedVerdicts) count(v seeds.Verdict, told string) {
	switch v.Verdict {
	case seeds.Accepted:
		s.Accepted++
	case seeds.Repeated:
		s.Repeated++
	case seeds.Excluded:
		s.Excluded++
	default:
		s.NoURL++
	}
	switch {
	case told == "none" || told == "problems" && v.Verdict == seeds.Accepted:
	case told == "problems" && len(s.Verdicts) >= maxProblems:
		s.Left++
	default:
		s.Verdicts = append(s.Verdicts, v)
	}
}
