package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/base/sleep"
	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
	"seine/internal/run/crawl"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

type statusCmd struct {
	connection
	Crawl string        `help:"Show only this crawl, its hosts and its dead letters." placeholder:"NAME"`
	JSON  bool          `name:"json" help:"Print one JSON object per update."`
	Watch bool          `short:"w" help:"Update the output until interrupted."`
	Every time.Duration `help:"Interval between updates, over which rates are measured." default:"1s"`
}

// Help is shown below the list of flags.
func (c *statusCmd) Help() string {
	return `Examples:

  seine status
  seine status --watch --crawl news
  seine status --json | jq '.crawls[] | {name, queued, rate}'

Rates are measured over --every, so the first output takes that long. The column DEAD counts dead letters (seine dead list).
seine top shows the same figures in a full-screen view.`
}

// Run shows the status of the stages, the streams and the crawls.
func (c *statusCmd) Run() error {
	if err := checkEvery(c.Every); err != nil {
		return err
	}
	with := c.readOnly
	if c.Watch {
		with = c.withRunning
	}
	return with("status", func(ctx context.Context, bus *stages.Bus) error {
		if err := checkThere(ctx, bus, c.Crawl); err != nil {
			return err
		}
		reader := overview.Reader{Bus: bus, Crawl: c.Crawl, Alerts: true, Hosts: statusHosts}
		before, err := readOverview(ctx, &reader)
		if err != nil {
			return err
		}
		for told := false; sleep.For(ctx, c.Every) == nil; {
			now, err := readOverview(ctx, &reader)
			switch {
			case err == nil:
				now.ComputeRates(before)
				if c.stored != "" {
					now.Warnings, now.Stages = nil, now.Stages[:0] // no process runs
					now.Alerts = nil                               // nothing checks whether they still hold
					for i := range now.Crawls {
						now.Crawls[i].Idle = true
					}
				}
				c.show(now)
				if !c.Watch {
					return nil
				}
				before, told = now, false
			case !c.Watch:
				return err
			case !told && ctx.Err() == nil:
				told = true
				safeprint.Fprintf(os.Stderr, "no answer since %s, trying on: %v\n", before.At.Format(time.TimeOnly), lost(bus, err))
			}
		}
		return nil
	})
}

// lost replaces an error by the loss of the connection, if that is its cause.
func lost(bus *stages.Bus, err error) error {
	if !bus.NC.IsConnected() {
		return errors.New("lost the connection to NATS")
	}
	return err
}

// statusHosts is the number of hosts of each kind in JSON.
const statusHosts = 10

// checkEvery returns an error if the interval between updates is too short.
func checkEvery(every time.Duration) error {
	if every < 100*time.Millisecond {
		return usageError{fmt.Errorf("--every %s: must be at least 100ms", every)}
	}
	return nil
}

func readOverview(ctx context.Context, r *overview.Reader) (*overview.Overview, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return r.Read(ctx)
}

func (c *statusCmd) show(o *overview.Overview) {
	if c.JSON {
		_ = printJSON(o)
		return
	}
	if c.Watch && isTerminal(os.Stdout) {
		safeprint.Fprintf(os.Stdout, "\x1b[H\x1b[J")
	}
	printOverview(os.Stdout, o)
}

// printStages prints the stages, if any run.
func printStages(w io.Writer, all []overview.Stage) {
	if len(all) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	safeprint.Fprintf(t, "STAGE\tPROCESSES\tMESSAGES/S\tWAITING\tHELD\tREDELIVERED\tDEAD\t\n")
	for _, s := range all {
		safeprint.Fprintf(t, "%s\t%d\t%.0f\t%s\t%s\t%s\t%s\t\n",
			s.Name, s.Instances, s.Rate, count(s.Lag), count(s.InFlight), count(s.Redelivered), count(s.Dead))
	}
	_ = t.Flush()
	safeprint.Fprintln(w)
}

// printOverview prints an overview in 80 columns.
func printOverview(w io.Writer, o *overview.Overview) {
	printStages(w, o.Stages)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	safeprint.Fprintf(t, "STREAM\tMESSAGES\tBYTES\tFULL\tMESSAGES/S\t\n")
	for i := range o.Streams {
		s := &o.Streams[i]
		full := "-"
		if s.Limit > 0 {
			full = fmt.Sprintf("%.0f%%", 100*s.Full())
		}
		safeprint.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t\n", s.Name, count(s.Messages), humanize.Size(int64(s.Bytes)), full, s.Rate)
	}
	_ = t.Flush()
	printOutputs(w, o.Outputs)
	for i := range o.Crawls {
		printCrawl(w, &o.Crawls[i])
	}
	if o.Hosts != nil && len(o.Hosts.Hosts) > 0 {
		safeprint.Fprintln(w)
		printHosts(w, o.Hosts)
	}
	printWarnings(w, o.Warnings)
	printAlerts(w, o.Alerts)
	if o.Dead > 0 {
		safeprint.Fprintf(w, "\n%s: see `seine dead list`\n", humanize.Plural(o.Dead, "dead letter"))
	}
}

