package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
)

type explainCmd struct {
	URL  string `arg:"" help:"The URL to explain."`
	Name string `name:"crawl" help:"Name of the crawl." default:"default"`
	NATS string `name:"nats" help:"URL of the NATS server; that of a running seine crawl is in its first line." env:"SEINE_NATS_URL" default:"nats://127.0.0.1:4222"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Run asks the frontier about the URL.
func (c *explainCmd) Run() error {
	if err := messages.CheckCrawl(c.Name); err != nil {
		return usageError{err}
	}
	bus, err := stages.Dial(c.NATS, "seine-explain", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer bus.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := bus.Join(ctx); err != nil {
		return fmt.Errorf("there is no frontier at %s: %w", c.NATS, err)
	}
	client := frontier.Client{Bus: bus}
	e, err := client.Explain(ctx, c.Name, c.URL)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(e)
	}
	c.print(&e)
	return nil
}

func (c *explainCmd) print(e *frontier.Explanation) {
	fmt.Println(e.URL)
	row := func(name, value string) {
		if value != "" && value != "0" {
			fmt.Printf("  %-10s %s\n", name, value)
		}
	}
	if !e.Known {
		row("state", "unknown to crawl "+c.Name+": it was neither fed nor found")
		return
	}
	row("state", e.State)
	row("reason", e.Reason)
	row("last", string(e.Class))
	row("status", fmt.Sprint(e.Status))
	row("sent", fmt.Sprint(e.Sent))
	row("failures", fmt.Sprint(e.Failures))
	row("depth", fmt.Sprint(e.Depth))
	row("found on", e.Referrer)
	row("since", moment(e.ChangedMS))
	if e.NextMS > 0 {
		row("next", moment(e.NextMS))
	}
	for _, a := range e.History {
		row("attempt", fmt.Sprintf("%s  %s  %d  %d ms", moment(a.AtMS), a.Class, a.Status, a.TookMS))
	}
	if h := e.Host; h != nil && h.Why != "" {
		row("host", fmt.Sprintf("%s waits: %s, until %s", h.Host, h.Why, moment(h.NextMS)))
	}
}

func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
