package frontier

import (
	"context"
	"fmt"

	"seine/internal/frontier/state"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// specSource gives a partition the specs that are stored in NATS.
type specSource struct {
	*stages.Specs
	f   *Frontier
	ctx context.Context
}

// Rules implements state.SpecSource.
func (r specSource) Rules(crawl string, rev uint64) (*state.Rules, error) {
	return r.f.rules(r.ctx, crawl, rev)
}

// rules returns the compiled spec of a crawl, at least of revision rev.
func (f *Frontier) rules(ctx context.Context, crawl string, rev uint64) (*state.Rules, error) {
	spec, err := f.specs.Get(ctx, crawl, rev)
	if err != nil {
		return nil, err
	}
	return f.compiledFor(crawl, spec)
}

// setFor returns the compiled rules of a spec.
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
