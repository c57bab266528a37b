package frontier

import (
	"context"
	"fmt"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/state"
)

// rulebook gives a partition the specs as they are stored in NATS.
type rulebook struct {
	f   *Frontier
	ctx context.Context
}

func (b rulebook) Rules(crawl string, rev uint64) (*state.Rules, error) {
	return b.f.rules(b.ctx, crawl, rev)
}
func (b rulebook) Generation() uint64                      { return b.f.specs.Generation() }
func (b rulebook) Known() crawlspec.Progress               { return b.f.specs.Known() }
func (b rulebook) Changes(since uint64) []crawlspec.Change { return b.f.specs.Changes(since) }
func (b rulebook) Revision(crawl string) (uint64, bool)    { return b.f.specs.Revision(crawl) }
func (b rulebook) Seeded(crawl string) bool                { return b.f.specs.Seeded(crawl) }
func (b rulebook) Deletion(crawl string) *messages.Deletion {
	return b.f.specs.Deletion(crawl)
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
		spec = spec.StandStill(err.Error())
		set, err = f.setFor(spec.Spec)
	}
	if err != nil {
		return nil, fmt.Errorf("spec of crawl %s: %w", crawl, err)
	}
	r := state.NewRules(spec, stored, set)
	f.compiled.Put(crawl, r)
	return r, nil
}
