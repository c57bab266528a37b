package repartition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/state"
	"seine/pkg/stages/jsclient"
	"seine/pkg/stages/partition"
)

// storeCache is the memory for blocks of each store.
const storeCache = 64 << 20

// prepare makes all that is new, beside what is old, and decides for it.
func (c *Change) prepare(ctx context.Context, layout messages.Layout, j *journal, epochs []uint64, out *Report) (*journal, error) {
	if err := c.checkBlockers(ctx); err != nil { // once more, now that no frontier can begin
		return nil, err
	}
	if j == nil {
		j = newJournal(layout.Partitions, c.To)
	}
	// It is written anew by whoever goes on, so that a process from before, which was frozen,
	// cannot decide for what is swept here.
	if err := j.save(ctx, c.Bus); err != nil {
		return nil, err
	}
	if err := c.Bus.ChangeLayout(ctx, func(l *messages.Layout) { l.Moving = c.To }); err != nil {
		return nil, err
	}
	if err := c.sweep(ctx, epochs); err != nil {
		return nil, err
	}
	if err := c.at(stepBegun); err != nil {
		return nil, err
	}
	if err := c.copyAll(ctx, j, epochs, out); err != nil {
		return nil, err
	}
	return j, c.decide(ctx, j)
}

// copyAll makes the snapshots of the new partitions.
func (c *Change) copyAll(ctx context.Context, j *journal, epochs []uint64, out *Report) (err error) {
	old, ends, err := c.rebuild(ctx, j.From, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if err := c.at(stepRead); err != nil {
		return err
	}
	_, dir := c.dirs()
	next, err := state.OpenStore(dir, storeCache, state.SyncOS, nil, c.Log)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	r := &state.Repartitioning{
		From: old, To: next, Partitions: [2]int{j.From, j.To}, Clock: frontier.SystemClock(),
		Positions: map[string]messages.Position{messages.StreamURLs: ends[messages.StreamURLs], messages.StreamResults: ends[messages.StreamResults]},
		Progress:  func(keys int64) { c.Progress.Say("copying: %d keys", keys) },
	}
	moved, err := r.Run(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	out.takeMoved(moved)
	if err := c.at(stepCopied); err != nil {
		return err
	}
	j.Ends = ends
	if j.Snapshots, err = c.store(ctx, next, r.Positions, epochs[:j.To]); err != nil {
		return err
	}
	for _, snap := range j.Snapshots {
		out.Bytes += snap.Bytes
	}
	if err := storeMovedBudgets(ctx, c.Bus, moved.Usage); err != nil {
		return err
	}
	return c.at(stepStored)
}

// rebuild makes the state of the old partitions in a store of its own, and says up to where
// all is applied of the streams.
func (c *Change) rebuild(ctx context.Context, n int, settle bool) (_ *state.Store, ends map[string]messages.Position, err error) {
	if err := c.makeDir(); err != nil {
		return nil, nil, err
	}
	dir, _ := c.dirs()
	old, err := state.OpenStore(dir, storeCache, state.SyncOS, nil, c.Log)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says all
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, old.Close())
		}
	}()
	specs, stop, err := stages.FollowSpecs(ctx, c.Bus)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says all
	}
	defer stop()
	r, err := frontier.NewRebuilder(ctx, c.Bus, specs, old)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says all
	}
	r.Settle = settle
	if ends, err = c.ends(ctx); err != nil {
		return nil, nil, err
	}
	for p := range n {
		c.Progress.Say("reading the state of partition %d of %d", p, n)
		if _, err := r.Rebuild(ctx, p); err != nil {
			return nil, nil, explainRebuild(err)
		}
	}
	return old, ends, nil
}

// explainRebuild says what to do about a state that cannot be read.
func explainRebuild(err error) error {
	if errors.Is(err, frontier.ErrPurged) {
		return fmt.Errorf("%w: run the frontiers with --snapshot-every for a while", err)
	}
	return err
}

// ends are the last messages of the streams.
func (c *Change) ends(ctx context.Context) (map[string]messages.Position, error) {
	ends := make(map[string]messages.Position)
	for _, name := range []string{messages.StreamURLs, messages.StreamResults, messages.StreamPages, messages.StreamRecords} {
		s, err := c.Bus.JS.Stream(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("look at stream %s: %w", name, err)
		}
		info := s.CachedInfo()
		ends[name] = messages.Position{Created: info.Created, Sequence: info.State.LastSeq, Stored: info.State.LastTime}
	}
	return ends, nil
}

// store puts the states of the new partitions into the object store.
func (c *Change) store(ctx context.Context, from *state.Store, at map[string]messages.Position, epochs []uint64) (all []partition.Snapshot, err error) {
	snapshots := partition.NewSnapshots(c.Bus)
	for q, epoch := range epochs {
		c.Progress.Say("storing the state of partition %d of %d", q, len(epochs))
		view := from.View(q)
		snap, err := snapshots.Put(ctx, q, partition.Snapshot{
			Owner: owner, Epoch: epoch, Format: state.Format, Positions: at, Time: time.Now().UTC(),
		}, view.Write)
		view.Close()
		if err != nil {
			return nil, err //nolint:wrapcheck // says all
		}
		all = append(all, snap)
	}
	return all, nil
}

