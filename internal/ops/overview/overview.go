// Package overview reads how a whole cluster of Seine stands: its stages, its
// streams and its crawls, as they are known to NATS and to the frontiers.
package overview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/jsontext"
	"seine/internal/base/panics"
	"seine/internal/ops/alerts"
	"seine/internal/ops/deadletters"
	"seine/internal/output"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Overview is how a cluster stands at a moment.
type Overview struct {
	At      time.Time `json:"at"`
	Stages  []Stage   `json:"stages"`
	Streams []Stream  `json:"streams"`
	Crawls  []Crawl   `json:"crawls"`
	// Outputs are those of all writers that have ever run.
	Outputs []Output `json:"outputs,omitempty"`
	// Warnings are what holds up every crawl: stages without a process, streams that
	// are nearly full. Two looks are needed to tell.
	Warnings []string `json:"warnings,omitempty"`
	// Alerts are what is wrong now, of all crawls.
	Alerts []alerts.Alert `json:"alerts,omitempty"`
	// Dead are the dead letters there are, DeadLast the last of them.
	Dead     uint64                    `json:"dead"`
	DeadLast []*deadletters.DeadLetter `json:"dead_last,omitempty"`
	// Hosts is the state of the hosts, nil if it is unknown.
	Hosts *frontierapi.Survey `json:"hosts,omitempty"`
}

// Stage is a stage, or one of several writers.
type Stage struct {
	Name      string   `json:"name"` // frontier, fetcher, renderer, parser, writer NAME
	Instances int      `json:"instances"`
	Versions  []string `json:"versions,omitempty"`
	// Lag is how many messages wait for the stage, InFlight how many it holds.
	Lag uint64 `json:"lag"`
	// Oldest is when the oldest of them was stored.
	Oldest   time.Time `json:"oldest,omitzero"`
	InFlight uint64    `json:"in_flight"`
	// Handled is how many messages it was given and has finished, ever;
	// Redelivered are those it holds not for the first time.
	Handled     uint64 `json:"handled"`
	Redelivered uint64 `json:"redelivered"`
	// Dead is how many messages it could not handle that are still in DEAD; those
	// of all writers are with the first.
	Dead uint64 `json:"dead"`
	// Rate is Handled a second since the overview before, 0 in the first.
	Rate float64 `json:"rate"`
}

// Output is where a writer writes, and in which format of files.
type Output struct {
	Writer string `json:"writer"`
	Out    string `json:"out"` // without secrets
	Format string `json:"format,omitempty"`
}

// Stream is a stream, and how full it is.
type Stream struct {
	Name     string  `json:"name"`
	Messages uint64  `json:"messages"`
	Bytes    uint64  `json:"bytes"`
	Limit    int64   `json:"limit"` // in bytes; 0 is none
	Rate     float64 `json:"rate"`  // messages that came, a second
	Last     uint64  `json:"last_seq"`
}

// State is that of a crawl: one that its spec sets, Blocked, Deleting, or its End.
type State string

// States of crawls that have not ended.
const (
	Running   = State(crawlspec.Running)
	Paused    = State(crawlspec.Paused)
	Cancelled = State(crawlspec.Cancelled)
	Blocked   = State("blocked") // no revision of its spec can be used
	Deleting  = State("deleting")
)

// States are all of them.
var States = []State{
	Running, Paused, Cancelled, Blocked, Deleting, State(frontierapi.Empty), State(frontierapi.Complete),
	State(frontierapi.PagesLimit), State(frontierapi.BytesLimit), State(frontierapi.TimeLimit),
}

