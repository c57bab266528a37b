package state

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"seine/internal/base/jsontext"
	"seine/internal/base/tally"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// movedCrawl is a crawl that is being moved.
type movedCrawl struct {
	*mover
	name   string
	states map[int]crawlState // of the old partitions that know it
	counts map[int]*movedURLs // of the new partitions that have URLs of it
	byPart map[int]map[int]*movedURLs
	heirs  map[int]int // by old partition: who has what cannot be taken apart
}

// movedURLs are the URLs that came to a new partition, all or from one of the old ones.
type movedURLs struct {
	frontierapi.Counters
	fetched int64
	// inherited are the digests of the metadata that they have from the page that they were found on.
	inherited map[textDigest]bool
}

// moveCrawls moves all that is known by the name of a crawl, one after the other.
func (m *mover) moveCrawls() error {
	names := make(map[string]bool)
	for p := range m.Partitions[0] {
		pre := table.Prefix(p, kindCounters)
		err := m.From.scan(pre, nil, func(key, _ []byte) (bool, error) {
			names[string(key[len(pre):])] = true
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := &movedCrawl{
			mover: m, name: name, states: make(map[int]crawlState), counts: make(map[int]*movedURLs),
			byPart: make(map[int]map[int]*movedURLs), heirs: make(map[int]int),
		}
		if err := c.move(); err != nil {
			return fmt.Errorf("crawl %s: %w", name, err)
		}
	}
	return nil
}

func (c *movedCrawl) move() error {
	if err := c.readStates(); err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(c.states)) {
		if err := c.moveURLs(p); err != nil {
			return err
		}
		c.heirs[p] = c.heir(p)
	}
	for _, do := range []func() error{c.moveInherited, c.moveRuns, c.moveStates, c.moveLinks, c.moveUnchanged} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// readStates reads what the old partitions know of the crawl.
func (c *movedCrawl) readStates() error {
	for p := range c.Partitions[0] {
		value, err := c.From.get(append(table.Prefix(p, kindCounters), c.name...))
		if err != nil {
			return fmt.Errorf("read store: %w", err)
		}
		if value == nil {
			continue
		}
		var state crawlState
		if err := jsontext.Unmarshal(value, &state); err != nil {
			return fmt.Errorf("partition %d: %w: %w", p, errCounters, err)
		}
		if state.Removing != nil {
			return fmt.Errorf("%w: it was deleted, and partition %d has not forgotten it yet", ErrUnsettled, p)
		}
		c.states[p] = state
	}
	return nil
}

// heir is the new partition that has what cannot be taken apart of an old one: the first one
// that has URLs of it, so that no partition knows a crawl of which it has none.
func (c *movedCrawl) heir(p int) int {
	if got := slices.Sorted(maps.Keys(c.byPart[p])); len(got) > 0 {
		return got[0]
	}
	return p % c.step
}

// moveStates writes what the new partitions know of the crawl.
func (c *movedCrawl) moveStates() error {
	pages := c.sharePages()
	for q := range c.Partitions[1] {
		from := c.contributors(q)
		if len(from) == 0 {
			continue
		}
		state, err := c.merged(q, from)
		if err != nil {
			return err
		}
		state.Pages = pages[q]
		c.takeExamples(q, &state)
		if err := crawlTable.Export(q, c.name, &crawl{crawlState: state}, c.write); err != nil {
			return err
		}
		c.noteUsage(q, &state)
		c.reopenSeeds(q, &state)
	}
	return nil
}

// contributors are the old partitions from which a new one has something of the crawl.
func (c *movedCrawl) contributors(q int) (all []int) {
	for _, p := range c.sources(q) {
		if _, known := c.states[p]; known && (c.byPart[p][q] != nil || c.heirs[p] == q) {
			all = append(all, p)
		}
	}
	return all
}

// sharePages shares the pages that were fetched by where the URLs went of which there are some;
// what is left is the heir's.
func (c *movedCrawl) sharePages() map[int]int64 {
	pages := make(map[int]int64)
	for p, state := range c.states {
		left := state.Pages
		for _, q := range slices.Sorted(maps.Keys(c.byPart[p])) {
			n := min(left, c.byPart[p][q].fetched)
			pages[q] += n
			left -= n
		}
		pages[c.heirs[p]] += left
	}
	return pages
}

// merged is the state of the crawl in a new partition, but for its pages and examples.
func (c *movedCrawl) merged(q int, from []int) (crawlState, error) {
	first := c.states[from[0]]
	out := first
	out.Counters = frontierapi.Counters{Run: first.Run}
	if n := c.counts[q]; n != nil {
		out.Counters = n.Counters
	}
	out.Examples = frontierapi.Examples{}
	out.Review, out.Reseed = nil, nil
	for _, p := range from {
		state := c.states[p]
		if state.Since != first.Since {
			return out, fmt.Errorf("%w: it was deleted and created again, and partitions %d and %d have not both removed the deleted one", ErrUnsettled, from[0], p)
		}
		out.takeTimes(&state)
		if c.heirs[p] == q {
			out.takeSums(&state.Counters)
		}
		out.takeRules(&state, p == from[0])
		out.takeSweeps(&state)
	}
	for _, p := range from {
		if err := c.checkRun(p, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// takeTimes keeps the earliest start and the latest change, and run.
func (c *crawlState) takeTimes(o *crawlState) {
	if o.Started != 0 && (c.Started == 0 || o.Started < c.Started) {
		c.Started = o.Started
	}
	c.Changed = max(c.Changed, o.Changed)
	c.Run, c.LatestRun = max(c.Run, o.Run), max(c.LatestRun, o.LatestRun)
}

// takeSums adds what only grows.
func (c *crawlState) takeSums(o *frontierapi.Counters) {
	c.Warnings += o.Warnings
	c.BytesWire += o.BytesWire
	c.BytesBody += o.BytesBody
	for class, n := range o.Attempts {
		tally.Add(&c.Attempts, class, n)
	}
}

// takeRules keeps by which rules the URLs were judged, if all were by the same: else they
// are judged again, as after a change of the spec.
func (c *crawlState) takeRules(o *crawlState, first bool) {
	if first {
		return
	}
	if c.Print != o.Print {
		c.Print = 0
	}
	if c.Build != o.Build {
		c.Build = 0
	}
	if c.Links != o.Links || c.LinksRev != o.LinksRev {
		c.LinksRev = max(c.LinksRev, o.LinksRev)
		if o.Rev > c.Rev {
			c.Links = o.Links
		}
	}
	c.Seeding.Due = c.Seeding.Due || o.Seeding != c.Seeding
	if o.Rev > c.Rev {
		c.Schedule, c.Seeding.List = o.Schedule, o.Seeding.List
	}
	c.Rev = min(c.Rev, o.Rev)
	c.Scheduled = c.Scheduled || o.Scheduled
	c.ScheduleSince = max(c.ScheduleSince, o.ScheduleSince)
}

// takeSweeps has walks through all URLs begin anew: what was done is found done.
func (c *crawlState) takeSweeps(o *crawlState) {
	if o.Review != nil && !c.Review.audits() {
		c.Review = o.Review.anew()
	}
	if o.Reseed != nil {
		c.Reseed = &sweep{All: o.Reseed.All || c.Reseed != nil && c.Reseed.All}
	}
	c.Opening, c.Unchanged = c.Opening || o.Opening, c.Unchanged || o.Unchanged
}

// checkRun makes sure that an old partition is in the run that the new one is in: its seeds
// would be left out of it.
func (c *movedCrawl) checkRun(p int, out *crawlState) error {
	state := c.states[p]
	if state.Run < out.Run && state.Started < out.Run*1000 || state.Again != out.Again && state.Started != 0 {
		return fmt.Errorf("%w: partition %d has not begun run %d, which others have begun", ErrUnsettled, p, out.Run)
	}
	return nil
}

// takeExamples keeps those whose URLs are in the new partition.
func (c *movedCrawl) takeExamples(q int, out *crawlState) {
	take := func(to *map[string]frontierapi.Example, from map[string]frontierapi.Example) {
		for _, why := range slices.Sorted(maps.Keys(from)) {
			if _, has := (*to)[why]; has || c.targetOfURL(from[why].URL) != q {
				continue
			}
			if *to == nil {
				*to = make(map[string]frontierapi.Example)
			}
			(*to)[why] = from[why]
		}
	}
	for _, p := range c.sources(q) {
		x := c.states[p].Examples
		take(&out.Examples.Failures, x.Failures)
		take(&out.Examples.Exclusions, x.Exclusions)
		take(&out.Examples.LeftOut, x.LeftOut)
	}
}

// noteUsage notes what the partition has used of the budgets of the crawl.
func (c *movedCrawl) noteUsage(q int, state *crawlState) {
	of := c.out.Usage[c.name]
	if of == nil {
		of = &CrawlUsage{Since: state.Since, Partitions: make(map[int]Usage)}
		c.out.Usage[c.name] = of
	}
	of.Partitions[q] = Usage{Pages: state.Pages + state.InFlight, Bytes: state.BytesWire}
}

// reopenSeeds has the spec of a crawl looked at again in the partitions that know nothing of
// it, if it is still to be fed the seeds of that: some may be theirs.
func (c *movedCrawl) reopenSeeds(q int, state *crawlState) {
	if t := c.timeOf(q); state.Seeding.Due && t.known && state.Rev > 0 {
		t.mark.Judged.Rev = min(t.mark.Judged.Rev, state.Rev-1)
	}
}

// moveRuns moves the figures of the runs to the heirs. Of more than are kept the oldest go.
func (c *movedCrawl) moveRuns() error {
	runs := make(map[int]map[int64]*frontierapi.Run)
	for _, p := range slices.Sorted(maps.Keys(c.states)) {
		q := c.heirs[p]
		if runs[q] == nil {
			runs[q] = make(map[int64]*frontierapi.Run)
		}
		err := c.From.scan(table.Name(table.Prefix(p, kindRun), c.name), nil, func(_, value []byte) (bool, error) {
			var r frontierapi.Run
			if jsontext.Unmarshal(value, &r) != nil {
				c.out.Skipped[kindRun]++
				return true, nil
			}
			if runs[q][r.Run] == nil {
				runs[q][r.Run] = &frontierapi.Run{Run: r.Run}
			}
			runs[q][r.Run].Add(&r)
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for q, of := range runs {
		all := slices.Sorted(maps.Keys(of))
		for _, run := range all[max(0, len(all)-frontierapi.MaxRuns):] {
			rest := binary.BigEndian.AppendUint64(table.Name(nil, c.name), uint64(run))
			if err := c.putJSON(q, kindRun, rest, of[run]); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveInherited copies the texts that URLs of the new partitions have inherited.
func (c *movedCrawl) moveInherited() error {
	for q, n := range c.counts {
		for digest := range n.inherited {
			rest := append(table.Name(nil, c.name), digest[:]...)
			for _, p := range c.sources(q) {
				text, err := c.From.get(append(table.Prefix(p, kindInherited), rest...))
				if err != nil {
					return fmt.Errorf("read store: %w", err)
				}
				if text == nil {
					continue
				}
				if err := c.put(q, kindInherited, rest, text); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}
