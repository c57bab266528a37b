package items

import (
	"database/sql"
	"errors"
	"time"
)

// staging sorts records on their way into a store. Files do not have them in order of time, and the
// records of an unchanged page depend on earlier runs.
type staging struct {
	db     *sql.DB
	tx     *sql.Tx
	insert *sql.Stmt
}

// stagedLine is a staged record.
type stagedLine struct {
	at              time.Time
	crawl, kind, id string
	data            []byte
}

func newStaging(file string) (s *staging, err error) {
	s = new(staging)
	if s.db, err = sql.Open("sqlite", file); err != nil {
		return nil, err
	}
	if _, err = s.db.Exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE lines (at TEXT, crawl TEXT, kind TEXT, id TEXT, data BLOB)`); err == nil {
		s.tx, err = s.db.Begin()
	}
	if err == nil {
		s.insert, err = s.tx.Prepare(`INSERT INTO lines VALUES (?, ?, ?, ?, ?)`)
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s *staging) add(l *stagedLine) error {
	_, err := s.insert.Exec(l.at.UTC().Format("2006-01-02T15:04:05.000000000"), l.crawl, l.kind, l.id, l.data)
	return err
}

// each calls do with all records in order of time. Records with the same time keep the order in
// which they were added.
func (s *staging) each(do func(*stagedLine) error) error {
	rows, err := s.tx.Query(`SELECT crawl, kind, id, data FROM lines ORDER BY at, rowid`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var l stagedLine
		if err := rows.Scan(&l.crawl, &l.kind, &l.id, &l.data); err != nil {
			return err
		}
		if err := do(&l); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *staging) close() error { return errors.Join(s.tx.Rollback(), s.db.Close()) }
