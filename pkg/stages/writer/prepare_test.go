package writer

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/output/sqlite"
	"seine/pkg/messages"
)

// A writer that fails to start closes its output.
func TestWriterThatCannotBeginClosesItsOutput(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	check(t, bus.JS.DeleteKeyValue(t.Context(), messages.BucketCrawls))
	cfg := testConfig(t)
	cfg.Out = sqlite.Scheme + filepath.Join(t.TempDir(), "crawl.db")
	w, err := New(cfg, bus)
	check(t, err)
	w.cfg.Format = "csv" // has columns, so it needs the specs
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), messages.BucketCrawls) {
		t.Fatalf("without specs: %v", err)
	}
	if _, _, err := w.sink.OpenPartition(0, time.Now()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the database is still open: %v", err)
	}
}
