// Package overview reads the state of a whole cluster: its stages, streams and crawls, as NATS and
// the frontiers report them.
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

// Overview is the state of a cluster at one time.
type Overview struct {
	At      time.Time `json:"at"`
	Stages  []Stage   `json:"stages"`
	Streams []Stream  `json:"streams"`
	Crawls  []Crawl   `json:"crawls"`
	// Outputs are those of all writers that have ever run.
	Outputs []Output `json:"outputs,omitempty"`
	// Warnings are conditions that block every crawl: stages without a process, streams that are
	// nearly full. They need two observations.
	Warnings []string `json:"warnings,omitempty"`
	// Alerts are the raised alerts of all crawls.
	Alerts []alerts.Alert `json:"alerts,omitempty"`
	// Dead is the number of dead letters, DeadLast the newest of them.
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
	// Lag is the number of messages that wait for the stage, InFlight the number that it holds.
	Lag uint64 `json:"lag"`
	// Oldest is when the oldest waiting message was stored.
	Oldest   time.Time `json:"oldest,omitzero"`
	InFlight uint64    `json:"in_flight"`
	// Handled is the number of messages that the stage has ever finished; Redelivered counts
	// in-flight messages that were delivered before.
	Handled     uint64 `json:"handled"`
	Redelivered uint64 `json:"redelivered"`
	// Dead is the number of the stage's dead letters on DEAD. The first writer has those of all
	// writers.
	Dead uint64 `json:"dead"`
	// Rate is the increase of Handled per second since the previous overview, 0 in the first one.
	Rate float64 `json:"rate"`
}

// Output is the destination of a writer, and the format of its files.
type Output struct {
	Writer string `json:"writer"`
	Out    string `json:"out"` // with secrets redacted
	Format string `json:"format,omitempty"`
}

// Stream is the size of a stream.
type Stream struct {
	Name     string  `json:"name"`
	Messages uint64  `json:"messages"`
	Bytes    uint64  `json:"bytes"`
	Limit    int64   `json:"limit"` // in bytes; 0 for none
	Rate     float64 `json:"rate"`  // new messages per second
	Last     uint64  `json:"last_seq"`
}

// State is the state of a crawl: one that its spec sets, Blocked, Deleting, or its End.
type State string

// States of crawls that have not ended.
const (
	Running   = State(crawlspec.Running)
	Paused    = State(crawlspec.Paused)
	Cancelled = State(crawlspec.Cancelled)
	Blocked   = State("blocked") // no revision of its spec is usable
	Deleting  = State("deleting")
)

// States lists all states.
var States = []State{
	Running, Paused, Cancelled, Blocked, Deleting, State(frontierapi.Empty), State(frontierapi.Complete),
	State(frontierapi.PagesLimit), State(frontierapi.BytesLimit), State(frontierapi.TimeLimit),
}

// Crawl is the state of a crawl.
type Crawl struct {
	Name  string                `json:"name"`
	State State                 `json:"state"`
	End   frontierapi.EndReason `json:"end,omitempty"`
	Rev   uint64                `json:"rev"` // of its spec
	frontierapi.CrawlStatus
	// Rate is the number of pages per second since the previous overview.
	Rate float64 `json:"rate"`
	// ETA is when the known URLs will be done at that rate; zero if it is unknown.
	ETA time.Time `json:"eta,omitzero"`
	// DeletedAt is when the ended crawl will be deleted (Spec.Keep); zero if it is kept.
	DeletedAt time.Time `json:"deleted_at,omitzero"`
	// NextRun is when Spec.Schedule starts the next run; zero if there is none.
	NextRun time.Time `json:"next_run,omitzero"`
	// Dead counts its dead letters by stage.
	Dead map[string]uint64 `json:"dead,omitempty"`
	// Idle is set if no process works on the crawl, so that its figures are the stored ones.
	Idle bool `json:"idle,omitempty"`
	// Why explains, for a crawl that ended without a page, what happened to its URLs.
	Why string `json:"why,omitempty"`
	// Problem is the reason why its state is unknown.
	Problem string `json:"problem,omitempty"`
	// Unasked is set if the crawl was not queried because there are too many.
	Unasked bool `json:"unasked,omitempty"`

	Spec *crawlspec.Spec `json:"-"` // nil if it was not read
}

