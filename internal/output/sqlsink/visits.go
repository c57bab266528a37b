package sqlsink

import (
	"context"
	"encoding/json"
	"slices"

	"seine/pkg/messages"
)

// Transaction is the transaction of a batch.
type Transaction interface {
	// Put writes the rows of the nth wave, and deletes those that replays have replaced.
	Put(ctx context.Context, n int, w *Wave) error
	Exec(ctx context.Context, statement string, args ...any) error
	// Texts returns the values of a query with one text column.
	Texts(ctx context.Context, query string, args ...any) ([]string, error)
}

// items is a table of items: the data for their events, and a condition for rows that were found by
// another visit than v.
type items struct{ table, kind, data, isOther string }

var allItems = []items{
	{"records", "r.kind", "r.data", "r.kind <> 'visit' AND r.visit IS NOT NULL AND r.visit IS DISTINCT FROM v.visit"},
	{"pages", "'page'", "NULL", "r.visit IS DISTINCT FROM v.visit"}, // page texts are long
}

// earlier is a condition for rows r of existing items that were found by a visit before v of the
// same page.
func (i items) earlier() string {
	return ` r.crawl = v.crawl AND r.url = v.url AND r.gone_at IS NULL AND ` + i.isOther + ` AND (r.fetched_at, r.round) < (v.fetched_at, v.round)`
}

// settlement updates the items of visited pages for which the visits made no record.
type settlement struct {
	*Batch
	dialect Dialect
	tx      Transaction
	with    string // defines visits v, from the visits in $1
	named   string
}

