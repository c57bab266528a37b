package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/base/sleep"
	"seine/internal/ops/overview"
	"seine/internal/ops/seeds"
	"seine/internal/serve/audit"
	"seine/internal/serve/cluster"
	"seine/internal/serve/runner"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Starter starts crawls in this process.
type Starter interface {
	// Start returns when the crawl has begun.
	Start(ctx context.Context, crawl string, spec *crawlspec.Spec, seeds []messages.Seed) error
	// Resume ensures that the crawl of the directory is running.
	Resume(crawl string)
}

// NewCrawl is a crawl to create.
type NewCrawl struct {
	Name  string   `json:"name" maxLength:"64" example:"news"`
	Spec  raw      `json:"spec,omitempty" doc:"A string of YAML, or an object, as seine spec schema describes it; the default without it."`
	Seeds []string `json:"seeds,omitempty" maxItems:"10000" doc:"URLs to begin with, beside those of the spec. More go to …/seeds."`
}

// Resolve implements huma.Resolver.
func (n *NewCrawl) Resolve(huma.Context) []error { return checkCrawl(n.Name, "body.name") }

func (c crawlOperations) createCrawl(ctx context.Context, in *struct{ Body NewCrawl }) (*created[overview.Crawl], error) {
	audit.SubjectOf(ctx).Crawl = in.Body.Name
	spec, err := readSpec(specText(in.Body.Spec))
	if err == nil {
		err = c.checkRights(ctx, spec)
	}
	if err != nil {
		return nil, err
	}
	first, err := firstSeeds(spec, in.Body.Seeds)
	if err != nil {
		return nil, err
	}
	if err := c.begin(ctx, in.Body.Name, spec, first); err != nil {
		return nil, err
	}
	return &created[overview.Crawl]{c.PathPrefix + Base + "/crawls/" + in.Body.Name, c.begun(ctx, in.Body.Name, spec)}, nil
}

// begunWait bounds the wait for the frontier of a new crawl to answer.
const begunWait = 3 * time.Second

// begun returns the state of a new crawl, even if only its name and spec are known.
func (c crawlOperations) begun(ctx context.Context, crawl string, spec *crawlspec.Spec) overview.Crawl {
	stands := overview.Crawl{Name: crawl, State: overview.State(spec.State)}
	for until := time.Now().Add(begunWait); ; {
		if now, err := c.getCrawl(ctx, &CrawlPath{crawl}); err != nil {
			stands.Problem = err.Error()
		} else {
			stands = now.Body
		}
		if stands.Problem == "" || time.Now().After(until) || sleep.For(ctx, begunPoll) != nil {
			return stands
		}
	}
}

// begunPoll is the interval between these checks.
const begunPoll = 50 * time.Millisecond

// firstSeeds reads the seeds of a new crawl. All must be valid.
func firstSeeds(spec *crawlspec.Spec, urls []string) (all []messages.Seed, err error) {
	j, err := seeds.NewJudge(spec)
	if err != nil {
		return nil, err
	}
	var bad []error
	j.Take = func(s messages.Seed) error { all = append(all, s); return nil }
	j.Report = func(v seeds.Verdict) {
		if v.Verdict == seeds.NoURL || v.Verdict == seeds.Excluded {
			bad = append(bad, &huma.ErrorDetail{Location: "body.seeds", Message: v.Verdict + ": " + v.Reason, Value: v.Text + v.URL})
		}
	}
	if err := j.Read(strings.NewReader(strings.Join(urls, "\n"))); err != nil {
		return nil, err
	}
	if len(bad) > 0 {
		return nil, newProblem(http.StatusUnprocessableEntity, "Fix or omit these seeds; no crawl was created", bad...)
	}
	if len(all)+len(spec.Seeds) == 0 {
		return nil, problemf(http.StatusUnprocessableEntity, "a crawl needs a URL to begin with: give seeds, or a spec that has some")
	}
	return all, nil
}

// begin creates a crawl. Running processes learn of it from NATS; otherwise the server starts it.
func (c crawlOperations) begin(ctx context.Context, crawl string, spec *crawlspec.Spec, first []messages.Seed) error {
	mode := c.Cluster.Mode(ctx)
	if mode != cluster.Empty {
		err := c.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error { return checkNew(ctx, bus, crawl) })
		if err != nil {
			return err
		}
	}
	if c.Starter != nil && mode != cluster.Running {
		if err := c.Starter.Start(ctx, crawl, spec, first); !errors.Is(err, runner.ErrRunning) {
			return err
		}
	}
	err := c.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error { return storeCrawl(ctx, bus, crawl, spec, first) })
	if err == nil && c.Starter != nil { // the processes may have ended meanwhile
		c.Starter.Resume(crawl)
	}
	return err
}

// checkNew returns an error if a crawl exists.
func checkNew(ctx context.Context, bus *stages.Bus, crawl string) error {
	names, err := overview.Names(ctx, bus)
	if err == nil && slices.Contains(names, crawl) {
		return problemf(http.StatusConflict, "crawl %s exists: use another name, change its spec (PUT %s/crawls/{crawl}/spec), or add URLs (POST %[2]s/crawls/{crawl}/seeds)", crawl, Base)
	}
	return err
}

// storeCrawl stores the spec and publishes the seeds.
func storeCrawl(ctx context.Context, bus *stages.Bus, crawl string, spec *crawlspec.Spec, first []messages.Seed) error {
	specs, err := stages.OpenSpecs(ctx, bus)
	if err != nil {
		return err
	}
	if _, err := specs.History.PutAt(ctx, crawl, spec, 0); err != nil {
		if errors.Is(err, stages.ErrRevision) {
			return problemf(http.StatusConflict, "another client has just created crawl %s: use another name", crawl)
		}
		return err
	}
	p := seeds.NewPublisher(ctx, stages.NewPublisher(bus, "serve"), crawl, nil)
	for _, s := range first {
		if err := p.Add(s); err != nil {
			return err
		}
	}
	return p.Flush()
}