// Read returns the current state of the cluster. If the state of a crawl is unknown, its Problem
// gives the reason. Missing streams are an error.
func Read(ctx context.Context, bus *stages.Bus) (*Overview, error) {
	r := Reader{Bus: bus}
	return r.Read(ctx)
}

// Reader reads overviews repeatedly.
type Reader struct {
	Bus *stages.Bus
	// Crawl limits crawls, hosts and dead letters to one crawl.
	Crawl string
	// Most bounds the crawls that are queried per call; 0 for no bound. Crawls in First take
	// precedence.
	Most  int
	First []string
	// Specs, if set, limits the overview to crawls that have work, those in First and, up to Most,
	// some that have ended. To query every crawl that ever existed would take minutes.
	Specs *stages.Specs
	// Alerts enables reading raised alerts.
	Alerts bool
	// Hosts is the number of hosts of each kind in Overview.Hosts, Letters the number of dead
	// letters; 0 for none.
	Hosts, Letters int

	ends    map[string]ended
	letters []*deadletters.DeadLetter
	lastSeq uint64 // last sequence of DEAD when letters were read
}

// Read returns the current state, like the function Read.
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
			o.Hosts, _ = frontierapi.Client{Bus: r.Bus}.Survey(gctx, r.Crawl, r.Hosts) // without a frontier, the crawls report the problem
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

// readOutput adds the destination of a stage that is a writer.
func (o *Overview) readOutput(ctx context.Context, bus *stages.Bus, stage string) {
	name, ok := strings.CutPrefix(stage, messages.StageWriter+" ")
	if !ok {
		return
	}
	if b, _, err := output.ReadBinding(ctx, bus, name); err == nil && b != nil {
		o.Outputs = append(o.Outputs, Output{Writer: name, Out: b.Out, Format: b.Format})
	}
}

// streams lists the streams of the pipeline in order.
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
		if info == nil { // package doctor reports it
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

// stageOf returns the stage that reads with a durable consumer.
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

// merge adds the number of processes to each stage. Writers of all names announce themselves as one
// stage. The renderer is included only if it has a consumer or a crawl needs it, because most
// clusters have none.
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

// kindOf returns the stage of a name; several writers have names of their own.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, " ")
	return kind
}

// discover collects the services of all processes.
func discover(ctx context.Context, nc *nats.Conn) ([]micro.Info, error) {
	var all []micro.Info
	err := stages.ScatterGather(ctx, nc, "$SRV.INFO", nil, func(data []byte) {
		var info micro.Info
		if jsontext.Unmarshal(data, &info) == nil {
			all = append(all, info)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("discover processes: %w", err)
	}
	return all, nil
}

// Names returns the names of the crawls that have a spec or seeds.
func Names(ctx context.Context, bus *stages.Bus) ([]string, error) {
	all, err := allNames(ctx, bus)
	return slices.DeleteFunc(all, func(name string) bool { return messages.CheckCrawl(name) != nil }), err
}

// allNames is like Names, but includes keys that users stored by hand.
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
				// Until the deletion is done, existing messages belong to the deleted crawl.
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

// beingDeleted reports whether a deletion of the crawl is unfinished.
func beingDeleted(ctx context.Context, bus *stages.Bus, crawl string) (bool, error) {
	value, rev, err := bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyDeletion(crawl))
	if err != nil {
		return false, fmt.Errorf("read the deletion of crawl %s: %w", crawl, err)
	}
	d, err := messages.DecodeDeletion(value, rev)
	return err == nil && !d.Done, err
}

// ComputeRates sets the rates and the warnings of o, given the previous overview.
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

// SetRate sets the rate of a crawl in pages per second, and the resulting ETA. The ETA is not
// before the longest queue of a host is empty.
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

// ExcludedURLs returns the number of URLs excluded for any reason.
func (c *Crawl) ExcludedURLs() int64 { return c.Known() - c.Pending() - c.Done - c.Failed }
