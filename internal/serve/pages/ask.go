package pages

import (
	"context"
	"time"

	"seine/internal/ops/overview"
	"seine/internal/serve/answers"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

// fresh is how long an answer of the cluster is reused for equal requests.
const fresh = 2 * time.Second

// asked is an answer of the cluster that all have who ask the same while it is fresh.
func asked[T any](ctx context.Context, s *server, key string, keep time.Duration, ask func(context.Context, *stages.Bus) (T, error)) (T, error) {
	return answers.Of(ctx, &s.answers, key, keep, func(ctx context.Context) (value T, err error) {
		err = s.Cluster.Look(ctx, func(ctx context.Context, bus *stages.Bus) error {
			value, err = ask(ctx, bus)
			return err
		})
		return value, err
	})
}

// look is how everything stands, as it was seen last.
type look struct {
	*overview.Overview // nil if nothing is known; must not be changed
	Mode               cluster.Mode
	Problem            string // why nothing newer is known
}

// storedFor is how long answers about what is stored are reused: it does not change while no crawl runs.
const storedFor = 30 * time.Second

// look returns what the feed has seen. Of what is only stored the feed tells nothing, so it is asked here.
func (s *server) look(ctx context.Context) look {
	last := s.Feed.Last()
	if last == nil {
		return look{}
	}
	l := look{last.Overview, last.Mode, last.Problem}
	if l.Mode != cluster.Stored || l.Overview != nil {
		return l
	}
	o, err := asked(ctx, s, "what is stored", storedFor, func(ctx context.Context, bus *stages.Bus) (*overview.Overview, error) {
		reader := overview.Reader{Bus: bus, Most: perPage, Hosts: surveyed}
		return reader.Read(ctx)
	})
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	l.Overview = idle(o)
	return l
}

// idle marks what is stored: no crawl runs.
func idle(o *overview.Overview) *overview.Overview {
	out := *o
	out.Stages, out.Warnings, out.Alerts = nil, nil, nil
	out.Crawls = append([]overview.Crawl(nil), o.Crawls...)
	for i := range out.Crawls {
		out.Crawls[i].Idle = true
	}
	return &out
}
