// Package fleet crawls the test web by processes of their own, as deployments do: a nats-server and the four stages, or
// one `seine crawl`. It tells what each kind of process has cost.
package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// one is the command that does a whole crawl.
const one = "seine"

// Commands are what a fleet is made of, beside the nats-server.
func Commands() []string {
	return []string{one, messages.StageFrontier, messages.StageFetcher, messages.StageParser, messages.StageWriter}
}

// Fleet is the processes of one crawl.
type Fleet struct {
	Bus *stages.Bus // since Join

	bin, dir, url string
	fail          context.CancelCauseFunc
	all           []*member
	gone          Usage // by those that were killed
}

// member is a process that may have several lives.
type member struct {
	*proc.Process
	kind string
	args []string
}

// Setup is what the stages are told beside where they are.
type Setup struct {
	Fetchers int
	Fetch    []string // arguments of each
	Chain    bool     // fetchers parse their pages themselves, and there is no parser
	Write    []string // arguments of the writer
}

// Start starts a nats-server and the stages, by the commands in folder bin. All that they keep is in folder dir. If one
// of them ends by itself, fail is told.
func Start(fail context.CancelCauseFunc, bin, dir string, s Setup) (*Fleet, error) {
	ports, err := proc.FreePorts(1)
	if err != nil {
		return nil, err
	}
	f := &Fleet{bin: bin, dir: dir, url: "nats://127.0.0.1:" + ports[0], fail: fail, gone: make(Usage)}
	start := func(kind string, args ...string) {
		if err == nil {
			err = f.start(kind, args...)
		}
	}
	stage := func(kind string, args ...string) {
		start(kind, append([]string{"--nats", f.url, "--listen", "127.0.0.1:0"}, args...)...)
	}
	start(proc.NATSServer, proc.NATSArgs(bin, filepath.Join(dir, "nats"), ports[0])...)
	stage(messages.StageFrontier, "--state", filepath.Join(dir, "frontier"))
	if s.Chain {
		s.Fetch = append([]string{"--chain"}, s.Fetch...)
	}
	for range s.Fetchers {
		stage(messages.StageFetcher, s.Fetch...)
	}
	if !s.Chain {
		stage(messages.StageParser)
	}
	stage(messages.StageWriter, append([]string{"--out", Out(dir), "--state", filepath.Join(dir, "writer")}, s.Write...)...)
	if err != nil {
		f.Close(false)
		return nil, err
	}
	return f, nil
}

// Out is the folder of the output, in that of the crawl.
func Out(dir string) string { return filepath.Join(dir, "out") }

func (f *Fleet) start(kind string, args ...string) error {
	p, err := proc.Start(f.fail, f.dir, filepath.Join(f.bin, kind), args...)
	if err != nil {
		return err
	}
	f.all = append(f.all, &member{Process: p, kind: kind, args: args})
	return nil
}

// Close ends everything, with time to drain if asked; the broker last, so that the others do not complain.
func (f *Fleet) Close(gently bool) {
	if f.Bus != nil {
		f.Bus.Close()
	}
	for i := len(f.all) - 1; i >= 0; i-- {
		f.all[i].Stop(gently)
	}
	f.all = nil
}

// RestartFrontier kills the frontier, and starts it again at once.
func (f *Fleet) RestartFrontier() error {
	for _, m := range f.all {
		if m.kind != messages.StageFrontier {
			continue
		}
		seconds, err := proc.CPU(m.PID())
		if err != nil {
			return err
		}
		f.gone[m.kind] += seconds
		m.Stop(false)
		if m.Process, err = proc.Start(f.fail, f.dir, filepath.Join(f.bin, m.kind), m.args...); err != nil {
			return err
		}
	}
	return nil
}

// CPU is what the processes have had until now.
func (f *Fleet) CPU() (Usage, error) {
	used := make(Usage)
	for kind, seconds := range f.gone {
		used[kind] = seconds
	}
	for _, m := range f.all {
		seconds, err := proc.CPU(m.PID())
		if err != nil {
			return nil, err
		}
		used[m.kind] += seconds
	}
	return used, nil
}

// Join connects once the frontier has made the streams.
func (f *Fleet) Join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		bus, err := stages.Dial(f.url, "bench", slog.New(slog.DiscardHandler))
		if err == nil {
			f.Bus = bus
			if err := bus.Join(ctx); err != nil {
				return fmt.Errorf("join the cluster: %w", err)
			}
			return nil
		}
		if err := sleep.For(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("connect to NATS: %w", err)
		}
	}
}

// crawl is the name of the only one.
const crawl = "bench"

// Feed begins the crawl: it stores the spec and publishes the seeds.
func (f *Fleet) Feed(ctx context.Context, spec *crawlspec.Spec, seeds []string) error {
	specs, err := stages.OpenSpecs(ctx, f.Bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	if _, err := specs.Put(ctx, crawl, spec); err != nil {
		return fmt.Errorf("store spec: %w", err)
	}
	m := &nats.Msg{Subject: messages.SubjectSeeds(crawl), Data: []byte(strings.Join(seeds, "\n"))}
	if err := stages.NewPublisher(f.Bus, "bench").Publish(ctx, m); err != nil {
		return fmt.Errorf("publish seeds: %w", err)
	}
	return nil
}

// Explain runs `seine explain`, as a person would.
func (f *Fleet) Explain(ctx context.Context, url string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(f.bin, one), //nolint:gosec // a command of this tree
		"explain", url, "--crawl", crawl, "--nats", f.url, "--json")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("explain: %w", err)
	}
	return string(out), nil
}
