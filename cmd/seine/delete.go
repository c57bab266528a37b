package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/base/sleep"
	"seine/internal/base/suggest"
	"seine/internal/ops/overview"
	"seine/internal/streams/retention"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/writer"
)

type deleteCmd struct {
	Arg string `arg:"" optional:"" name:"name" help:"Name of the crawl, instead of --crawl." placeholder:"CRAWL" env:"-"`
	connection
	Name string `name:"crawl" help:"Name of the crawl." env:"-" placeholder:"NAME"`
	confirmation
	Wait time.Duration `help:"Maximum wait for the deletion to complete. The deletion continues after the wait ends." default:"10m" placeholder:"TIME"`
}

// Help is shown below the list of flags.
func (c *deleteCmd) Help() string {
	return `Cancels the crawl and deletes its spec, URLs, counters, alerts and consumed messages. In-flight requests are dropped. Output files
stay, and the writers still write existing records. A deletion cannot be undone. URLs added under the same name later start a new crawl.

  seine delete --crawl news
  seine delete --crawl news --yes --data ./news-data      # running or not`
}

// Run deletes the crawl.
func (c *deleteCmd) Run() error {
	switch {
	case c.Name != "" && c.Arg != "" && c.Name != c.Arg:
		return usageError{fmt.Errorf("delete %s --crawl %s: one crawl at a time", c.Arg, c.Name)}
	case c.Name == "" && c.Arg == "":
		return c.with("delete", refuseNameless)
	}
	c.Name = cmp.Or(c.Name, c.Arg)
	if err := messages.CheckCrawl(c.Name); err != nil {
		return usageError{err}
	}
	if c.Wait < 0 {
		return usageError{errors.New("--wait: must not be negative")}
	}
	return c.with("delete", c.delete)
}

// refuseNameless returns an error that lists the crawls.
func refuseNameless(ctx context.Context, bus *stages.Bus) error {
	names, err := overview.Names(ctx, bus)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return usageError{errors.New("there is no crawl")}
	}
	return usageError{fmt.Errorf("name the crawl: seine delete --crawl NAME; %s", listed("", names))}
}

func (c *deleteCmd) delete(ctx context.Context, bus *stages.Bus) error {
	client := frontierapi.Client{Bus: bus}
	rev, err := c.begun(ctx, bus)
	if err != nil {
		return err
	}
	if rev == 0 {
		warning := func() (string, error) { return c.warning(ctx, client, c.where(bus)) }
		if err := c.confirm(ctx, warning, "Type the name of the crawl to delete it", c.Name); err != nil {
			return err
		}
		if rev, err = client.Delete(ctx, c.Name); err != nil {
			return err
		}
	}
	return c.follow(ctx, bus, client, rev)
}

// begun returns the revision of an unfinished deletion of the crawl, 0 if there is none, or an
// error if there is no such crawl.
func (c *deleteCmd) begun(ctx context.Context, bus *stages.Bus) (uint64, error) {
	names, err := overview.Names(ctx, bus)
	if err != nil {
		return 0, err
	}
	if slices.Contains(names, c.Name) {
		return 0, nil
	}
	d, err := deletionOf(ctx, bus, c.Name)
	if err != nil {
		return 0, err
	}
	if d != nil && !d.Done {
		return d.Rev, nil
	}
	msg := "no crawl " + c.Name
	if near := suggest.Name(c.Name, names); near != "" {
		msg += fmt.Sprintf("; did you mean %s?", near)
	} else {
		msg += " (seine spec list lists all)"
	}
	return 0, usageError{errors.New(msg)}
}

// deletionOf returns the last deletion of a crawl, nil if there is none.
func deletionOf(ctx context.Context, bus *stages.Bus, crawl string) (*messages.Deletion, error) {
	_, have, err := specOf(ctx, bus, crawl)
	return have.Deletion, err
}

// warning describes what a deletion of the crawl would delete.
func (c *deleteCmd) warning(ctx context.Context, client frontierapi.Client, where string) (string, error) {
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	standing, err := client.Status(asking, c.Name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Crawl %s %s has %s, %s of them still to do, and fetched %s. Its output files stay; all other data is deleted permanently.",
		c.Name, where, humanize.Plural(standing.Known(), "URL"), humanize.Count(standing.Pending()), humanize.Plural(standing.Pages, "page")), nil
}

