package sqlsink

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"seine/internal/output"
)

// Batch is the content of one transaction.
type Batch struct {
	Feed   int64
	ID     int64 // of the commit, once its entry is inserted
	Commit *output.Commit
	Entry  []byte // the encoded commit
	Events []*Row
	// Waves have at most one visit of a page each; later visits are in later waves.
	Waves []*Wave
	Hosts []Host // sorted
}

// Wave is a part of a batch whose rows are written together.
type Wave struct {
	// Pages and Records are the latest row of each item. They are sorted, so that concurrent
	// transactions that share several rows wait for each other without a deadlock.
	Pages, Records []*Row
	// Visited has a row for each visited page, and Same one for each unchanged page.
	Visited, Same []*Row
	// Replayed has a row for each visit that a replay has parsed again. Its earlier records,
	// perhaps of another kind or with another key, are obsolete.
	Replayed []*Row
}

// Host is the time range in which a crawl saw a host.
type Host struct {
	Crawl, Name string
	First, Last time.Time
	New         int64 // new pages, counted by the database
}

func newBatch(feed int64, c *output.Commit, chunks []*Chunk) (*Batch, error) {
	text, err := c.Encode()
	if err != nil {
		return nil, err
	}
	b := &Batch{Feed: feed, Commit: c, Entry: text}
	hosts := make(map[[2]string]*Host)
	for _, chunk := range chunks {
		for _, r := range chunk.rows {
			b.Events = append(b.Events, r)
			see(hosts, r)
		}
	}
	for _, rows := range inWaves(b.Events) {
		b.Waves = append(b.Waves, newWave(rows))
	}
	for _, k := range slices.SortedFunc(maps.Keys(hosts), compareNames) {
		b.Hosts = append(b.Hosts, *hosts[k])
	}
	return b, nil
}

// inWaves distributes rows to waves, in the order of their times: different visits of a page, and
// different runs of a crawl, go to different waves. Chunks separate kinds, and an unchanged page
// keeps what it had before the next run.
func inWaves(all []*Row) (waves [][]*Row) {
	type last struct {
		visit string
		wave  int
	}
	type run struct {
		run         int64
		first, next int // waves of this run and of the next
	}
	pages, runs := make(map[pageKey]last), make(map[string]*run)
	rows := slices.SortedStableFunc(slices.Values(all), func(a, b *Row) int {
		return cmp.Or(a.FetchedAt.Compare(b.FetchedAt), cmp.Compare(a.Round, b.Round))
	})
	for _, r := range rows {
		of := runs[r.Crawl]
		if of == nil {
			of = &run{run: r.Run}
			runs[r.Crawl] = of
		}
		if r.Run > of.run {
			of.run, of.first = r.Run, of.next
		}
		wave := of.first
		if r.URL != "" && r.Visit != "" {
			page := pageKey{crawl: r.Crawl, url: r.URL}
			at, known := pages[page]
			if known && at.visit != r.Visit {
				at.wave++
			}
			if !known || at.visit != r.Visit {
				at = last{r.Visit, max(at.wave, of.first)}
				pages[page] = at
			}
			wave = at.wave
		}
		of.next = max(of.next, wave+1)
		for wave >= len(waves) {
			waves = append(waves, nil)
		}
		waves[wave] = append(waves[wave], r)
	}
	return waves
}

func newWave(rows []*Row) *Wave {
	w := new(Wave)
	latest := make(map[itemKey]*Row)
	visited, same, replayed := make(map[pageKey]*Row), make(map[pageKey]*Row), replayedOf(rows)
	for _, r := range rows {
		k := itemKey{r.Table, r.Crawl, r.Kind, r.Item}
		by := replayed[r.ofVisit()]
		replaced := by != nil && r.isOfRule() && r.Generation != by.Generation
		if have := latest[k]; r.Table != Results && !replaced && (have == nil || !r.isOlder(have)) {
			latest[k] = r
		}
		switch page := (pageKey{crawl: r.Crawl, url: r.URL}); {
		case r.isOfVisit():
			if have := visited[page]; have == nil || have.isOfRule() {
				visited[page] = r
			}
		case r.isSame():
			same[page] = r
		}
	}
	for _, r := range visited {
		if r.isOfRule() {
			row := visitRow(r)
			latest[itemKey{row.Table, row.Crawl, row.Kind, row.Item}] = row
		}
	}
	for _, r := range latest {
		if r.Table == Pages {
			w.Pages = append(w.Pages, r)
		} else {
			w.Records = append(w.Records, r)
		}
	}
	slices.SortFunc(w.Pages, byItem)
	slices.SortFunc(w.Records, byItem)
	w.Visited, w.Same = slices.SortedFunc(maps.Values(visited), byPage), slices.SortedFunc(maps.Values(same), byPage)
	w.Replayed = slices.SortedFunc(maps.Values(replayed), byPage)
	return w
}

// replayedOf returns the last replay of each replayed visit.
func replayedOf(rows []*Row) map[pageKey]*Row {
	replayed := make(map[pageKey]*Row)
	for _, r := range rows {
		if r.isOfVisit() && r.Generation != "" {
			replayed[r.ofVisit()] = r
		}
	}
	return replayed
}

type itemKey struct {
	table       Table
	crawl, kind string
	item        ID
}

// pageKey is a page of a crawl by its URL, or a visit to it.
type pageKey struct{ crawl, url, visit string }

func (r *Row) ofVisit() pageKey { return pageKey{r.Crawl, r.URL, r.Visit} }

func byPage(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Crawl, b.Crawl), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Visit, b.Visit))
}

func byItem(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Crawl, b.Crawl), cmp.Compare(a.Kind, b.Kind), bytes.Compare(a.Item[:], b.Item[:]))
}

func compareNames(a, b [2]string) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

func see(hosts map[[2]string]*Host, r *Row) {
	if r.Host == "" {
		return
	}
	k := [2]string{r.Crawl, r.Host}
	h := hosts[k]
	if h == nil {
		h = &Host{Crawl: r.Crawl, Name: r.Host, First: r.FetchedAt, Last: r.FetchedAt}
		hosts[k] = h
	}
	if r.FetchedAt.Before(h.First) {
		h.First = r.FetchedAt
	}
	if r.FetchedAt.After(h.Last) {
		h.Last = r.FetchedAt
	}
}

// AddNew counts n new pages of a host.
func (b *Batch) AddNew(crawl, host string, n int64) {
	k := [2]string{crawl, host}
	at, ok := slices.BinarySearchFunc(b.Hosts, k, func(h Host, k [2]string) int {
		return compareNames([2]string{h.Crawl, h.Name}, k)
	})
	if ok {
		b.Hosts[at].New += n
	}
}
