package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/ops/deadletters"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

type deadCmd struct {
	List    deadListCmd    `cmd:"" help:"List dead letters and their reasons."`
	Show    deadShowCmd    `cmd:"" help:"Show a dead letter with its headers and payload."`
	Redrive deadRedriveCmd `cmd:"" help:"Send dead letters to their stage again."`
	Drop    deadDropCmd    `cmd:"" help:"Remove dead letters."`
}

// deadFilter selects dead letters.
type deadFilter struct {
	Stage  string        `help:"Only dead letters of this stage: frontier, fetcher, renderer, parser or writer." enum:",frontier,fetcher,renderer,parser,writer" default:"" placeholder:"NAME"`
	Crawl  string        `help:"Only messages of this crawl." placeholder:"NAME"`
	Reason string        `help:"Only dead letters with this text in their reason." placeholder:"TEXT"`
	Host   string        `help:"Only dead letters of URLs on this host." placeholder:"HOST"`
	Since  time.Duration `help:"Only dead letters of the last period, such as 2h." placeholder:"TIME"`
}

func (f *deadFilter) filter() deadletters.Filter {
	d := deadletters.Filter{Stage: f.Stage, Crawl: f.Crawl, Reason: f.Reason, Host: f.Host}
	if f.Since > 0 {
		d.Since = time.Now().Add(-f.Since)
	}
	return d
}

func (f *deadFilter) check() error {
	if f.Since < 0 {
		return usageError{fmt.Errorf("--since %s: must not be negative: 2h means two hours ago", f.Since)}
	}
	return nil
}

// checkChosen returns err, or an error if the flags select no dead letter and name a crawl that
// does not exist, which may be a typing error. A deleted crawl may have left some.
func (f *deadFilter) checkChosen(ctx context.Context, bus *stages.Bus, n int, err error) error {
	if err == nil && n == 0 {
		return checkThere(ctx, bus, f.Crawl)
	}
	return err
}

type deadListCmd struct {
	connection
	deadFilter
	Limit int  `help:"List the newest N; 0 lists all." default:"100"`
	JSON  bool `name:"json" help:"Print one JSON object per line."`
}

// Help is shown below the list of flags.
func (c *deadListCmd) Help() string {
	return `Examples:

  seine dead list --stage parser --since 1h
  seine dead list --json | jq -r .reason | sort | uniq -c | sort -rn`
}

// Run lists dead letters, the oldest first.
func (c *deadListCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit %d: must not be negative; 0 lists all", c.Limit)}
	}
	return c.with("dead", func(ctx context.Context, bus *stages.Bus) error {
		letters, err := deadletters.Last(ctx, bus, c.filter(), c.Limit)
		if err = c.checkChosen(ctx, bus, len(letters), err); err != nil {
			return err
		}
		if c.JSON {
			return printLines(letters)
		}
		t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		safeprint.Fprintf(t, "SEQ\tTIME\tSTAGE\tCRAWL\tREDRIVEN\tURL\tREASON\n")
		for _, l := range letters {
			safeprint.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%s\t%s\n", l.Seq, l.Time.Local().Format(time.DateTime), l.Stage, l.Crawl, l.Redriven, short(l.URL), messages.Clip(l.Reason))
		}
		return t.Flush()
	})
}

// short shortens a URL for a table.
func short(url string) string {
	const most = 80
	if len(url) > most {
		return url[:most-3] + "..."
	}
	return url
}

type deadShowCmd struct {
	Seq uint64 `arg:"" help:"Sequence number in the stream DEAD, as printed by seine dead list."`
	connection
}

// Help is shown below the list of flags.
func (c *deadShowCmd) Help() string { return "Examples:\n\n  seine dead show 17" }

// Run shows one dead letter.
func (c *deadShowCmd) Run() error {
	return c.with("dead", func(ctx context.Context, bus *stages.Bus) error {
		l, err := deadletters.Get(ctx, bus, c.Seq)
		if err != nil {
			return err
		}
		row := func(name, value string) {
			if value != "" && value != "0" {
				safeprint.Printf("%-10s %s\n", name, value)
			}
		}
		row("stage", l.Stage)
		row("crawl", l.Crawl)
		row("reason", l.Reason)
		row("url", l.URL)
		row("time", l.Time.Local().Format(time.DateTime))
		row("from", fmt.Sprintf("%s %d (%s)", l.Stream, l.Sequence, l.Subject))
		row("tries", fmt.Sprint(l.Tries))
		row("redriven", fmt.Sprint(l.Redriven))
		for name, values := range l.Message.Header {
			if !strings.HasPrefix(name, "Seine-Dead-") {
				row("header", name+": "+strings.Join(values, ", "))
			}
		}
		if len(l.Message.Data) > 0 {
			safeprint.Printf("\n%s\n", safeprint.Trusted(safeprint.Lines(string(l.Message.Data))))
		}
		return err
	})
}

