package crawl

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"seine/internal/output/rows"
)

func TestDatabaseThatIsAwayIsSaidAtTheEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	away := newAwayLog(slog.NewTextHandler(&out, nil))
	log := slog.New(away).With("stage", "writer")
	log.Warn("cannot write", "error", fmt.Errorf("commit: %w", rows.ErrAway))
	log.Warn("cannot see", "error", errors.New("of another kind"))
	if said := out.String(); strings.Contains(said, "cannot write") || !strings.Contains(said, "cannot see") {
		t.Errorf("said at once:\n%s", said)
	}
	away.held.say()
	away.held.say()
	if said := out.String(); strings.Count(said, "cannot write") != 1 || strings.Count(said, "stage=writer") != 2 {
		t.Errorf("said at the end:\n%s", said)
	}
}
