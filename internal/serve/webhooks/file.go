package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"seine/internal/base/atomicfile"
	"seine/internal/ops/overview"
	"seine/internal/ops/records"
	"seine/pkg/stages"
)

// file is the stored form of a webhook and its progress.
type file struct {
	V        int      `json:"v"`
	Hook     Hook     `json:"hook"`
	Progress progress `json:"progress"`
}

// progress is the progress of a webhook.
type progress struct {
	// At is the position after the posted records.
	At records.Position `json:"at"`
	// Posted is the last posted end of each crawl.
	Posted map[string]postedEnd `json:"told"`
	// Sending is the post in progress, nil for none.
	Sending *delivery `json:"sending,omitempty"`
}

// postedEnd identifies an end of a crawl.
type postedEnd struct {
	Run   int64     `json:"run"`
	Ended time.Time `json:"ended"`
}

// delivery is a post until the receiver accepts it.
type delivery struct {
	ID    string    `json:"id"`
	Event Event     `json:"event"`
	Time  time.Time `json:"time"`
	// To and Missed describe a batch of records. After a restart, the batch is read again up to To.
	To     records.Position `json:"to,omitzero"`
	Missed uint64           `json:"missed,omitempty"`
	End    *End             `json:"end,omitempty"`

	body []byte
}

// readAll reads all webhooks of a directory.
func readAll(dir string, log *slog.Logger) ([]*file, error) {
	all, err := atomicfile.ReadAllJSON(dir, true, log, func(name string, f *file) bool { return f.V == 1 && f.Hook.Name == name })
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return all, nil
}

// unreadable lists webhooks with damaged files, until those are deleted.
func unreadable(dir string) (all []Listed) {
	entries, _ := os.ReadDir(dir) // readAll has reported errors
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), atomicfile.JSON+atomicfile.Aside); ok {
			problem := "its file is damaged: create the webhook again, then delete " + e.Name()
			all = append(all, Listed{Hook{Name: name, Events: []Event{}}, State{Error: problem}})
		}
	}
	return all
}

// save stores the file, readable by the owner of the server only.
func (f *file) save(dir string) error {
	if err := atomicfile.WriteJSON(filepath.Join(dir, f.Hook.Name+atomicfile.JSON), f); err != nil {
		return fmt.Errorf("store webhook %s: %w", f.Hook.Name, err)
	}
	return nil
}

// beginNow makes the webhook skip all earlier events.
func (f *file) beginNow(ctx context.Context, bus *stages.Bus) (err error) {
	if f.Progress.At, err = records.End(ctx, bus); err != nil || !f.Hook.Wants(CrawlEnded) {
		return err
	}
	crawls := []string{f.Hook.Crawl}
	if f.Hook.Crawl == "" {
		if crawls, err = overview.Names(ctx, bus); err != nil {
			return err
		}
	}
	now := newEnds(nil, nil)
	err = now.lookAt(ctx, bus, crawls)
	for crawl, k := range now.known {
		if n := len(k.ended); n > 0 {
			f.Progress.Posted[crawl] = k.ended[n-1].key()
		}
	}
	return err
}
