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
	// manifestEvery is how often the manifests of crawls with new commits are stored.
	manifestEvery = 5 * time.Minute
	// manifestShare is the least delay before the next storing, as a multiple of the time that the
	// last one took.
	manifestShare = 50
)

// manifests keeps the manifests of this process's commits. They are copies of the log: the output
// is complete without them.
type manifests struct {
	w     *Writer
	mu    sync.Mutex // of made and kinds
	made  *output.Manifests
	kinds map[string][]format.Column // of all files that made has read
	store output.ManifestStore
	// compared is set once the manifests that a killed process left outdated have been determined.
	compared bool
}

// openManifests returns nil for a destination without manifests.
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

// close closes the file.
func (m *manifests) close() error {
	if m == nil {
		return nil
	}
	return m.made.Close()
}

// columns returns the columns of all committed files by kind, unless stop returns an error
// meanwhile.
func (m *manifests) columns(stop func() error) (map[string][]format.Column, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.made.Update(stop)
	return maps.Clone(m.kinds), err
}

// keep stores manifests regularly until ctx is done, and again when the partitions are released,
// unless soon is done before.
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

// storeAll stores the manifest of every crawl with commits since the last time and, the first time,
// of those whose last commits were made by a killed process. Several processes may do so; the last
// one has read the commits of the others. A crawl can be complete only at the end.
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

// takeUnlisted returns the crawls whose manifests are older than their commits and, at the end,
// also the complete ones.
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

// MarkComplete records that a crawl has ended, and that all its records were read: its manifest is
// marked complete once Run has committed them and ends.
func (w *Writer) MarkComplete(crawl string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complete[crawl] = true
}
