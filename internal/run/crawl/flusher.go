package crawl

import (
	"context"
	"sync"
	"time"

	"seine/pkg/stages/writer"
)

// Flusher has a running crawl commit what its writers hold. The zero value is ready.
type Flusher struct {
	mu      sync.Mutex
	writers []*writer.Writer // none while no crawl runs
	last    time.Time
}

// flushEvery is the least time between two flushes: each of them makes files.
const flushEvery = 10 * time.Second

// Flush waits until all that the writers have read is committed, or ctx is done. It does nothing shortly after it did.
func (f *Flusher) Flush(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.last) >= flushEvery {
		f.last = now
		flush(ctx, f.writers)
	}
}

// flush waits until all that the writers have read is committed, or ctx is done.
func flush(ctx context.Context, writers []*writer.Writer) {
	for _, w := range writers {
		w.Flush()(ctx)
	}
}

// follow has f flush these from now on.
func (f *Flusher) follow(writers []*writer.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writers = writers
}
