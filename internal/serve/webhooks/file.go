package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"seine/internal/base/atomicfile"
	"seine/internal/base/jsontext"
	"seine/internal/ops/overview"
	"seine/internal/ops/records"
	"seine/pkg/stages"
)

// suffix is that of the file of a webhook, which only the owner of the server can read.
const suffix = ".json"

// file is a webhook and how far it is, as they are stored.
type file struct {
	V        int      `json:"v"`
	Hook     Hook     `json:"hook"`
	Progress progress `json:"progress"`
}

// progress is what was told.
type progress struct {
	// At is behind the records that were told.
	At records.Position `json:"at"`
	// Told is the last end of each crawl that was told.
	Told map[string]told `json:"told"`
	// Sending is what is being told, nil for nothing.
	Sending *delivery `json:"sending,omitempty"`
}

// told is an end of a crawl.
type told struct {
	Run   int64     `json:"run"`
	Ended time.Time `json:"ended"`
}

// delivery is one post, until it is taken.
type delivery struct {
	ID    string    `json:"id"`
	Event Event     `json:"event"`
	Time  time.Time `json:"time"`
	// To and Missed are of a batch: it is read again up to there.
	To     records.Position `json:"to,omitzero"`
	Missed uint64           `json:"missed,omitempty"`
	End    *End             `json:"end,omitempty"`

	body []byte
}

// readAll reads all webhooks of a directory.
func readAll(dir string) (all []*file, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read webhook: %w", err)
		}
		f := new(file)
		if err := jsontext.Unmarshal(text, f); err != nil || f.V != 1 || f.Hook.Name+suffix != filepath.Base(name) {
			return nil, fmt.Errorf("%s is no webhook that this build can read: remove it, and create the webhook %s again", name, strings.TrimSuffix(filepath.Base(name), suffix))
		}
		if f.Progress.Told == nil {
			f.Progress.Told = make(map[string]told)
		}
		all = append(all, f)
	}
	return all, nil
}

// save stores it.
func (f *file) save(dir string) error {
	text, err := json.Marshal(f)
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, f.Hook.Name+suffix), text)
	}
	if err != nil {
		return fmt.Errorf("store webhook %s: %w", f.Hook.Name, err)
	}
	return nil
}

// beginNow has it tell of nothing that has happened before.
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
	found, err := endsOf(ctx, bus, crawls)
	for crawl, all := range found {
		f.Progress.Told[crawl] = all[len(all)-1].key()
	}
	return err
}
