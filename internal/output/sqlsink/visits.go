package sqlsink

import (
	"context"
	"encoding/json"
	"slices"

	"seine/pkg/messages"
)

// Transaction is the transaction of a batch.
type Transaction interface {
	// Put puts the rows of the nth wave into the tables, and deletes those that replays have replaced.
	Put(ctx context.Context, n int, w *Wave) error
	Exec(ctx context.Context, statement string, args ...any) error
	// Texts returns the texts of the only column of a query.
	Texts(ctx context.Context, query string, args ...any) ([]string, error)
}

// items is a table of items: what their events have, and when another visit than that of a row has found it.
type items struct{ table, kind, data, isOther string }

var allItems = []items{
	{"records", "r.kind", "r.data", "r.kind <> 'visit' AND r.visit IS NOT NULL AND r.visit IS DISTINCT FROM v.visit"},
	{"pages", "'page'", "NULL", "r.visit IS DISTINCT FROM v.visit"}, // their texts are long
}

// earlier is a condition for rows r of items that are there, as far as is known, and were found by a visit before v
// of the same page.
func (i items) earlier() string {
	return ` r.crawl = v.crawl AND r.url = v.url AND r.gone_at IS NULL AND ` + i.isOther + ` AND (r.fetched_at, r.round) < (v.fetched_at, v.round)`
}

// settlement updates the items of visited pages that the visits made no record of.
type settlement struct {
	*Batch
	dialect Dialect
	tx      Transaction
	with    string // visits v, by the names of visits in $1
	named   string
}

// PutWaves puts the waves of a batch into the tables, one after the other.
func (b *Batch) PutWaves(ctx context.Context, d Dialect, tx Transaction) error {
	for n, w := range b.Waves {
		if err := tx.Put(ctx, n, w); err != nil {
			return err
		}
		if err := w.settle(ctx, d, b, tx); err != nil {
			return err
		}
	}
	return nil
}

// settle updates the items of the pages that a wave visits. The items of an unchanged page were checked. Those that
// the last visit of their page did not find are gone, unless they are on another page.
func (w *Wave) settle(ctx context.Context, d Dialect, b *Batch, tx Transaction) error {
	s := settlement{Batch: b, dialect: d, tx: tx}
	if err := s.same(ctx, w.Same); err != nil {
		return err
	}
	return s.absent(ctx, w.Visited)
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

func (s settlement) absent(ctx context.Context, visits []*Row) (err error) {
	if s.named, err = s.withOthers(ctx, visits); err != nil || s.named == "" {
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

// withOthers returns those visits whose pages have rows of other visits as a JSON text, "" for none: the rows of
// the other pages are as they should be.
func (s settlement) withOthers(ctx context.Context, visits []*Row) (string, error) {
	if len(visits) == 0 {
		return "", nil
	}
	all, err := visitsJSON(s.dialect, visits)
	if err != nil {
		return "", err
	}
	const other = ` o ON o.url = n.url AND o.crawl = n.crawl AND o.gone_at IS NULL AND o.visit IS DISTINCT FROM n.visit`
	urls, err := s.tx.Texts(ctx, `WITH n AS (`+s.dialect.Visits()+`) SELECT n.url FROM n JOIN records`+other+` UNION SELECT n.url FROM n JOIN pages`+other, all)
	if err != nil || len(urls) == 0 {
		return "", err
	}
	slices.Sort(urls)
	return visitsJSON(s.dialect, slices.DeleteFunc(slices.Clone(visits), func(r *Row) bool {
		_, found := slices.BinarySearch(urls, r.URL)
		return !found
	}))
}

// lastVisits selects the last visits, and earlier ones, of the pages of a relation: that of the record of the page, and
// of one without.
func lastVisits(of string) string {
	return `SELECT p.crawl, p.url, p.visit, p.fetched_at, p.round, p.run FROM ` + of + ` n JOIN pages p ON p.url = n.url AND p.crawl = n.crawl
		UNION ALL SELECT r.crawl, r.url, r.visit, r.fetched_at, r.round, r.run FROM ` + of + ` n JOIN records r ON r.url = n.url AND r.crawl = n.crawl AND r.kind IN ('visit', 'gone')`
}

// move has items with a key that a page lost be of another page that still has them.
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

// note adds an event for each item that the visits v check or miss, and sets columns of it.
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

// visitsJSON are the visits of rows for Dialect.Visits.
func visitsJSON(d Dialect, rows []*Row) (string, error) {
	all := make([][]any, len(rows))
	for i, r := range rows {
		all[i] = []any{r.Crawl, r.URL, r.Visit, d.Moment(r.FetchedAt), r.Round, r.Run}
	}
	b, err := json.Marshal(all)
	return string(b), err
}

// visitRow is the row of a visit whose records do not include one of the page.
func visitRow(of *Row) *Row {
	r := *of
	r.Kind, r.Table, r.Item, r.Key, r.Ordinal, r.Data = messages.KindVisit, Records, pageItem(of), "", -1, []byte("{}")
	return &r
}