// followEvery is how often the command checks the progress of a deletion.
const followEvery = 250 * time.Millisecond

// follow waits until the deletion is complete, and prints progress.
func (c *deleteCmd) follow(ctx context.Context, bus *stages.Bus, client frontierapi.Client, rev uint64) error {
	line := newStatusLine(os.Stderr, false)
	defer line.done()
	waiting, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	for {
		at := c.progress(waiting, bus, client, rev)
		if at.done {
			line.done()
			safeprint.Printf("crawl %s is deleted (revision %d); its output files are untouched\n", c.Name, rev)
			return c.recordDeletion()
		}
		line.update(func() string { return "" }, func() string { return "deleting " + c.Name + ": " + at.text })
		if at.needsCrawl && c.stored != "" {
			line.done()
			safeprint.Printf("crawl %s is deleted (revision %d); its output files are untouched. The streams keep the records that may not be written yet, until seine crawl --data %s runs again\n",
				c.Name, rev, c.stored)
			return c.recordDeletion()
		}
		if sleep.For(waiting, followEvery) != nil {
			line.done()
			safeprint.Printf("crawl %s is being deleted (revision %d): %s. The deletion continues in the background; seine delete --crawl %s shows its progress\n",
				c.Name, rev, at.text, c.Name)
			return nil
		}
	}
}

// recordDeletion records in the outputs of a crawl in --data that its files may be deleted.
func (c *deleteCmd) recordDeletion() error {
	var made crawlCmd
	if made.Data = c.Stored(); made.Data == "" {
		return nil // the output of a cluster is unknown here
	}
	if err := made.recall(nil); err != nil {
		return err
	}
	for _, out := range []string{made.Out, made.WARC, made.LogRequests} {
		if out == "" || writer.IsDatabase(out) {
			continue
		}
		names, err := writer.OutputWriters(out, made.S3)
		for _, name := range names {
			place := outputFlags{Writer: name, S3: made.S3}
			o, opening := place.open(out)
			if err = errors.Join(err, opening); opening == nil {
				err = errors.Join(err, o.RecordDeletions([]string{c.Name}), o.Close())
			}
		}
		if err != nil {
			safeprint.Fprintf(os.Stderr, "seine: cannot record the deletion in %s, so seine verify needs --deleted %s: %v\n", writer.Redact(out), c.Name, err)
		}
	}
	return nil
}

// deletionProgress is the progress of a deletion.
type deletionProgress struct {
	text string // description of the progress and what it waits for
	done bool
	// needsCrawl says that only writers must read the remaining messages.
	needsCrawl bool
}

// progress checks the progress of the deletion with a revision.
func (c *deleteCmd) progress(ctx context.Context, bus *stages.Bus, client frontierapi.Client, rev uint64) (at deletionProgress) {
	total := bus.Layout.Partitions
	left, err := client.Remaining(ctx, c.Name, rev)
	switch {
	case err != nil && !bus.NC.IsConnected():
		at.text = "lost the connection to NATS"
		return at
	case err != nil:
		at.text = fmt.Sprintf("waiting for a frontier, which deletes the URLs: %v", err)
		return at
	case left > 0:
		at.text = fmt.Sprintf("the frontier has deleted its URLs from %d of %s", total-left, humanize.Plural(total, "partition"))
		return at
	}
	at.text = "its URLs are deleted"
	d, err := deletionOf(ctx, bus, c.Name)
	if err != nil {
		return at
	}
	if at.done = d == nil || d.Done || d.Rev != rev; at.done {
		return at
	}
	streams, err := retention.DeletionLeft(ctx, bus, c.Name, d)
	if err != nil || len(streams) == 0 {
		return at
	}
	var waits []string
	at.needsCrawl = true
	for _, s := range streams {
		waits = append(waits, s.String())
		at.needsCrawl = at.needsCrawl && slices.ContainsFunc(s.Readers, func(r string) bool { return strings.HasPrefix(r, messages.ConsumerWriter) })
	}
	at.text += "; " + strings.Join(waits, "; ")
	return at
}
