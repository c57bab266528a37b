package state

import (
	"maps"

	"seine/internal/frontier/table"
)

// tx holds the changes of one turn and the records it has read. It is committed as one batch, so a
// turn happens completely or not at all.
type tx struct {
	*table.Turn
	records map[urlID]*urlRecord // read or changed in this turn
	changed map[urlID]*urlRecord // to be written at the end of the turn
	gone    map[string]bool      // crawls removed in this turn: the store shows them until its end
}

func newTx(s *Store, partition int) *tx {
	return &tx{Turn: table.NewTurn(s.db, partition), records: make(map[urlID]*urlRecord), changed: make(map[urlID]*urlRecord), gone: make(map[string]bool)}
}

// load reads the record of a URL, nil if there is none. The same record is returned for the rest of the turn.
func (t *tx) load(id urlID) (*urlRecord, error) {
	if r, ok := t.records[id]; ok || t.gone[id.crawl] {
		return r, nil
	}
	r, found, err := urlTable.Load(t.Turn, id)
	if err != nil || !found {
		return nil, err
	}
	t.records[id] = r
	return r, nil
}

// save notes that the record must be written at the end of the turn.
func (t *tx) save(id urlID, r *urlRecord) {
	t.records[id], t.changed[id] = r, r
}

// forget drops the records of a removed crawl and their changes.
func (t *tx) forget(crawl string) {
	of := func(id urlID, _ *urlRecord) bool { return id.crawl == crawl }
	maps.DeleteFunc(t.records, of)
	maps.DeleteFunc(t.changed, of)
	t.gone[crawl] = true
}

// commit writes the turn and makes the tx ready for the next.
func (t *tx) commit() error {
	if err := t.Commit(); err != nil {
		return err
	}
	clear(t.records)
	clear(t.changed)
	clear(t.gone)
	return nil
}
