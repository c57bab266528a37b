// Package doctor finds faults of a cluster and describes how to fix them.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/ops/leases"
	"seine/internal/ops/overview"
	"seine/internal/ops/procstats"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Level is the severity of a finding.
type Level string

// Levels of findings.
const (
	OK   Level = "ok"
	Warn Level = "warn" // works, but may fail soon
	Fail Level = "fail" // does not work
)

// Finding is the result of one check.
type Finding struct {
	Level Level  `json:"level"`
	Check string `json:"check"`
	What  string `json:"what"`
	Do    string `json:"do,omitempty"` // advice
}

// Thresholds of the checks.
const (
	slowAnswer = 250 * time.Millisecond // round-trip time of the server
	clockDrift = 2 * time.Second
	minFiles   = 4096 // of open files per process
)

// Examine runs all checks. A check that cannot run is a finding too. browser is the path of the
// browser; "" searches the PATH.
func Examine(ctx context.Context, bus *stages.Bus, browser string) []Finding {
	findings := []Finding{server(bus)}
	add := func(check string, found []Finding, err error) bool {
		if err != nil {
			found = []Finding{{Level: Fail, Check: check, What: "cannot be checked: " + err.Error(), Do: "see the other findings first"}}
		}
		findings = append(findings, found...)
		return err == nil
	}
	running := make(map[string]bool)
	o, err := overview.Read(ctx, bus)
	if add("stages", nil, err) {
		for _, s := range o.Stages {
			running[s.Name] = s.Instances > 0
		}
		findings = append(findings, processes(o))
	}
	vitals, err := procstats.Collect(ctx, bus.NC)
	if add("ready", nil, err) {
		findings = append(append(findings, unready(vitals)...), waiting(vitals)...)
	}
	found, err := objects(ctx, bus, running)
	add("objects", found, err)
	if o != nil {
		findings = append(findings, full(o)...)
	}
	for _, c := range []struct {
		name string
		run  func(context.Context, *stages.Bus) ([]Finding, error)
	}{{"replicas", replicas}, {"partitions", owners}, {"partitions", catchingUp}, {"clock", clock}, {"subjects", strays}} {
		found, err := c.run(ctx, bus)
		add(c.name, found, err)
	}
	if o != nil {
		findings = append(append(findings, specs(o)...), dead(o), rendering(o, browser))
	}
	return append(findings, limits())
}

// Worst returns the highest level among the findings.
func Worst(findings []Finding) Level {
	worst := OK
	for _, f := range findings {
		if f.Level == Fail || f.Level == Warn && worst == OK {
			worst = f.Level
		}
	}
	return worst
}

func server(bus *stages.Bus) Finding {
	f := Finding{Level: OK, Check: "nats"}
	took, err := bus.NC.RTT()
	switch {
	case err != nil:
		f.Level, f.What, f.Do = Fail, "the server does not answer: "+err.Error(), "look at its log and its machine"
		return f
	case bus.CheckVersion() != nil:
		f.Level, f.What, f.Do = Fail, bus.CheckVersion().Error(), "install a newer nats-server"
		return f
	case took > slowAnswer:
		f.Level, f.Do = Warn, "stages wait so long for every acknowledgement: bring them nearer, or look at the server's load"
	}
	f.What = fmt.Sprintf("nats-server %s at %s answers in %s", bus.NC.ConnectedServerVersion(), bus.NC.ConnectedUrlRedacted(), took.Round(10*time.Microsecond))
	return f
}

// processes reports stages that have waiting messages but no process.
func processes(o *overview.Overview) Finding {
	var running []string
	for _, s := range o.Stages {
		if s.Instances > 0 {
			running = append(running, fmt.Sprintf("%d %s", s.Instances, s.Name))
		}
	}
	missing := o.Missing()
	f := Finding{Level: OK, Check: "stages", What: strings.Join(running, ", ")}
	switch {
	case len(running) == 0:
		f.Level, f.What, f.Do = Fail, "none is running", "start them"
	case len(missing) > 0:
		f.Level, f.What = Fail, "no running "+strings.Join(missing, ", ")+" ("+f.What+" do run)"
		f.Do = "start " + strings.Join(missing, ", ")
		if slices.ContainsFunc(missing, func(stage string) bool { return strings.HasPrefix(stage, messages.StageWriter+" ") }) {
			f.Do += "; if a writer of that name is not wanted any more, delete its consumers (nats consumer rm), or its stream fills up"
		}
	}
	return f
}