// printOutputs prints the outputs of the writers.
func printOutputs(w io.Writer, all []overview.Output) {
	if len(all) > 0 {
		safeprint.Fprintln(w)
	}
	for _, o := range all {
		safeprint.Fprintf(w, "writer %s: %s in %s\n", o.Writer, cmp.Or(o.Format, "rows"), o.Out)
	}
}

// printWarnings prints the problems that block every crawl.
func printWarnings(w io.Writer, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	safeprint.Fprintln(w)
	for _, text := range warnings {
		safeprint.Fprintf(w, "WARNING %s\n", text)
	}
	safeprint.Fprintln(w, "`seine doctor` says what to do")
}

// printAlerts prints the current alerts.
func printAlerts(w io.Writer, raised []alerts.Alert) {
	if len(raised) > 0 {
		safeprint.Fprintln(w)
	}
	for i := range raised {
		a := &raised[i]
		safeprint.Fprintf(w, "ALERT crawl %s, %s, for %s: %s\n", a.Crawl, a.Kind, time.Since(a.Since).Round(time.Second), a.Text)
	}
}

func printCrawl(w io.Writer, c *overview.Crawl) {
	state := c.StateInWords()
	safeprint.Fprintf(w, "\ncrawl %s: %s\n", c.Name, state.Word)
	if state.Why != "" {
		row(w, "why", state.Why)
	}
	if c.Problem != "" {
		return
	}
	if c.Unusable != "" {
		row(w, "spec", crawlspec.UnusableText(c.Unusable, c.Stalled))
	}
	row(w, "pages", fmt.Sprintf("%s, %.1f/s, %s", humanize.Count(c.Pages), c.Rate, humanize.Size(c.BytesBody)))
	row(w, "URLs", fmt.Sprintf("%s known: %s done, %s failed, %s queued, %s waiting for a retry, %s in flight, %s being parsed",
		humanize.Count(c.Known()), humanize.Count(c.Done), humanize.Count(c.Failed), humanize.Count(c.Queued),
		humanize.Count(c.Waiting), humanize.Count(c.InFlight), humanize.Count(c.Parsing)))
	if len(c.FailedBy) > 0 {
		row(w, "failed", humanize.ByCount(c.FailedBy))
	}
	if len(c.Excluded) > 0 {
		row(w, "excluded", humanize.ByCount(c.Excluded))
	}
	if len(c.LeftOut) > 0 {
		row(w, "left out", humanize.ByCount(c.LeftOut))
	}
	if len(c.Attempts) > 0 {
		row(w, "requests", humanize.ByCount(c.Attempts))
	}
	if c.FailedLogins > 0 {
		row(w, "logins", humanize.Count(c.FailedLogins)+" failed: check render.login of the spec and its secrets")
	}
	if f := c.LastFailure; f != nil {
		row(w, "retrying", f.URL+" after "+f.Text())
	}
	if n := c.Next; n != nil && c.Pending() > 0 {
		row(w, "waits", fmt.Sprintf("for %s: %s, %s", n.Host, n.Why, in(n.NextMS)))
	}
	if !c.NextRun.IsZero() {
		row(w, "next run", c.NextRun.Local().Format(time.DateTime+" MST")+", by the schedule of its spec")
	}
	if !c.DeletedAt.IsZero() {
		row(w, "deleted", keptUntil(c.DeletedAt))
	}
	if !c.ETA.IsZero() {
		row(w, "done in", fmt.Sprintf("%s, if nothing more is found", time.Until(c.ETA).Round(time.Second)))
	}
}

// keptUntil describes when a crawl that has ended is deleted.
func keptUntil(at time.Time) string {
	return fmt.Sprintf("at %s, unless it gets new URLs or another spec before then (keep)", at.Local().Format(time.DateTime))
}

// printHosts prints what hosts with work wait for, and which ones are the bottleneck.
func printHosts(w io.Writer, s *frontierapi.Survey) {
	about := humanize.ByCount(s.Hosts)
	if s.Partial {
		about += " (not all were looked at)"
	}
	row(w, "hosts", about)
	if len(s.Longest) > 0 && s.Longest[0].Queued > 0 {
		h := &s.Longest[0]
		row(w, "longest", fmt.Sprintf("queue: %s, %s, one in %s", h.Host, humanize.Plural(h.Queued, "URL"),
			milliseconds(h.DelayMS+h.MeanMS)))
	}
	if len(s.Slowest) > 0 && s.Slowest[0].MeanMS >= crawl.SlowMS {
		h := &s.Slowest[0]
		row(w, "slowest", fmt.Sprintf("%s, %d ms a request", h.Host, h.MeanMS))
	}
}

func row(w io.Writer, name, text string) { safeprint.Row(w, 9, name, text) }

// in describes the time until a moment, Unix ms.
func in(ms int64) string {
	if d := time.Until(time.UnixMilli(ms)).Round(100 * time.Millisecond); d > 0 {
		return "for another " + d.String()
	}
	return "due now"
}

func count(n uint64) string { return humanize.Count(int64(n)) }