// deadChoice selects the dead letters for a command: by sequence numbers or by a filter.
type deadChoice struct {
	Seqs []uint64 `arg:"" optional:"" name:"seq" help:"Sequence numbers in the stream DEAD, as printed by seine dead list."`
	connection
	deadFilter
	All bool `help:"All dead letters that the other flags select."`
}

func (c *deadChoice) each(ctx context.Context, bus *stages.Bus, do func(*deadletters.DeadLetter) error) error {
	if c.All {
		n := 0
		err := deadletters.Each(ctx, bus, c.filter(), func(l *deadletters.DeadLetter) error {
			n++
			return do(l)
		})
		return c.checkChosen(ctx, bus, n, err)
	}
	chosen, err := c.named(ctx, bus)
	if err != nil {
		return err
	}
	for _, l := range chosen {
		if err := do(l); err != nil {
			return err
		}
	}
	return nil
}

// named returns the dead letters with the given sequence numbers. The flags must select all of
// them.
func (c *deadChoice) named(ctx context.Context, bus *stages.Bus) (all []*deadletters.DeadLetter, err error) {
	filter := c.filter()
	for _, seq := range c.Seqs {
		l, err := deadletters.Get(ctx, bus, seq)
		if err != nil {
			return nil, err
		}
		if !filter.Chooses(l) {
			return nil, usageError{fmt.Errorf("the flags do not select dead letter %d (%s, crawl %s): omit the number or the flags; nothing was done", seq, l.Stage, l.Crawl)}
		}
		all = append(all, l)
	}
	return all, nil
}

func (c *deadChoice) check() error {
	if c.All == (len(c.Seqs) > 0) {
		return usageError{errors.New("name sequence numbers, or --all with flags that select (seine dead list shows what they select)")}
	}
	return c.deadFilter.check()
}

type deadRedriveCmd struct {
	deadChoice
}

// Help is shown below the list of flags.
func (c *deadRedriveCmd) Help() string {
	return `Fix the cause first. A message that fails again returns to DEAD with its number of redrives.

  seine dead redrive 17 18
  seine dead redrive --all --stage parser --reason "no such filter"`
}

// Run redrives messages to their stages.
func (c *deadRedriveCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with("dead", func(ctx context.Context, bus *stages.Bus) error {
		r := deadletters.Redriver{Bus: bus}
		err := c.each(ctx, bus, func(l *deadletters.DeadLetter) error {
			if err := r.RedriveOrSkip(ctx, l); err != nil {
				return fmt.Errorf("redrive %d: %w", l.Seq, err)
			}
			return nil
		})
		safeprint.Printf("%s back in the stream\n", are(r.Sent, "message"))
		return errors.Join(err, r.Skipped())
	})
}

type deadDropCmd struct {
	deadChoice
	confirmation
}

// Help is shown below the list of flags.
func (c *deadDropCmd) Help() string {
	return `Removed dead letters cannot be restored. With --all, the command asks for confirmation.

  seine dead drop 17
  seine dead drop --all --reason "record has a line break"
  seine dead drop --all --crawl test --yes`
}

// Run removes dead letters.
func (c *deadDropCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with("dead", func(ctx context.Context, bus *stages.Bus) error {
		n, err := c.drop(ctx, bus)
		if n > 0 || err == nil {
			safeprint.Printf("%s removed\n", were(n, "dead letter"))
		}
		return err
	})
}

func (c *deadDropCmd) drop(ctx context.Context, bus *stages.Bus) (n int, err error) {
	if c.All {
		if err := c.confirmAll(ctx, bus); err != nil {
			return 0, err
		}
		n, err = deadletters.DropAll(ctx, bus, c.filter())
		return n, c.checkChosen(ctx, bus, n, err)
	}
	err = c.each(ctx, bus, func(l *deadletters.DeadLetter) error {
		n++
		return deadletters.Drop(ctx, bus, l.Seq)
	})
	return n, err
}

// confirmAll asks for confirmation unless there is no dead letter to remove.
func (c *deadDropCmd) confirmAll(ctx context.Context, bus *stages.Bus) error {
	counts, err := deadletters.Count(ctx, bus, deadletters.Filter{Stage: c.Stage, Crawl: c.Crawl})
	if err != nil || counts.Total == 0 {
		return err
	}
	text := humanize.Plural(counts.Total, "dead letter")
	if c.Reason != "" || c.Host != "" || c.Since > 0 {
		text = "Those of " + text + " that the other flags select"
	}
	return c.confirm(ctx, func() (string, error) { return text + " will be removed permanently.", nil }, "Type yes to remove them", "yes")
}
