package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

// readAll reads all webhooks of a directory. One that cannot be read is set aside, so that the others are delivered.
func readAll(dir string, log *slog.Logger) (all []*file, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	for _, name := range names {
		f := new(file)
		text, err := os.ReadFile(name)
		if err == nil {
			err = jsontext.Unmarshal(text, f)
		}
		if err != nil || f.V != 1 || f.Hook.Name+suffix != filepath.Base(name) {
			log.Error("a webhook cannot be read and is set aside: create it again, then delete its file", "file", name+atomicfile.Aside, "error", cmp.Or(err, errNotHook), "renamed", atomicfile.SetAside(name) == nil)
			continue
		}
		if f.Progress.Told == nil {
			f.Progress.Told = make(map[string]told)
		}
		all = append(all, f)
	}
	return all, nil
}

// errNotHook is the error of a file that is another's.
var errNotHook = errors.New("it is not a webhook of this name that this build can read")

// unreadable lists the webhooks that are set aside, until their files are deleted.
func unreadable(dir string) (all []Listed) {
	names, _ := filepath.Glob(filepath.Join(dir, "*"+suffix+atomicfile.Aside)) // the pattern is good
	for _, name := range names {
		all = append(all, Listed{
			Hook{Name: strings.TrimSuffix(filepath.Base(name), suffix+atomicfile.Aside), Events: []Event{}},
			State{Error: "its file cannot be read and is set aside: create the webhook again, then delete " + filepath.Base(name)},
		})
	}
	return all
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
