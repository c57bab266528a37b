package proc

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main runs a benchmark as a command. An interrupt ends its context; an error is told, and ends the process with 1.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s bench: %v\n", name, err)
		os.Exit(1)
	}
}

// WorkFolder makes a new folder of parent, which is made if need be; of the system's for temporary files if that is empty.
func WorkFolder(name, parent string) (string, error) {
	if parent != "" {
		if err := os.MkdirAll(parent, 0o750); err != nil {
			return "", fmt.Errorf("make work folder: %w", err)
		}
	}
	work, err := os.MkdirTemp(parent, "seine-"+name+"-")
	if err != nil {
		return "", fmt.Errorf("make work folder: %w", err)
	}
	return work, nil
}

// InWorkFolder calls do with a WorkFolder, which is removed
// afterwards unless it is to be kept. What do starts may call fail, which ends its context: the reason that is given
// then, or an interrupt, says more than what went wrong because of it, and is returned in its place.
func InWorkFolder(ctx context.Context, name, parent string, keep bool, do func(ctx context.Context, work string, fail context.CancelCauseFunc) error) error {
	work, err := WorkFolder(name, parent)
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintln(os.Stderr, "kept:", work)
	} else {
		defer func() { _ = os.RemoveAll(work) }()
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if err := do(ctx, work, fail); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return nil
}
