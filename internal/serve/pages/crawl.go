package pages

import (
	"context"
	"net/http"
	"slices"

	"seine/internal/ops/alerts"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawlPage is the page of a crawl.
type crawlPage struct {
	*overview.Crawl
	Charts  Charts
	Reasons frontierapi.Reasons
	Runs    []frontierapi.Run
	Alerts  []alerts.Alert
	Answers []answerCount
	Stopped []crawlspec.HostRule // hosts that are paused or cancelled individually
	Trouble string               // why reasons and runs are unknown
}

func (p crawlPage) title() string { return "Crawl " + p.Name }

// answerCount is the number of requests with a class.
type answerCount struct {
	Class messages.Class
	N     int64
	Part  float64 // of all
}

// runsShown bounds the runs on the page.
const runsShown = 10

func (cp crawlPages) crawl(r *http.Request) (any, error) {
	name := r.PathValue("crawl")
	charts, err := cp.chartsOf(r, name)
	if err != nil {
		return nil, err
	}
	c, err := cp.findCrawl(r, name)
	if err != nil {
		return nil, err
	}
	p := crawlPage{Crawl: c, Charts: charts, Answers: answersOf(c)}
	if look := cp.look(r.Context()).Overview; look != nil {
		for i := range look.Alerts {
			if look.Alerts[i].Crawl == name {
				p.Alerts = append(p.Alerts, look.Alerts[i])
			}
		}
	}
	if err := cp.tellMore(r.Context(), &p); err != nil { // the rest of the page does not need it
		p.Trouble = err.Error()
	}
	return p, nil
}

// findCrawl returns the last known state of a crawl, or requests it.
func (s *server) findCrawl(r *http.Request, name string) (*overview.Crawl, error) {
	if err := messages.CheckCrawl(name); err != nil {
		return nil, badInput{err}
	}
	s.Feed.Want(name)
	if look := s.look(r.Context()).Overview; look != nil {
		i := slices.IndexFunc(look.Crawls, func(c overview.Crawl) bool { return c.Name == name && !c.Unasked })
		if i >= 0 {
			return &look.Crawls[i], nil
		}
	}
	all, err := asked(r.Context(), s, "crawl "+name, fresh, func(ctx context.Context, bus *stages.Bus) ([]overview.Crawl, error) {
		if err := lookup.Crawl(ctx, bus, name); err != nil {
			return nil, err
		}
		return overview.Crawls(ctx, bus, name)
	})
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

// restOfCrawl is data that only the page of the crawl needs.
type restOfCrawl struct {
	reasons frontierapi.Reasons
	runs    []frontierapi.Run
	sources []crawlspec.HostRule
}

func (cp crawlPages) tellMore(ctx context.Context, p *crawlPage) error {
	rest, err := asked(ctx, cp.server, "rest of "+p.Name, 2*fresh, func(ctx context.Context, bus *stages.Bus) (rest restOfCrawl, err error) {
		spec, err := stages.SpecOf(ctx, bus, p.Name)
		if err != nil {
			return rest, err
		}
		for i := range spec.Sources {
			if state := spec.Sources[i].State; state != nil && *state != crawlspec.Running {
				rest.sources = append(rest.sources, spec.Sources[i])
			}
		}
		client := frontierapi.Client{Bus: bus}
		if rest.reasons, err = client.Reasons(ctx, p.Name); err != nil {
			return rest, err
		}
		rest.runs, err = client.Runs(ctx, p.Name, spec.Spec, runsShown)
		return rest, err
	})
	p.Reasons, p.Runs, p.Stopped = rest.reasons, rest.runs, rest.sources
	return err
}

// answersOf counts the requests of a crawl by class, the most frequent first.
func answersOf(c *overview.Crawl) (all []answerCount) {
	total := int64(0)
	for _, of := range byCount(c.Attempts) {
		if class := messages.Class(of.Value); class.IsPageRequest() {
			all, total = append(all, answerCount{Class: class, N: of.N}), total+of.N
		}
	}
	for i := range all {
		all[i].Part = float64(all[i].N) / float64(total)
	}
	return all
}

// DeadLetters returns the number of dead letters of the crawl.
func (p crawlPage) DeadLetters() (n uint64) {
	for _, of := range p.Dead {
		n += of
	}
	return n
}
