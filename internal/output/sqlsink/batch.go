package sqlsink

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"seine/internal/output"
)

// Batch is what one transaction adds.
type Batch struct {
	Feed   int64
	ID     int64 // of the commit, once its entry is sent
	Commit *output.Commit
	Entry  []byte // the commit, as it is stored
	Events []*Row // all rows
	// Pages and Records are the latest row of each item. They are sorted, so that
	// transactions which meet in several rows wait for each other and not in a ring.
	Pages, Records []*Row
	// Visited has a row of each page that a visit has found something on. What an earlier
	// visit found there is not there any more, unless it has a key.
	Visited []*Row
	// Replayed has a row of each visit that a replay has made again: what was made of it
	// before, perhaps of another kind or with another key, is not there any more.
	Replayed []*Row
	Hosts    []Host // sorted
}

// Host is when a host of a crawl was seen.
type Host struct {
	Crawl, Name string
	First, Last time.Time
	New         int64 // pages that were not known: the database counts them
}

func newBatch(feed int64, c *output.Commit, chunks []*Chunk) (*Batch, error) {
	text, err := c.Encode()
	if err != nil {
		return nil, err
	}
	b := &Batch{Feed: feed, Commit: c, Entry: text}
	hosts := make(map[[2]string]*Host)
	latest := make(map[itemKey]*Row)
	visited, replayed := make(map[pageKey]*Row), replayedOf(chunks)
	for _, chunk := range chunks {
		for _, r := range chunk.rows {
			b.Events = append(b.Events, r)
			see(hosts, r)
			k := itemKey{r.Table, r.Crawl, r.Kind, r.Item}
			by := replayed[r.ofVisit()]
			replaced := by != nil && r.isOfRule() && r.Generation != by.Generation
			if have := latest[k]; r.Table != Results && !replaced && (have == nil || !r.isOlder(have)) {
				latest[k] = r
			}
			if r.isOfVisit() {
				visited[pageKey{crawl: r.Crawl, url: r.URL}] = r
			}
		}
	}
	for _, r := range latest {
		if r.Table == Pages {
			b.Pages = append(b.Pages, r)
		} else {
			b.Records = append(b.Records, r)
		}
	}
	slices.SortFunc(b.Pages, byItem)
	slices.SortFunc(b.Records, byItem)
	b.Visited = slices.SortedFunc(maps.Values(visited), byPage)
	b.Replayed = slices.SortedFunc(maps.Values(replayed), byPage)
	for _, k := range slices.SortedFunc(maps.Keys(hosts), compareNames) {
		b.Hosts = append(b.Hosts, *hosts[k])
	}
	return b, nil
}

// replayedOf returns the last replay of each visit that is made again.
func replayedOf(chunks []*Chunk) map[pageKey]*Row {
	replayed := make(map[pageKey]*Row)
	for _, chunk := range chunks {
		for _, r := range chunk.rows {
			if r.isOfVisit() && r.Generation != "" {
				replayed[r.ofVisit()] = r
			}
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

// AddNew counts n pages of a host that were not known.
func (b *Batch) AddNew(crawl, host string, n int64) {
	k := [2]string{crawl, host}
	at, ok := slices.BinarySearchFunc(b.Hosts, k, func(h Host, k [2]string) int {
		return compareNames([2]string{h.Crawl, h.Name}, k)
	})
	if ok {
		b.Hosts[at].New += n
	}
}
