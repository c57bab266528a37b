package replay

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"seine/internal/run/works"
	"seine/pkg/messages"
)

// A replay that sends records back and a backup exclude each other; a replay to another output
// excludes nothing.
func TestReplayAndBackupExcludeEachOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.page("news", "http://a.test/", 1)
	elsewhere, back := k.options(), k.options()
	back.Writer, back.State = nil, back.State+".back"
	k.must(works.Do(t.Context(), k.bus, works.Backup, func(ctx context.Context) error {
		if _, err := Run(ctx, back); !errors.Is(err, works.ErrExcluded) {
			t.Errorf("a replay beside a backup: %v, want %v", err, works.ErrExcluded)
		}
		if _, err := os.Stat(back.State); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a replay that was refused leaves its state: %v", err)
		}
		k.run(elsewhere)
		return nil
	}))
	tried := 0
	back.Progress = func(Progress) {
		tried++
		err := works.Do(t.Context(), k.bus, works.Backup, func(context.Context) error { return nil })
		if !errors.Is(err, works.ErrExcluded) {
			t.Errorf("a backup beside a replay: %v, want %v", err, works.ErrExcluded)
		}
	}
	k.run(back)
	if tried == 0 {
		t.Error("no backup was tried beside the replay")
	}
}

// A replay that sends records back does not continue after a restore of the cluster, because its
// records may be missing there.
func TestReplayDoesNotGoOnAfterARestore(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.page("news", "http://a.test/", 1)
	for name, elsewhere := range map[string]bool{"back": false, "elsewhere": true} {
		r := &replay{Options: k.options()}
		if r.State += "." + name; !elsewhere {
			r.Writer = nil
		}
		var err error
		r.source, err = openReplayStream(t.Context(), k.bus, messages.StreamPages, &r.Choice)
		k.must(err)
		_, err = r.planned(t.Context())
		k.must(err)
		_, err = r.planned(t.Context())
		k.must(err)
		k.must(k.bus.Eras.Begin(t.Context()))
		_, err = r.planned(t.Context())
		if refused := err != nil && strings.Contains(err.Error(), "was restored"); refused == elsewhere {
			t.Errorf("%s: goes on after a restore with %v", name, err)
		}
	}
}