// Crawl is a crawl.
type Crawl struct {
	Name  string                `json:"name"`
	State State                 `json:"state"`
	End   frontierapi.EndReason `json:"end,omitempty"`
	Rev   uint64                `json:"rev"` // of its spec
	frontierapi.CrawlStatus
	// Rate is pages a second since the overview before.
	Rate float64 `json:"rate"`
	// ETA is when what is known now will be done at that rate; zero if it is
	// unknown.
	ETA time.Time `json:"eta,omitzero"`
	// DeletedAt is when the crawl, which has come to an end, is deleted (Spec.Keep);
	// zero if it is kept.
	DeletedAt time.Time `json:"deleted_at,omitzero"`
	// NextRun is when Spec.Schedule starts the crawl again; zero if it does not.
	NextRun time.Time `json:"next_run,omitzero"`
	// Dead are its dead letters, by stage.
	Dead map[string]uint64 `json:"dead,omitempty"`
	// Idle says that no process works on it: the figures are those that are stored.
	Idle bool `json:"idle,omitempty"`
	// Why says, of one that has ended without a page, what became of its URLs.
	Why string `json:"why,omitempty"`
	// Problem is why its state is unknown.
	Problem string `json:"problem,omitempty"`
	// Unasked says that there are so many crawls that this one was left out.
	Unasked bool `json:"unasked,omitempty"`

	Spec *crawlspec.Spec `json:"-"` // nil if it was not read
}

// Read returns how everything stands now. What cannot be known of a crawl is its
// Problem; without the streams there is an error.
func Read(ctx context.Context, bus *stages.Bus) (*Overview, error) {
	r := Reader{Bus: bus}
	return r.Read(ctx)
}

// Reader looks at a cluster again and again.
type Reader struct {
	Bus *stages.Bus
	// Crawl limits what is asked about crawls, hosts and dead letters to one.
	Crawl string
	// Most bounds the crawls that are asked about in one look; 0 is no bound.
	// Those in First go before the others.
	Most  int
	First []string
	// Specs are followed. If they are given, the overview has no other crawls than
	// those in which something is to happen, those in First and, up to Most in all,
	// some that have ended: to ask about each that has ever been would take minutes.
	Specs *stages.Specs
	// Alerts asks for those that are raised.
	Alerts bool
	// Hosts is how many of each kind Overview.Hosts has, Letters how many dead
	// letters are read; 0 asks for none.
	Hosts, Letters int

	ends    map[string]ended
	letters []*deadletters.DeadLetter
	lastSeq uint64 // of DEAD when letters were read
}

