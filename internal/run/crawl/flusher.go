package crawl

import (
	"context"
	"sync"
	"time"

	"seine/pkg/stages/writer"
)

// Flusher commits the open files of a running crawl. The zero value is ready to use.
type Flusher struct {
	mu      sync.Mutex
	writers []*writer.Writer // nil while no crawl runs
	last    time.Time
}

// flushEvery is the least time between two flushes, because each flush creates files.
const flushEvery = 10 * time.Second

// Flush commits all records that the writers have read. It returns when they are committed or ctx
// is done, and does nothing within flushEvery of the last flush.
func (f *Flusher) Flush(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.last) >= flushEvery {
		f.last = now
		flush(ctx, f.writers)
	}
}

// flush commits all records that the writers have read. It returns when they are committed or ctx
// is done.
func flush(ctx context.Context, writers []*writer.Writer) {
	for _, w := range writers {
		w.Flush()(ctx)
	}
}

// follow sets the writers that f flushes.
func (f *Flusher) follow(writers []*writer.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writers = writers
}