// decide notes that all that is new is there, if nothing has come meanwhile.
func (c *Change) decide(ctx context.Context, j *journal) error {
	now, err := c.ends(ctx)
	if err != nil {
		return err
	}
	for name, at := range now {
		if was := j.Ends[name]; was.Sequence != at.Sequence || !was.Created.Equal(at.Created) {
			return blocked([]string{fmt.Sprintf("a message was published to %s during the change: stop all stages", name)})
		}
	}
	if err := c.checkBlockers(ctx); err != nil {
		return err
	}
	j.Phase = phaseSwitch
	if err := j.save(ctx, c.Bus); err != nil {
		return err
	}
	return c.at(stepDecided)
}

// storeMovedBudgets stores what is used of the budgets of crawls by the new partitions, beside
// what the old ones were granted. What that was and was not used is free for all.
func storeMovedBudgets(ctx context.Context, b *stages.Bus, used map[string]*state.CrawlUsage) error {
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	for crawl, of := range used {
		text, rev, err := b.ReadKey(ctx, messages.BucketMeta, messages.KeyBudget(crawl))
		if err != nil {
			return err //nolint:wrapcheck // says all
		}
		if rev == 0 {
			continue
		}
		var doc state.Budget
		if err := jsontext.Unmarshal(text, &doc); err != nil {
			return fmt.Errorf("decode the budget of crawl %s: %w", crawl, err)
		}
		if doc.Since != of.Since {
			continue // it is made anew for the crawl of now
		}
		moveBudget(&doc, of)
		if text, err = json.Marshal(&doc); err != nil {
			return fmt.Errorf("encode the budget of crawl %s: %w", crawl, err)
		}
		if _, err := kv.Put(ctx, messages.KeyBudgetMoved(crawl), text); err != nil {
			return fmt.Errorf("store the budget of crawl %s: %w", crawl, err)
		}
	}
	return nil
}

// moveBudget replaces what the old partitions were granted by what the new ones have used.
func moveBudget(doc *state.Budget, of *state.CrawlUsage) {
	had := [2]bool{doc.Pages != nil, doc.Bytes != nil}
	doc.Pages, doc.Bytes = nil, nil
	for i, to := range []*map[string]int64{&doc.Pages, &doc.Bytes} {
		if had[i] {
			*to = make(map[string]int64)
		}
	}
	for q, n := range of.Partitions {
		if had[0] {
			doc.Pages[strconv.Itoa(q)] = n.Pages
		}
		if had[1] {
			doc.Bytes[strconv.Itoa(q)] = n.Bytes
		}
	}
}

// movedBudgets are the crawls of which there is a budget by the new partitions.
func movedBudgets(ctx context.Context, b *stages.Bus) (crawls []string, err error) {
	keys, err := b.Keys(ctx, messages.BucketMeta)
	if err != nil {
		return nil, fmt.Errorf("list budgets: %w", err)
	}
	for _, key := range keys {
		if crawl, ok := strings.CutPrefix(key, messages.KeyBudgetMoved("")); ok {
			crawls = append(crawls, crawl)
		}
	}
	return crawls, nil
}

func removeMovedBudgets(ctx context.Context, b *stages.Bus) error {
	crawls, err := movedBudgets(ctx, b)
	if err != nil {
		return err
	}
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	for i := 0; err == nil && i < len(crawls); i++ {
		err = kv.Purge(ctx, messages.KeyBudgetMoved(crawls[i]))
	}
	if err != nil {
		return fmt.Errorf("remove budgets: %w", err)
	}
	return nil
}

// installBudgets puts them in the place of those by the old partitions.
func installBudgets(ctx context.Context, b *stages.Bus) error {
	crawls, err := movedBudgets(ctx, b)
	if err != nil {
		return err
	}
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	for _, crawl := range crawls {
		text, rev, err := b.ReadKey(ctx, messages.BucketMeta, messages.KeyBudgetMoved(crawl))
		if err != nil {
			return err //nolint:wrapcheck // says all
		}
		if rev == 0 {
			continue // it is installed
		}
		err = jsclient.RetryConflicts(ctx, func() error {
			_, rev, err := b.ReadKey(ctx, messages.BucketMeta, messages.KeyBudget(crawl))
			if err == nil {
				_, err = jsclient.Swap(ctx, kv, messages.KeyBudget(crawl), text, rev)
			}
			return err //nolint:wrapcheck // below
		})
		if err == nil {
			err = kv.Purge(ctx, messages.KeyBudgetMoved(crawl))
		}
		if err != nil {
			return fmt.Errorf("store the budget of crawl %s: %w", crawl, err)
		}
	}
	return nil
}