// unready reports processes that are running but not ready.
func unready(all []procstats.Process) (found []Finding) {
	for i := range all {
		if p := &all[i]; p.Unready != "" {
			found = append(found, Finding{
				Level: Fail, Check: "ready", What: p.Name() + " cannot do its work: " + p.Unready,
				Do: "fix that cause and do not restart the stage: it continues by itself, and nothing is lost",
			})
		}
	}
	if len(found) == 0 {
		found = []Finding{{Level: OK, Check: "ready", What: "all processes can do their work"}}
	}
	return found
}

// waiting reports writers that write records but cannot update views.
func waiting(all []procstats.Process) (found []Finding) {
	for i := range all {
		if p := &all[i]; p.Waits != "" {
			found = append(found, Finding{
				Level: Warn, Check: "views", What: p.Name() + " writes records, but cannot replace a view: " + p.Waits,
				Do: "end the transaction that reads the view: the writer tries again each minute",
			})
		}
	}
	return found
}

// slowStage maps a stream to the stage that reads it.
var slowStage = map[string]string{
	messages.StreamSeeds: "frontier", messages.StreamFetch: "fetcher", messages.StreamURLs: "frontier", messages.StreamResults: "frontier",
	messages.StreamPages: "parser, or a writer of archives,", messages.StreamRecords: "writer",
}

func full(o *overview.Overview) (found []Finding) {
	for i := range o.Streams {
		s := &o.Streams[i]
		reader, read := slowStage[s.Name]
		if !read || !s.NearlyFull() {
			continue
		}
		found = append(found, Finding{
			Level: Warn, Check: "streams",
			What: fmt.Sprintf("%s is %.0f %% full and blocks its publishers", s.Name, 100*s.Full()),
			Do:   "the " + reader + " is too slow or not running: start more, or check its output (seine status; /readyz)",
		})
	}
	if len(found) == 0 {
		found = append(found, Finding{Level: OK, Check: "streams", What: "all have room"})
	}
	return found
}

// owners reports partitions without an owner.
func owners(ctx context.Context, bus *stages.Bus) (found []Finding, err error) {
	groups, err := leases.Read(ctx, bus)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		f := Finding{Level: OK, Check: "partitions", What: fmt.Sprintf("%s: all %d have an owner", g.Name, g.Partitions)}
		if len(g.Free) > 0 {
			f.Level, f.What = Fail, fmt.Sprintf("%s: no frontier owns partition %s", g.Name, list(g.Free))
			f.Do = "start one; after a kill another takes over within 10 s (a frontier with --partitions-owned takes no others)"
		}
		found = append(found, f)
	}
	return found, nil
}

// clock compares this machine's clock with the server's. Politeness and leases depend on clocks.
func clock(ctx context.Context, bus *stages.Bus) ([]Finding, error) {
	before := time.Now()
	s, err := bus.JS.Stream(ctx, messages.StreamFetch)
	if err != nil {
		return nil, fmt.Errorf("inspect stream %s: %w", messages.StreamFetch, err)
	}
	here := before.Add(time.Since(before) / 2)
	drift := s.CachedInfo().TimeStamp.Sub(here).Round(time.Millisecond)
	f := Finding{Level: OK, Check: "clock", What: fmt.Sprintf("%s off the server's", drift.Abs())}
	if drift.Abs() > clockDrift {
		f.Level, f.Do = Warn, "synchronise both clocks (NTP): schedules, delays and Retry-After follow the clock of the partition's owner"
	}
	return []Finding{f}, nil
}

func specs(o *overview.Overview) (found []Finding) {
	for i := range o.Crawls {
		c := &o.Crawls[i]
		switch {
		case c.Unusable != "":
			found = append(found, Finding{Level: Fail, Check: "crawl " + c.Name, What: "spec: " + crawlspec.UnusableText(c.Unusable, c.Stalled), Do: "seine spec apply FILE --crawl " + c.Name})
		case c.Problem != "":
			found = append(found, Finding{Level: Fail, Check: "crawl " + c.Name, What: c.Problem, Do: "seine spec get, seine status"})
		case c.State == overview.Paused && c.Queued > 0:
			found = append(found, Finding{Level: Warn, Check: "crawl " + c.Name, What: "is paused, with " + humanize.Plural(c.Queued, "URL") + " queued", Do: "seine resume --crawl " + c.Name})
		}
	}
	return found
}

func dead(o *overview.Overview) Finding {
	if o.Dead == 0 {
		return Finding{Level: OK, Check: "dead letters", What: "none"}
	}
	return Finding{Level: Warn, Check: "dead letters", What: humanize.Plural(o.Dead, "message") + " that no stage could handle", Do: "see seine dead list; redrive or drop them"}
}
