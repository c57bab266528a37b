// Package items finds the items in an output of files, and their changes from visit to visit. It
// loads the records into a temporary SQLite database, so that databases and files share the
// definition of both in package sqlsink.
package items

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/output/sqlite"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
)

// perCommit bounds the records of a transaction.
const perCommit = 10_000

// Store holds the records of an output. Records may be added in any order, except that those of one
// visit keep theirs.
type Store struct {
	*sqlsink.Sink
	dir       string
	staged    *staging
	partition output.Partition
	created   time.Time
	n         uint64
	places    map[string]int // number of records by visit and kind
	waiting   map[output.Group][]*format.Record
	added     int
}

// New returns an empty store. Close removes it.
func New() (*Store, error) {
	dir, err := os.MkdirTemp("", "seine-items-")
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, created: time.Unix(0, 0).UTC(), places: make(map[string]int), waiting: make(map[output.Group][]*format.Record)}
	s.Sink, err = sqlite.OpenTemporary(sqlite.Scheme+filepath.Join(dir, "items.db"), slog.New(slog.DiscardHandler))
	if err == nil {
		s.partition, _, err = s.OpenPartition(0, s.created)
	}
	if err == nil {
		s.staged, err = newStaging(filepath.Join(dir, "staged.db"))
	}
	if err != nil {
		if s.Sink != nil {
			err = errors.Join(err, s.Sink.Close())
		}
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// Close removes the store.
func (s *Store) Close() error {
	return errors.Join(s.staged.close(), s.Sink.Close(), os.RemoveAll(s.dir))
}

// head is the fields of a record that identify its visit and time.
type head struct {
	FetchedAt  string `json:"fetched_at"`
	Visit      string `json:"visit"`
	Generation string `json:"generation"`
}

// Add adds a record, a line of JSON. A record without a time sorts before the others.
func (s *Store) Add(crawl, kind string, line []byte) error {
	s.n++
	var r head
	_ = jsontext.Unmarshal(line, &r) // text that is not JSON has no visit
	at, _ := time.Parse(time.RFC3339Nano, r.FetchedAt)
	return s.staged.add(&stagedLine{at: at, crawl: crawl, kind: kind, id: s.identity(crawl, kind, r), data: line})
}

// Finish processes the added records. Call it before queries.
func (s *Store) Finish() error {
	s.n = 0
	if err := s.staged.each(s.take); err != nil {
		return fmt.Errorf("sort the records by time: %w", err)
	}
	return s.flush()
}

// take adds the next record in order of time.
func (s *Store) take(l *stagedLine) error {
	s.n++
	g := output.Group{Crawl: l.crawl, Kind: l.kind, Dir: l.crawl + "/" + l.kind}
	s.waiting[g] = append(s.waiting[g], &format.Record{ID: l.id, Kind: l.kind, Stored: s.created.Add(time.Duration(s.n)), Data: l.data})
	if s.added++; s.added < perCommit {
		return nil
	}
	return s.flush()
}

// identity returns the identity that the parser gives a record. Files do not have it.
func (s *Store) identity(crawl, kind string, r head) string {
	var visit messages.Visit
	if r.Visit == "" || visit.UnmarshalText([]byte(r.Visit)) != nil {
		return "line." + strconv.FormatUint(s.n, 10)
	}
	id := messages.VisitID(crawl, visit)
	of := id + "." + kind + "@" + r.Generation
	place := s.places[of]
	s.places[of]++
	switch {
	case kind != messages.KindPage:
		id += "." + kind + "." + strconv.Itoa(place)
	case place > 0: // a repeat of the same record
		return "line." + strconv.FormatUint(s.n, 10)
	}
	if r.Generation != "" {
		id = messages.InGeneration(id, r.Generation)
	}
	return id
}

// flush commits the records taken so far.
func (s *Store) flush() error {
	c := &output.Commit{Partition: 0, Created: s.created, FirstSeq: s.n - uint64(s.added) + 1, LastSeq: s.n, Stored: s.created}
	for g, records := range s.waiting {
		chunk, err := s.partition.Create(c.Name(), g, sqlsink.Ext)
		if err != nil {
			return err
		}
		enc, err := sqlsink.Format{}.NewEncoder(chunk, g)
		for _, r := range records {
			if err == nil {
				err = enc.Append(r)
			}
		}
		if err == nil {
			_, err = chunk.Finish()
		}
		if err != nil {
			return err
		}
	}
	clear(s.waiting)
	s.added = 0
	if _, err := s.partition.Commit(c); err != nil {
		return fmt.Errorf("compare the records: %w", err)
	}
	return nil
}