// PutWaves writes the waves of a batch, one after the other.
func (b *Batch) PutWaves(ctx context.Context, d Dialect, tx Transaction) error {
	for n, w := range b.Waves {
		s := settlement{Batch: b, dialect: d, tx: tx}
		known, err := s.known(ctx, w)
		if err == nil {
			err = tx.Put(ctx, n, w)
		}
		if err == nil {
			err = s.settle(ctx, w.Same, known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle updates items of visited pages that earlier visits found. The items of an unchanged page
// are marked as checked. Items that the last visit of their page did not find are gone, unless they
// are on another page.
func (s settlement) settle(ctx context.Context, same, known []*Row) error {
	if err := s.same(ctx, same); err != nil {
		return err
	}
	return s.absent(ctx, known)
}

// known returns the visits whose pages have items of earlier visits. A page in the wave replaces
// its row or is older, so only its records count.
func (s settlement) known(ctx context.Context, w *Wave) ([]*Row, error) {
	const item = ` o WHERE o.url = n.url AND o.crawl = n.crawl AND o.gone_at IS NULL)`
	const record = `SELECT n.url FROM n WHERE EXISTS (SELECT 1 FROM records` + item
	var replacing, others []*Row
	for _, r := range w.Visited {
		if r.Table == Pages {
			replacing = append(replacing, r)
		} else {
			others = append(others, r)
		}
	}
	known, err := s.chosen(ctx, replacing, record)
	if err != nil {
		return nil, err
	}
	more, err := s.chosen(ctx, others, record+` OR EXISTS (SELECT 1 FROM pages`+item)
	return append(known, more...), err
}

func (s settlement) same(ctx context.Context, visits []*Row) (err error) {
	if len(visits) == 0 {
		return nil
	}
	if s.named, err = visitsJSON(s.dialect, visits); err != nil {
		return err
	}
	s.with = `WITH v AS (` + s.dialect.Visits() + `)`
	return s.note(ctx, "true", `checked_at = v.fetched_at, run = v.run`)
}

func (s settlement) absent(ctx context.Context, visits []*Row) error {
	const other = ` o ON o.url = n.url AND o.crawl = n.crawl AND o.gone_at IS NULL AND o.visit IS DISTINCT FROM n.visit`
	visits, err := s.chosen(ctx, visits, `SELECT n.url FROM n JOIN records`+other+` UNION SELECT n.url FROM n JOIN pages`+other)
	if err != nil || len(visits) == 0 { // the other pages have nothing to update
		return err
	}
	if s.named, err = visitsJSON(s.dialect, visits); err != nil {
		return err
	}
	s.with = `WITH named AS (` + s.dialect.Visits() + `), stored AS (` + lastVisits("named") + `), v AS (
		SELECT * FROM (SELECT stored.*, row_number() OVER (PARTITION BY crawl, url ORDER BY fetched_at DESC, round DESC) AS place FROM stored) AS newest WHERE place = 1
	)`
	if err := s.move(ctx); err != nil {
		return err
	}
	return s.note(ctx, "false", `gone_at = v.fetched_at`)
}

// chosen returns the visits whose URLs are returned by a query of visits n.
func (s settlement) chosen(ctx context.Context, visits []*Row, query string) ([]*Row, error) {
	if len(visits) == 0 {
		return nil, nil
	}
	all, err := visitsJSON(s.dialect, visits)
	if err != nil {
		return nil, err
	}
	urls, err := s.tx.Texts(ctx, `WITH n AS (`+s.dialect.Visits()+`) `+query, all)
	slices.Sort(urls)
	return slices.DeleteFunc(slices.Clone(visits), func(r *Row) bool {
		_, found := slices.BinarySearch(urls, r.URL)
		return !found
	}), err
}

// lastVisits selects the stored visits of the pages of a relation: those with a record of the page,
// and those without.
func lastVisits(of string) string {
	return `SELECT p.crawl, p.url, p.visit, p.fetched_at, p.round, p.run FROM ` + of + ` n JOIN pages p ON p.url = n.url AND p.crawl = n.crawl
		UNION ALL SELECT r.crawl, r.url, r.visit, r.fetched_at, r.round, r.run FROM ` + of + ` n JOIN records r ON r.url = n.url AND r.crawl = n.crawl AND r.kind IN ('visit', 'gone')`
}

// move moves items with a key that a page lost to another page that still has them.
func (s settlement) move(ctx context.Context) error {
	i := allItems[0]
	other := `SELECT q.* FROM sightings q WHERE q.item = r.id AND q.crawl = r.crawl AND q.kind = r.kind AND q.found AND q.url <> r.url
		AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.url = q.url AND p.crawl = q.crawl AND p.fetched_at > q.fetched_at)
		AND NOT EXISTS (SELECT 1 FROM records o WHERE o.url = q.url AND o.crawl = q.crawl AND o.kind IN ('visit', 'gone') AND o.fetched_at > q.fetched_at)
		ORDER BY q.fetched_at DESC LIMIT 1`
	return s.tx.Exec(ctx, s.with+` UPDATE records AS t SET url = o.url, visit = o.visit, fetched_at = o.fetched_at, digest = o.digest, data = o.data
		FROM (SELECT r.crawl, r.kind, r.id, f.url, f.visit, f.fetched_at, f.digest, f.data FROM v JOIN records r ON `+i.earlier()+` `+
		s.dialect.JoinOne("f", other)+` WHERE r.key IS NOT NULL AND f.url IS NOT NULL) AS o
		WHERE t.crawl = o.crawl AND t.kind = o.kind AND t.id = o.id`, s.named)
}

// note adds an event for each item that the visits v check or miss, and sets columns of the item.
func (s settlement) note(ctx context.Context, found, set string) error {
	for _, i := range allItems {
		err := s.tx.Exec(ctx, s.with+` INSERT INTO events (feed, id, commit_id, crawl, kind, item, url, visit, fetched_at, run, digest, found, since, data)
			SELECT $2, `+s.dialect.NewID()+`, $3, r.crawl, `+i.kind+`, r.id, r.url, v.visit, v.fetched_at, v.run, r.digest, `+found+`, r.fetched_at, `+i.data+`
			FROM v JOIN `+i.table+` r ON `+i.earlier(), s.named, s.Feed, s.ID)
		if err != nil {
			return err
		}
		if err := s.tx.Exec(ctx, s.with+` UPDATE `+i.table+` AS r SET `+set+` FROM v WHERE `+i.earlier(), s.named); err != nil {
			return err
		}
	}
	return nil
}

// visitsJSON returns the visits of rows in the format of Dialect.Visits.
func visitsJSON(d Dialect, rows []*Row) (string, error) {
	all := make([][]any, len(rows))
	for i, r := range rows {
		all[i] = []any{r.Crawl, r.URL, r.Visit, d.Moment(r.FetchedAt), r.Round, r.Run}
	}
	b, err := json.Marshal(all)
	return string(b), err
}

// visitRow returns the row of a visit that made no record of the page itself.
func visitRow(of *Row) *Row {
	r := *of
	r.Kind, r.Table, r.Item, r.Key, r.Ordinal, r.Data = messages.KindVisit, Records, pageItem(of), "", -1, []byte("{}")
	return &r
}
