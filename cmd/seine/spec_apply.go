package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"seine/internal/base/safeprint"
	"seine/internal/ops/overview"
	"seine/internal/run/specchange"
	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// specOfFile is a spec in a file for a crawl.
type specOfFile struct {
	File string `arg:"" help:"Spec (YAML); - reads standard input."`
	connection
	crawlName
	New bool `help:"Create the crawl if no crawl of this name exists."`
}

// specChange holds the current spec of a crawl, and that of a file.
type specChange struct {
	specs *stages.Specs
	have  crawlspec.Revision
	spec  *crawlspec.Spec
	text  []byte // of the file
}

// compare calls do with both specs.
func (c *specOfFile) compare(do func(ctx context.Context, change specChange) error) error {
	var text bytes.Buffer
	spec, err := readSpec(c.File, &text)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return usageError{err}
	}
	return c.with("spec", func(ctx context.Context, bus *stages.Bus) error {
		if err := c.choose(ctx, bus); err != nil {
			return err
		}
		specs, have, err := specOf(ctx, bus, c.Name)
		if err == nil && have.Rev == 0 && !c.New && c.Name != messages.DefaultCrawl {
			err = c.checkBeside(ctx, bus, c.Name)
		}
		if err != nil {
			return err
		}
		return do(ctx, specChange{specs, have, spec, text.Bytes()})
	})
}

type specApplyCmd struct{ specOfFile }

// Help is shown below the list of flags.
func (c *specApplyCmd) Help() string {
	return `All stages receive the spec within seconds, and the frontier re-evaluates queued URLs. If the spec differs from the crawl's current
one, the command prints the differences: - old, + new.

  seine spec diff news.yaml --crawl news
  seine spec apply news.yaml --crawl news
  seine spec apply shop.yaml --crawl shop --new       # create another crawl`
}

// Run stores the spec.
func (c *specApplyCmd) Run() error {
	c.Name = cmp.Or(c.Name, messages.DefaultCrawl)
	return c.compare(func(ctx context.Context, change specChange) error {
		if err := change.checkKept(c.File, c.Name); err != nil {
			return usageError{err}
		}
		rev, err := change.specs.History.Replace(ctx, c.Name, change.spec, change.have)
		if err != nil {
			return err
		}
		if rev == change.have.Rev {
			safeprint.Printf("crawl %s has it already (revision %d)\n", c.Name, rev)
			return nil
		}
		safeprint.Printf("stored as revision %d of crawl %s\n", rev, c.Name)
		if change.have.Rev > 0 {
			change.print("  ")
		}
		warnOfIneffective(os.Stdout, change.spec)
		return nil
	})
}

// checkKept rejects a file that would silently remove a setting that a crawl needs.
func (c *specChange) checkKept(file, crawl string) error {
	if lost := specchange.Unmentioned(&c.have, c.spec, c.text); len(lost) > 0 {
		return fmt.Errorf("%s lacks keys that crawl %s has: %s: add them to keep them (seine spec get prints all), or KEY: null to remove one", file, crawl, strings.Join(lost, ", "))
	}
	return nil
}

// print prints the differences, one per line, and returns their number.
func (c *specChange) print(indent string) int {
	lines := specchange.Lines(c.have.Spec, c.spec)
	for _, line := range lines {
		safeprint.Println(indent + line)
	}
	return len(lines)
}

// specOf returns the spec of a crawl, or the default at revision 0 if it has none.
func specOf(ctx context.Context, bus *stages.Bus, crawl string) (*stages.Specs, crawlspec.Revision, error) {
	specs, err := stages.OpenSpecs(ctx, bus)
	if err != nil {
		return nil, crawlspec.Revision{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	have, err := specs.Get(ctx, crawl, 0)
	return specs, have, err
}

type specGetCmd struct {
	connection
	crawlName

	JSON bool `name:"json" help:"Print JSON instead of YAML."`
}

// Help is shown below the list of flags.
func (c *specGetCmd) Help() string {
	return `To change a spec, print it to a file, edit the file and apply it.

  seine spec get --crawl news > news.yaml
  seine spec apply news.yaml --crawl news`
}

// Run prints the spec.
func (c *specGetCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with("spec", func(ctx context.Context, bus *stages.Bus) error {
		if err := c.choose(ctx, bus); err != nil {
			return err
		}
		_, have, err := specOf(ctx, bus, c.Name)
		if err == nil && have.Rev == 0 {
			err = checkThere(ctx, bus, c.Name)
		}
		if err != nil {
			return err
		}
		if have.Unusable != "" {
			safeprint.Fprintln(os.Stderr, "seine: spec of crawl "+c.Name+":", crawlspec.UnusableText(have.Unusable, have.Stalled))
		}
		if have.Stalled {
			return endError(exitUsage)
		}
		text, err := c.text(have.Spec)
		if err != nil {
			return err
		}
		_, err = dataOut().Write(text)
		return err
	})
}

func (c *specGetCmd) text(spec *crawlspec.Spec) ([]byte, error) {
	if !c.JSON {
		return specfile.Text(spec)
	}
	var text bytes.Buffer
	err := json.Indent(&text, spec.Encode(), "", "  ")
	text.WriteByte('\n')
	return text.Bytes(), err
}

type specListCmd struct{ connection }

// Help is shown below the list of flags.
func (c *specListCmd) Help() string { return "Examples:\n\n  seine spec list" }

// Run lists the crawls.
func (c *specListCmd) Run() error {
	return c.with("spec", func(ctx context.Context, bus *stages.Bus) error {
		names, err := overview.Names(ctx, bus)
		if err != nil {
			return err
		}
		asking, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		crawls, err := overview.Crawls(asking, bus, names...)
		if err != nil {
			return err
		}
		t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		safeprint.Fprintf(t, "CRAWL\tREVISION\tSTATE\tSCOPE\tDELAY\tRULES\n")
		for i := range crawls {
			crawl := &crawls[i]
			if crawl.Spec == nil {
				return fmt.Errorf("crawl %s: %s", crawl.Name, crawl.Problem)
			}
			crawl.Idle = c.stored != ""
			state := crawl.StateInWords().Word
			if crawl.Problem != "" { // no frontier answers
				state = string(crawl.State)
			}
			safeprint.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%d\n", crawl.Name, crawl.Rev, state, crawl.Spec.Scope, crawl.Spec.Delay, len(crawl.Spec.Records))
		}
		return t.Flush()
	})
}

type specDiffCmd struct{ specOfFile }

// Help is shown below the list of flags.
func (c *specDiffCmd) Help() string {
	return `Prints - for lines of the crawl's current spec and + for lines of the file.

  seine spec diff news.yaml --crawl news

Exit codes: 0 no differences; 1 differences, or a failure, which standard error reports; 2 invalid spec.`
}

// Run prints the differences.
func (c *specDiffCmd) Run() error {
	return c.compare(func(_ context.Context, change specChange) error {
		if change.print("") > 0 {
			return endError(exitFailed)
		}
		return nil
	})
}
