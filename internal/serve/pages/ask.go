package pages

import (
	"context"
	"time"

	"seine/internal/ops/overview"
	"seine/internal/serve/answers"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

// fresh is how long a reply of the cluster is reused for equal requests.
const fresh = 2 * time.Second

// asked returns the result of ask, or a fresh result of an equal request.
func asked[T any](ctx context.Context, s *server, key string, keep time.Duration, ask func(context.Context, *stages.Bus) (T, error)) (T, error) {
	return answers.Of(ctx, &s.answers, key, keep, func(ctx context.Context) (value T, err error) {
		err = s.Cluster.Look(ctx, func(ctx context.Context, bus *stages.Bus) error {
			value, err = ask(ctx, bus)
			return err
		})
		return value, err
	})
}

// look is the last known state of the cluster.
type look struct {
	*overview.Overview // nil if unknown; must not be changed
	Mode               cluster.Mode
	Problem            string // reason why the state is outdated
}

// storedFor is how long replies about stored state are reused; it does not change while no crawl
// runs.
const storedFor = 30 * time.Second

// look returns the last observation of the feed. The feed does not observe stored state, so look
// reads that itself.
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

// idle marks an overview of stored state: no crawl runs.
func idle(o *overview.Overview) *overview.Overview {
	out := *o
	out.Stages, out.Warnings, out.Alerts = nil, nil, nil
	out.Crawls = append([]overview.Crawl(nil), o.Crawls...)
	for i := range out.Crawls {
		out.Crawls[i].Idle = true
	}
	return &out
}
