package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"seine/internal/ops/items"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

// itemReader is what has items: a database, or a store of what files have.
type itemReader interface {
	EachItem(c sqlsink.Choice, do func(crawl string, line []byte) error) error
	EachChange(c sqlsink.Choice, do func(crawl string, line []byte) error) error
}

// lastRun stands for the newest run.
const lastRun = "last"

// choice returns the selection of records by the flags.
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

// printItems prints the items that are there, or what changed of them. Files are put into a store first.
func (c *catCmd) printItems(to io.Writer, ids ageencrypt.Identities, choice sqlsink.Choice) error {
	store, err := items.New()
	if err != nil {
		return err
	}
	defer store.Close()
	wanted := &recordFilter{crawl: c.Crawl, takesBeside: true, pass: store.Add}
	for _, p := range c.Paths {
		if writer.IsDatabase(p) {
			err = c.itemsOfDatabase(to, p, choice)
		} else {
			err = c.print(wanted, p, ids)
		}
		if err != nil {
			return err
		}
	}
	if err := store.Finish(); err != nil {
		return err
	}
	lines := newLineWriter(to)
	err = c.eachItem(store, choice, func(crawl string, line []byte) error {
		if wanted.tookBeside && !(wanted.met.crawls[crawl] && wanted.met.kinds[messages.RecordKind(nil, line)]) {
			return nil
		}
		return lines.write(line)
	})
	if err := errors.Join(err, lines.Flush()); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Paths, func(p string) bool { return !writer.IsDatabase(p) }) {
		return nil
	}
	return wanted.met.check(c.Crawl, c.Kind)
}

func (c *catCmd) eachItem(of itemReader, choice sqlsink.Choice, do func(crawl string, line []byte) error) error {
	if c.Changes {
		return of.EachChange(choice, do)
	}
	return of.EachItem(choice, do)
}

func (c *catCmd) itemsOfDatabase(to io.Writer, place string, choice sqlsink.Choice) error {
	o, err := c.open(place)
	if err != nil {
		return err
	}
	of, ok := o.Log.(itemReader)
	if !ok {
		return errors.Join(fmt.Errorf("print %s: it has no records", writer.Redact(place)), o.Close())
	}
	lines := newLineWriter(to)
	err = c.eachItem(of, choice, func(_ string, line []byte) error { return lines.write(line) })
	return errors.Join(err, lines.Flush(), o.Close())
}
