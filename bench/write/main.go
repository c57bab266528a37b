// Command write measures the writer alone, as a process: a nats-server holds records of pages in 16 partitions, a writer
// with the defaults reads and writes them all, and beside it a bare encoder writes the same bytes to the same disk.
//
//	cd bench && go run ./write                        # jsonl.zst beside a bare Zstandard encoder
//	cd bench && go run ./write -format parquet        # beside a bare Parquet writer
//
// It prints the rates, their ratio, and the memory of the writer at its largest, and fails if they miss their limits.
// After each round the output must hold every record once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"seine/bench/proc"
)

// options are the command line.
type options struct {
	Format   string
	Records  int
	Rounds   int
	Work     string
	MinShare float64
	MaxRSS   float64
	Args     string
	Keep     bool
}

// shares are what of a bare encoder's rate the writer must reach.
var shares = map[string]float64{"jsonl.zst": 0.7, "parquet": 0.5}

func main() { proc.Main("write", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("write", flag.ContinueOnError)
	f.StringVar(&o.Format, "format", "jsonl.zst", "`name` of the format: jsonl.zst or parquet")
	f.IntVar(&o.Records, "records", 80_000, "`number` of records, of 8 KB or so")
	f.IntVar(&o.Rounds, "rounds", 5, "`number` of rounds, after one to warm up")
	f.StringVar(&o.Work, "work", "", "`folder` for everything, on the disk that is to be written to; else one for temporary files")
	f.Float64Var(&o.MinShare, "min-share", -1, "fail below this `part` of the bare encoder's rate; else 0.7 for jsonl.zst, 0.5 for parquet")
	f.Float64Var(&o.MaxRSS, "max-rss", 256, "fail if the writer's RSS is more `MB`")
	f.StringVar(&o.Args, "writer-args", "", "more `arguments` for the writer")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder with the logs, and say where")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	if o.MinShare < 0 {
		o.MinShare = shares[o.Format]
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case shares[o.Format] == 0:
		return o, fmt.Errorf("-format %q: must be jsonl.zst or parquet", o.Format)
	case o.Records < 1 || o.Rounds < 1:
		return o, errors.New("-records, -rounds: from 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == commandEncode {
		return encode(args[1:])
	}
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "write", o.Work, o.Keep, func(ctx context.Context, work string, fail context.CancelCauseFunc) error {
		bin, err := proc.Build(ctx, work, "writer")
		if err != nil {
			return err
		}
		b := &bench{options: o, bin: bin, work: work, fail: fail}
		return b.measure(ctx)
	})
}

// bench is one run of the program.
type bench struct {
	options
	bin, work string
	fail      context.CancelCauseFunc // ends everything
	round     int
}

// measure does the rounds, and judges them.
func (b *bench) measure(ctx context.Context) error {
	lines := filepath.Join(b.work, "records.jsonl")
	if err := generate(lines, b.Records); err != nil {
		return err
	}
	broker, err := b.startBroker(ctx, lines)
	if err != nil {
		return err
	}
	defer broker.close()
	fmt.Printf("%d records, %.0f MB of JSON, 16 partitions, %s\n\n", b.Records, proc.MB(sizeOf(lines)), b.Format)
	bare := []string{b.Format}
	if b.Format == "jsonl.zst" {
		bare = append(bare, levelled, oneCore)
	}
	fmt.Print("| | writer records/s | CPU s | NATS CPU s | RSS MB |")
	for _, name := range bare {
		fmt.Printf(" bare: %s | CPU s | share |", called(name))
	}
	fmt.Println("\n|---|---:|---:|---:|---:|" + strings.Repeat("---:|---:|---:|", len(bare)))
	var memory []float64
	shares := make([][]float64, len(bare))
	for round := range b.Rounds + 1 {
		w, err := b.write(ctx, broker)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("| %d | %.0f | %.2f | %.2f | %.0f |", round, w.rate, w.cpu, w.nats, w.rss)
		for i, name := range bare {
			e, err := b.encode(ctx, name, lines)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %.0f | %.2f | %.2f |", e.rate, e.cpu, w.rate/e.rate)
			if round > 0 { // which is to warm up
				shares[i] = append(shares[i], w.rate/e.rate)
			}
		}
		fmt.Println(line)
		if round > 0 {
			memory = append(memory, w.rss)
		}
	}
	fmt.Println()
	for i, name := range bare {
		slices.Sort(shares[i])
		fmt.Printf("Median: %.2f of the rate of the bare encoder, %s (%.2f–%.2f)\n", middle(shares[i]), called(name), shares[i][0], shares[i][len(shares[i])-1])
	}
	share, rss := middle(shares[0]), slices.Max(memory)
	fmt.Printf("RSS %.0f MB at most\n", rss)
	switch {
	case share < b.MinShare:
		return fmt.Errorf("the writer reaches %.2f of the bare encoder's rate, less than %g", share, b.MinShare)
	case rss > b.MaxRSS:
		return fmt.Errorf("the writer takes %.0f MB, more than %g", rss, b.MaxRSS)
	}
	return nil
}

func middle(sorted []float64) float64 { return sorted[len(sorted)/2] }

// called says what is special about a bare encoder.
func called(name string) string {
	if name == levelled || name == oneCore {
		return name
	}
	return "as the library gives it"
}