// Read returns how everything stands now, as the function Read does.
func (r *Reader) Read(ctx context.Context) (*Overview, error) {
	o := &Overview{At: time.Now()}
	g, gctx := errgroup.WithContext(ctx)
	var services []micro.Info
	g.Go(panics.Caught(func() (err error) { services, err = discover(gctx, r.Bus.NC); return err }))
	consumers := make(map[string]*Stage)
	g.Go(panics.Caught(func() error { return o.readStreams(gctx, r.Bus, consumers) }))
	var dead deadletters.Counts
	g.Go(panics.Caught(func() (err error) { dead, err = r.readDead(gctx, o); return err }))
	g.Go(panics.Caught(func() error { return r.readCrawls(gctx, o) }))
	if r.Hosts > 0 {
		g.Go(panics.Caught(func() error {
			o.Hosts, _ = frontierapi.Client{Bus: r.Bus}.Survey(gctx, r.Crawl, r.Hosts) // without a frontier the crawls say so
			return nil
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i := range o.Crawls {
		o.Crawls[i].Dead = dead.Of[o.Crawls[i].Name]
	}
	o.Stages = merge(consumers, services, len(o.Rendering()) > 0)
	for i := range o.Stages {
		stage := kindOf(o.Stages[i].Name)
		o.Stages[i].Dead = dead.ByStage[stage]
		delete(dead.ByStage, stage)
		o.readOutput(ctx, r.Bus, o.Stages[i].Name)
	}
	return o, nil
}

// readOutput finds out where the stage of that name writes, if it is a writer.
func (o *Overview) readOutput(ctx context.Context, bus *stages.Bus, stage string) {
	name, ok := strings.CutPrefix(stage, messages.StageWriter+" ")
	if !ok {
		return
	}
	if b, _, err := output.ReadBinding(ctx, bus, name); err == nil && b != nil {
		o.Outputs = append(o.Outputs, Output{Writer: name, Out: b.Out, Format: b.Format})
	}
}

// streams are those of the pipeline, in its order.
var streams = []string{
	messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamPages,
	messages.StreamResults, messages.StreamRecords, messages.StreamDead,
}

func (o *Overview) readStreams(ctx context.Context, bus *stages.Bus, byStage map[string]*Stage) error {
	first, looks := newOldest()
	for _, name := range streams {
		info, err := stages.StreamInfo(ctx, bus, name)
		if err != nil {
			return err
		}
		if info == nil { // package doctor says what to do
			continue
		}
		o.Streams = append(o.Streams, Stream{
			Name: name, Messages: info.State.Msgs, Bytes: info.State.Bytes, Limit: max(0, info.Config.MaxBytes), Last: info.State.LastSeq,
		})
		consumers, err := bus.Consumers(ctx, name)
		if err != nil {
			return err
		}
		for _, c := range consumers {
			if stage := stageOf(c.Config.Durable); stage != "" {
				add(byStage, stage, c)
				looks.Go(panics.Caught(func() error { return first.firstWaiting(ctx, bus, stage, c) }))
			}
		}
	}
	err := looks.Wait()
	for stage, since := range first.byStage {
		byStage[stage].Oldest = since
	}
	return err
}

// stageOf returns the stage that reads as a durable consumer.
func stageOf(durable string) string {
	for _, stage := range []string{messages.StageFrontier, messages.StageFetcher, messages.StageRenderer, messages.StageParser} {
		if strings.HasPrefix(durable, stage) {
			return stage
		}
	}
	rest, ok := strings.CutPrefix(durable, messages.ConsumerWriter+"-")
	if i := strings.LastIndexByte(rest, '-'); ok && i > 0 {
		return messages.StageWriter + " " + rest[:i]
	}
	return ""
}

func add(byStage map[string]*Stage, name string, c *jetstream.ConsumerInfo) {
	s := byStage[name]
	if s == nil {
		s = &Stage{Name: name}
		byStage[name] = s
	}
	held := uint64(max(0, c.NumAckPending))
	s.Lag += c.NumPending
	s.InFlight += held
	s.Handled += c.Delivered.Consumer - min(held, c.Delivered.Consumer)
	s.Redelivered += uint64(max(0, c.NumRedelivered))
}

// merge adds how many processes each stage has. Writers of all names announce
// themselves as one stage. The renderer is there only if it has a consumer or a crawl wants
// it: most clusters have none.
func merge(byStage map[string]*Stage, services []micro.Info, rendering bool) []Stage {
	if byStage[messages.StageRenderer] == nil && rendering {
		byStage[messages.StageRenderer] = &Stage{Name: messages.StageRenderer}
	}
	for i := range services {
		name, ok := strings.CutPrefix(services[i].Name, "seine-")
		if !ok || !slices.Contains(order, name) || name == messages.StageRenderer && byStage[name] == nil {
			continue
		}
		if named := services[i].Metadata["name"]; named != "" {
			name += " " + named
		}
		s := byStage[name]
		if s == nil {
			s = &Stage{Name: name}
			byStage[name] = s
		}
		s.Instances++
		if v := services[i].Version; !slices.Contains(s.Versions, v) {
			s.Versions = append(s.Versions, v)
		}
	}
	var all []Stage
	for _, s := range byStage {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Stage) int {
		return cmp.Or(cmp.Compare(stageOrder(a.Name), stageOrder(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return all
}

var order = []string{messages.StageFrontier, messages.StageFetcher, messages.StageRenderer, messages.StageParser, messages.StageWriter}

func stageOrder(name string) int { return slices.Index(order, kindOf(name)) }

// kindOf returns which stage one of a name is: there are writers of several.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, " ")
	return kind
}

// discover asks all processes who they are.
func discover(ctx context.Context, nc *nats.Conn) ([]micro.Info, error) {
	var all []micro.Info
	err := stages.ScatterGather(ctx, nc, "$SRV.INFO", nil, func(data []byte) {
		var info micro.Info
		if jsontext.Unmarshal(data, &info) == nil {
			all = append(all, info)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("ask who is there: %w", err)
	}
	return all, nil
}

// Names returns the names of the crawls that have a spec, or got seeds.
func Names(ctx context.Context, bus *stages.Bus) ([]string, error) {
	all, err := allNames(ctx, bus)
	return slices.DeleteFunc(all, func(name string) bool { return messages.CheckCrawl(name) != nil }), err
}

// allNames are Names, and keys beside them that were stored by hand.
func allNames(ctx context.Context, bus *stages.Bus) ([]string, error) {
	keys, err := bus.Keys(ctx, messages.BucketCrawls)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	deleted := make(map[string]bool)
	for _, key := range keys {
		if crawl, ok := messages.CrawlOfDeletion(key); ok {
			deleted[crawl] = true
		} else if !messages.IsFed(key) {
			names[key] = true
		}
	}
	for _, stream := range []string{messages.StreamSeeds, messages.StreamURLs} {
		stored, err := NamesIn(ctx, bus, stream)
		if err != nil {
			return nil, err
		}
		for _, name := range stored {
			if deleted[name] && !names[name] {
				// Until the deletion is done, what is there is of the deleted crawl.
				if deleted[name], err = beingDeleted(ctx, bus, name); err != nil {
					return nil, err
				}
			}
			names[name] = names[name] || !deleted[name]
		}
	}
	maps.DeleteFunc(names, func(_ string, known bool) bool { return !known })
	return slices.Sorted(maps.Keys(names)), nil
}

// NamesIn returns the crawls of the messages in a stream, sorted.
func NamesIn(ctx context.Context, bus *stages.Bus, stream string) ([]string, error) {
	state, err := stages.Subjects(ctx, bus, stream, ">")
	var names []string
	for subject := range state.Subjects {
		names = append(names, messages.CrawlOf(subject))
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// beingDeleted reports whether the deletion of a crawl is not done yet.
func beingDeleted(ctx context.Context, bus *stages.Bus, crawl string) (bool, error) {
	value, rev, err := bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyDeletion(crawl))
	if err != nil {
		return false, fmt.Errorf("look at the deletion of crawl %s: %w", crawl, err)
	}
	d, err := messages.DecodeDeletion(value, rev)
	return err == nil && !d.Done, err
}

// ComputeRates fills in the rates and the warnings of o, which came after before.
func (o *Overview) ComputeRates(before *Overview) {
	if before == nil {
		return
	}
	o.warn(before)
	seconds := o.At.Sub(before.At).Seconds()
	rate := func(now, then uint64) float64 {
		if seconds <= 0 || now < then {
			return 0
		}
		return float64(now-then) / seconds
	}
	for i := range o.Stages {
		for _, b := range before.Stages {
			if b.Name == o.Stages[i].Name {
				o.Stages[i].Rate = rate(o.Stages[i].Handled, b.Handled)
			}
		}
	}
	for i := range o.Streams {
		for _, b := range before.Streams {
			if b.Name == o.Streams[i].Name {
				o.Streams[i].Rate = rate(o.Streams[i].Last, b.Last)
			}
		}
	}
	for i := range o.Crawls {
		c := &o.Crawls[i]
		for _, b := range before.Crawls {
			if b.Name == c.Name {
				c.Rate = rate(uint64(c.Pages), uint64(b.Pages))
			}
		}
		o.SetRate(c, c.Rate)
	}
}

// SetRate sets the pages a second of a crawl, and the ETA at that rate, which is not before the longest queues of hosts end.
func (o *Overview) SetRate(c *Crawl, rate float64) {
	c.Rate, c.ETA = rate, time.Time{}
	left := c.Pending()
	if rate <= 0 || left <= 0 || c.State != Running {
		return
	}
	takes := time.Duration(float64(left) / rate * float64(time.Second))
	if o.Hosts != nil {
		takes = max(takes, o.Hosts.LongestQueue(c.Name))
	}
	c.ETA = o.At.Add(takes)
}

// ExcludedURLs is how many URLs are excluded, for any reason.
func (c *Crawl) ExcludedURLs() int64 { return c.Known() - c.Pending() - c.Done - c.Failed }
