package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"seine/internal/base/safeprint"
	"seine/internal/ops/items"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

// itemReader is a source of items: a database, or a store filled from files.
type itemReader interface {
	EachItem(c sqlsink.Choice, do func(crawl string, line []byte) error) error
	EachChange(c sqlsink.Choice, do func(crawl string, line []byte) error) error
}

// lastRun is the value of --run for the newest run.
const lastRun = "last"

// choice returns the selection that the flags describe.
func (c *catCmd) choice() (sqlsink.Choice, error) {
	choice := sqlsink.Choice{Crawl: c.Crawl, Kind: c.Kind, LastRun: c.RunOnly == lastRun}
	if c.RunOnly == "" || choice.LastRun {
		return choice, nil
	}
	run, err := strconv.ParseInt(c.RunOnly, 10, 64)
	if err != nil || run < 0 {
		return choice, usageError{fmt.Errorf("--run %q: must be the number of a run, as in seine runs --json, or last", c.RunOnly)}
	}
	choice.Run = &run
	return choice, nil
}

// eachOfItems calls take with the current items, or with their changes. It first loads files into a
// store.
func (c *catCmd) eachOfItems(take func(line []byte) error, ids ageencrypt.Identities, choice sqlsink.Choice) error {
	store, err := items.New()
	if err != nil {
		return err
	}
	defer store.Close()
	runs := make(map[int64]bool)
	wanted := &recordFilter{crawl: c.Crawl, takesBeside: true, pass: func(crawl, kind string, line []byte) error {
		if len(runs) < 2 {
			runs[runOf(line)] = true
		}
		return store.Add(crawl, kind, line)
	}}
	files := recordReader{c, ids, wanted}
	for _, p := range c.Paths {
		if writer.IsDatabase(p) {
			err = c.itemsOfDatabase(take, p, choice)
		} else {
			err = files.readPath(p)
		}
		if err != nil {
			return err
		}
	}
	if err := store.Finish(); err != nil {
		return err
	}
	err = c.eachItem(store, choice, func(crawl string, line []byte) error {
		if wanted.tookBeside && !(wanted.met.crawls[crawl] && wanted.met.kinds[messages.RecordKind(nil, line)]) {
			return nil
		}
		return take(line)
	})
	if err != nil || !slices.ContainsFunc(c.Paths, func(p string) bool { return !writer.IsDatabase(p) }) {
		return err
	}
	if len(runs) > 1 && !wanted.met.kinds[messages.KindGone] && !wanted.met.kinds[messages.KindVisit] {
		safeprint.Fprintln(os.Stderr, "seine: there are no records of removed pages: either none was removed, or the spec lacks gone: record")
	}
	return wanted.met.check(c.Crawl, c.Kind)
}

func (c *catCmd) eachItem(of itemReader, choice sqlsink.Choice, do func(crawl string, line []byte) error) error {
	if c.Changes {
		return of.EachChange(choice, do)
	}
	return of.EachItem(choice, do)
}

func (c *catCmd) itemsOfDatabase(take func(line []byte) error, place string, choice sqlsink.Choice) error {
	o, err := c.open(place)
	if err != nil {
		return err
	}
	of, ok := o.Log.(itemReader)
	if !ok {
		return errors.Join(fmt.Errorf("print %s: it has no records", writer.Redact(place)), o.Close())
	}
	err = c.eachItem(of, choice, func(_ string, line []byte) error { return take(line) })
	return errors.Join(err, o.Close())
}
