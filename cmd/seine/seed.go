package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"seine/internal/base/safeprint"
	"seine/internal/ops/lookup"
	"seine/internal/ops/seeds"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

type seedCmd struct {
	URLs []string `arg:"" optional:"" name:"url" help:"URLs; - reads them from standard input, one per line."`
	connection
	crawlName
	File       []string `help:"File with URLs, one per line, or JSON as in the stream SEEDS. Lines that begin with # are comments." type:"existingfile" placeholder:"FILE"`
	Sitemap    []string `help:"Sitemap: a URL, which the crawl fetches, or a file." placeholder:"URL|FILE"`
	FailuresOf string   `help:"URLs of this crawl whose last visit failed." placeholder:"CRAWL"`
	Class      []string `help:"With --failures-of, only failures of these classes, such as timeout, server_error, parse_error or host_given_up." placeholder:"CLASS"`
	New        bool     `help:"Create the crawl with the default spec if no crawl of this name exists."`
	Priority   *int     `help:"Priority from 0 (first) to 9 (last)." placeholder:"5"`
}

// Help is shown below the list of flags.
func (c *seedCmd) Help() string {
	return `The command counts a URL as added when NATS has stored it. A URL that the crawl already fetched is not fetched again; one that failed
or was excluded is.

  seine seed https://example.org/
  seine seed --crawl news --file urls.txt --priority 0      # an existing crawl
  seine seed --crawl more --new https://example.net/        # create a crawl with the default spec
  sort -u urls.txt | seine seed -
  seine seed --sitemap https://example.org/sitemap.xml
  seine seed --crawl news --failures-of news --class timeout      # retry these failures

Exit codes: 0 all added, 1 NATS or the frontier refused, 2 wrong usage, or some URLs are invalid (the others are added).`
}

// Run adds URLs to a crawl.
func (c *seedCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with("seed", func(ctx context.Context, bus *stages.Bus) error {
		if err := c.checkKnown(ctx, bus); err != nil {
			return err
		}
		f := newSeedPublisher(ctx, stages.NewPublisher(bus, "seed"), c.Name, c.Priority)
		err := c.read(f, bus)
		if err == nil {
			err = f.Flush()
		}
		end := cmp.Or(err, f.bad.err(), f.checkLists())
		if f.Fed > 0 || end == nil {
			next := ""
			if f.Fed > 0 {
				next = c.next(c.Name, "fetch them")
			}
			safeprint.Printf("%s added to crawl %s%s\n", were(f.Fed, "URL"), c.Name, next)
		}
		return end
	})
}

// checkKnown returns an error if no crawl has that name: it would be created with the default spec,
// and the name may be a typing error. Only the very first crawl, with the default name, may be
// created by adding URLs. A user who may not list crawls adds seeds to the named crawl without this
// check.
func (c *seedCmd) checkKnown(ctx context.Context, bus *stages.Bus) error {
	if c.New {
		c.Name = cmp.Or(c.Name, messages.DefaultCrawl)
		return nil
	}
	err := c.apart(ctx, bus, func(ctx context.Context, bus *stages.Bus) error {
		if err := c.choose(ctx, bus); err != nil {
			return err
		}
		err := lookup.Crawl(ctx, bus, c.Name)
		if none, is := lookup.IsNotFound(err); is && c.Name == messages.DefaultCrawl && len(none.Others) == 0 {
			return nil
		}
		return notFound(err, "")
	})
	c.Name = cmp.Or(c.Name, messages.DefaultCrawl)
	return withNew(err)
}

// check returns an error for invalid flags.
func (c *seedCmd) check() error {
	if err := c.crawlName.check(); err != nil {
		return err
	}
	if len(c.URLs)+len(c.File)+len(c.Sitemap) == 0 && c.FailuresOf == "" {
		return usageError{errors.New("no URL: name some, or --file FILE, --sitemap URL, --failures-of CRAWL, or - for standard input")}
	}
	if p := c.Priority; p != nil && (*p < 0 || *p > messages.MaxPriority) {
		return usageError{fmt.Errorf("--priority %d: must be from 0 to %d", *p, messages.MaxPriority)}
	}
	if len(c.Class) > 0 && c.FailuresOf == "" {
		return usageError{errors.New("--class: needs --failures-of, which names the crawl")}
	}
	for _, class := range c.Class {
		if err := frontierapi.CheckFailure(class); err != nil {
			return usageError{fmt.Errorf("--class: %w", err)}
		}
	}
	return nil
}

func (c *seedCmd) read(f *seedPublisher, bus *stages.Bus) error {
	for _, arg := range c.URLs {
		if arg != "-" {
			if err := f.Reader.Add("", arg); err != nil {
				return err
			}
			continue
		}
		if err := f.lines("standard input", os.Stdin); err != nil {
			return err
		}
	}
	for _, name := range c.File {
		in, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--file: %w", err)
		}
		if err := errors.Join(f.lines(name, in), in.Close()); err != nil {
			return err
		}
	}
	for _, from := range c.Sitemap {
		if err := f.sitemap(from); err != nil {
			return err
		}
	}
	if c.FailuresOf == "" {
		return nil
	}
	return f.failures(bus, c.FailuresOf, c.Class)
}

// failures adds the failed URLs of a crawl, of some classes or of any. They come from the frontiers
// page by page, so there may be any number.
func (f *seedPublisher) failures(bus *stages.Bus, crawl string, classes []string) error {
	if err := checkThere(f.ctx, bus, crawl); err != nil {
		return err
	}
	if len(classes) == 0 {
		classes = []string{""}
	}
	for _, class := range classes {
		err := frontierapi.Client{Bus: bus}.Failed(f.ctx, crawl, class, func(u *frontierapi.FailedURL) error {
			return f.Publisher.Add(messages.Seed{URL: u.URL})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// seedPublisher publishes the seeds that it reads, and reports invalid lines.
type seedPublisher struct {
	*seeds.Publisher
	seeds.Reader
	ctx   context.Context
	taken int // number of seeds from lists
	bad   complaints
	empty []string // lists without any line
}

func newSeedPublisher(ctx context.Context, pub *stages.Publisher, crawl string, priority *int) *seedPublisher {
	f := &seedPublisher{ctx: ctx, Publisher: seeds.NewPublisher(ctx, pub, crawl, priority)}
	f.Reader = seeds.Reader{Bad: f.bad.tell, Take: func(s messages.Seed) error {
		f.taken++
		return f.Publisher.Add(s)
	}}
	return f
}

// lines reads seeds from in.
func (f *seedPublisher) lines(name string, in io.Reader) error {
	before := f.taken + f.bad.count
	err := badFormat(f.Lines(name, in))
	if err == nil && f.taken+f.bad.count == before {
		f.empty = append(f.empty, name)
	}
	return err
}

// checkLists returns an error for empty lists.
func (f *seedPublisher) checkLists() error {
	if len(f.empty) == 0 {
		return nil
	}
	return noURLIn(f.empty...)
}

// badFormat marks an error in the input as a usage error.
func badFormat(err error) error {
	if _, is := errors.AsType[*seeds.FormatError](err); is {
		return usageError{err}
	}
	return err
}
