package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"seine/internal/ops/top"
	"seine/pkg/stages"
)

type topCmd struct {
	connection
	Crawl string        `help:"Show only this crawl, its hosts and its errors." placeholder:"NAME"`
	Every time.Duration `help:"Interval between updates." default:"1s"`
}

// Help is shown below the list of flags.
func (c *topCmd) Help() string {
	return `Examples:

  seine top
  seine top --crawl news --every 5s

Press ? for the keys. Set NO_COLOR to disable colours. Without a terminal, use seine status --watch.`
}

// Run shows the screen.
func (c *topCmd) Run() error {
	if err := checkEvery(c.Every); err != nil {
		return err
	}
	if err := checkScreen(); err != nil {
		return usageError{err}
	}
	return c.withRunning("top", func(ctx context.Context, bus *stages.Bus) error {
		if err := checkThere(ctx, bus, c.Crawl); err != nil {
			return err
		}
		return top.Run(ctx, bus, top.Options{Crawl: c.Crawl, Every: c.Every})
	})
}

// checkScreen returns an error if the terminal is unsuitable.
func checkScreen() error {
	const instead = "; seine status --watch prints the same figures"
	switch {
	case !isTerminal(os.Stdout), !isTerminal(os.Stdin):
		return errors.New("seine top needs a terminal for its input and its output" + instead)
	case os.Getenv("TERM") == "dumb", os.Getenv("TERM") == "":
		return fmt.Errorf("seine top needs a terminal that can move its cursor, and TERM is %q%s", os.Getenv("TERM"), instead)
	}
	return nil
}
