package writer

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
)

const (
	// manifestEvery is how often manifests are stored of crawls of which
	// something was committed.
	manifestEvery = 5 * time.Minute
	// manifestShare is how many times longer than it takes to store them the
	// writer waits at least before it does so again.
	manifestShare = 50
)

// manifests keeps the manifests of what this process commits. They are copies of
// the log: when one cannot be stored, the output is as good.
type manifests struct {
	w     *Writer
	mu    sync.Mutex // of made and kinds
	made  *output.Manifests
	kinds map[string][]format.Column // of all files that made has read
	store output.ManifestStore
	// compared is set once it is known which manifests a process that was killed
	// left without its last commits.
	compared bool
}

// openManifests returns nil for a place that keeps none.
func (w *Writer) openManifests() (*manifests, error) {
	log, hasLog := w.sink.(output.Log)
	store, keeps := w.sink.(output.ManifestStore)
	if !hasLog || !keeps {
		return nil, nil
	}
	made, err := output.NewManifests(log, w.cfg.Name, w.cfg.State)
	if err != nil {
		return nil, err
	}
	m := &manifests{w: w, made: made, store: store, kinds: make(map[string][]format.Column)}
	made.Each = func(f *output.File) { m.kinds[f.Kind] = format.Union(m.kinds[f.Kind], format.ColumnsNamed(f.Columns)) }
	return m, nil
}

// close lets go of the file.
func (m *manifests) close() error {
	if m == nil {
		return nil
	}
	return m.made.Close()
}

// columns returns those of all committed files, by kind, unless stop returns an error meanwhile.
func (m *manifests) columns(stop func() error) (map[string][]format.Column, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.made.Update(stop)
	return maps.Clone(m.kinds), err
}

// keep stores manifests now and then until ctx is done, and once more when the
// partitions are abandoned, unless soon is done before.
func (m *manifests) keep(ctx, soon context.Context) {
	if m == nil {
		<-ctx.Done()
		return
	}
	defer func() { _ = m.close() }()
	for wait := m.w.manifestEvery; ; {
		select {
		case <-ctx.Done():
			m.storeAll(soon, m.w.Err() == nil)
			return
		case <-time.After(wait):
		}
		began := time.Now()
		m.storeAll(ctx, false)
		wait = max(m.w.manifestEvery, manifestShare*time.Since(began))
	}
}

// storeAll stores the manifest of every crawl of which something was committed
// since the last time, and, the first time, of those whose last commits were made
// by a process that was killed. Several processes may; the last one has read what
// the others committed. Only at the end a crawl can be complete.
func (m *manifests) storeAll(ctx context.Context, end bool) {
	crawls, complete := m.w.takeUnlisted(end)
	if len(crawls) == 0 && m.compared {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.made.Update(ctx.Err)
	if err == nil && !m.compared {
		crawls, m.compared = append(crawls, m.made.Outdated(m.store)...), true
		slices.Sort(crawls)
		crawls = slices.Compact(crawls)
	}
	for _, crawl := range crawls {
		if err == nil {
			err = m.made.Store(m.store, crawl, complete[crawl])
		}
	}
	if err != nil {
		m.w.log.Warn("cannot store the manifest: seine manifest makes it at any time", "crawls", crawls, "error", err)
		m.w.unlist(crawls...)
	}
}

// takeUnlisted returns the crawls whose manifests are older than their commits,
// and at the end those that are complete, too.
func (w *Writer) takeUnlisted(end bool) (crawls []string, complete map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if end {
		complete = w.complete
		maps.Copy(w.staleManifests, complete)
	}
	crawls = slices.Sorted(maps.Keys(w.staleManifests))
	clear(w.staleManifests)
	return crawls, complete
}

func (w *Writer) unlist(crawls ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, crawl := range crawls {
		w.staleManifests[crawl] = true
	}
}

// MarkComplete says that a crawl has ended, and that every record of it was read: its
// manifest is marked complete once Run has committed them and ends.
func (w *Writer) MarkComplete(crawl string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complete[crawl] = true
}
