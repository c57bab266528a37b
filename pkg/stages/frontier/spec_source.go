package frontier

import (
	"context"
	"fmt"

	"seine/internal/frontier/state"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// specSource gives a partition the specs as they are stored in NATS.
type specSource struct {
	f   *Frontier
	ctx context.Context
}

func (r specSource) Rules(crawl string, rev uint64) (*state.Rules, error) {
	return r.f.rules(r.ctx, crawl, rev)
}
func (r specSource) Generation() uint64                      { return r.f.specs.Generation() }
func (r specSource) Known() crawlspec.Progress               { return r.f.specs.Known() }
func (r specSource) Changes(since uint64) []crawlspec.Change { return r.f.specs.Changes(since) }
func (r specSource) Revision(crawl string) (uint64, bool)    { return r.f.specs.Revision(crawl) }
func (r specSource) Seeded(crawl string) bool                { return r.f.specs.Seeded(crawl) }
func (r specSource) Deletion(crawl string) *messages.Deletion {
	return r.f.specs.Deletion(crawl)
}

// rules returns the compiled spec of a crawl, at least of revision rev.
func (f *Frontier) rules(ctx context.Context, crawl string, rev uint64) (*state.Rules, error) {
	spec, err := f.specs.Get(ctx, crawl, rev)
	if err != nil {
		return nil, err
	}
	return f.compiledFor(crawl, spec)
}

// setFor returns what is compiled of a spec.
func (f *Frontier) setFor(spec *crawlspec.Spec) (*state.RuleSet, error) {
	if set, ok := f.sets.Get(spec); ok {
		return set, nil
	}
	set, err := state.CompileSet(spec)
	if err == nil {
		f.sets.Put(spec, set)
	}
	return set, err
}

func (f *Frontier) compiledFor(crawl string, spec crawlspec.Revision) (*state.Rules, error) {
	if r, ok := f.compiled.Get(crawl); ok && r.CompiledFrom(spec) {
		return r, nil
	}
	stored := spec
	set, err := f.setFor(spec.Spec)
	if err != nil {
		f.specs.Ignore(crawl, spec.Rev, err)
		spec = spec.Stall(err.Error())
		set, err = f.setFor(spec.Spec)
	}
	if err != nil {
		return nil, fmt.Errorf("spec of crawl %s: %w", crawl, err)
	}
	r := state.NewRules(spec, stored, set)
	f.compiled.Put(crawl, r)
	return r, nil
}
