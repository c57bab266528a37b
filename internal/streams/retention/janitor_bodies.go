package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// sweepBodies deletes large bodies that have been read, the oldest first, by the same budget. A
// body stays, whatever its age, until all durable consumers of PAGES are past its message. It also
// marks or removes bodies that have had no message for long.
func (j *Janitor) sweepBodies(ctx context.Context) error {
	s, err := j.bodies(ctx)
	if err != nil || len(s.chunks) == 0 {
		return err
	}
	excess := float64(s.bytes) - float64(j.BodiesBytes)*j.KeepShare
	for _, b := range s.objects {
		if page, ok := markOf(b); !ok || s.read < page {
			continue
		}
		if excess <= 0 && j.now().Sub(b.ModTime) < j.KeepAge {
			continue
		}
		// Delete would leave a permanent marker.
		if err := s.box.Remove(ctx, b.Name, b.NUID); err != nil {
			return err
		}
		excess -= float64(b.Size)
	}
	return j.sweepOrphans(ctx, s)
}

// bodiesSeen describes BucketBodies and how far PAGES is read, in one round of the janitor.
type bodiesSeen struct {
	box     *jsclient.ObjectBucket
	store   jetstream.ObjectStore
	objects []*jetstream.ObjectInfo // oldest first, by the last change of each
	chunks  map[string]uint64       // number of chunks by subject, of an object or an upload
	bytes   uint64
	// read is the sequence up to which all durable consumers have read PAGES, last the end of
	// PAGES.
	read, last uint64
}

// bodies lists the bodies. It reports nothing of PAGES as read until the required consumers exist.
func (j *Janitor) bodies(ctx context.Context) (s bodiesSeen, err error) {
	if s.box, err = j.Bus.ObjectBox(ctx, messages.BucketBodies); err != nil {
		return s, err
	}
	if s.box.Stream.CachedInfo().State.Msgs == 0 {
		return s, nil
	}
	// List the objects before the chunks: chunks of an incomplete object belong to an upload.
	if s.store, err = j.Bus.JS.ObjectStore(ctx, messages.BucketBodies); err != nil {
		return s, fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
	}
	if s.objects, err = s.store.List(ctx); err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return s, fmt.Errorf("list object store %s: %w", messages.BucketBodies, err)
	}
	slices.SortFunc(s.objects, func(a, b *jetstream.ObjectInfo) int { return a.ModTime.Compare(b.ModTime) })
	info, err := s.box.Stream.Info(ctx, jetstream.WithSubjectFilter(s.box.ChunkSubjects()+">"))
	if err != nil {
		return s, fmt.Errorf("list chunks of object store %s: %w", messages.BucketBodies, err)
	}
	s.chunks, s.bytes = info.State.Subjects, info.State.Bytes
	pages, err := j.Bus.JS.Stream(ctx, messages.StreamPages)
	if err != nil {
		return s, fmt.Errorf("inspect stream %s: %w", messages.StreamPages, err)
	}
	s.last = pages.CachedInfo().State.LastSeq
	read, _, n, err := j.minAckFloor(ctx, messages.StreamPages, s.last)
	if n >= j.Streams[messages.StreamPages] {
		s.read = read
	}
	return s, err
}

// looseAge is how long a body may be without a page, and an upload without another chunk, before it
// is removed. It counts while the readers of PAGES are past the end of PAGES at the first sighting:
// by then, a fetcher that has stored a body, and waits for room for its page, has found some. The
// age of a body counts from its storage by the server, of which this process must watch it for a
// fifteenth. Otherwise no body would ever be removed where frontiers restart often.
const looseAge = 15 * time.Minute

// orphanBody is the janitor's record of a body whose page was not read, or of chunks without an
// object.
type orphanBody struct {
	since  time.Time
	last   uint64 // end of PAGES when it was first seen like this
	chunks uint64
}

// sweepOrphans marks bodies without a mark: their fetcher died after it had stored the body, and
// its request was repeated. It removes the chunks of uploads that ended with their fetcher.
func (j *Janitor) sweepOrphans(ctx context.Context, s bodiesSeen) error {
	was, now := j.loose, make(map[string]orphanBody)
	j.loose = now
	// seen reports whether this process has seen the key as an orphan for long enough.
	seen := func(key string, chunks uint64, enough time.Duration) bool {
		l, known := was[key]
		known = known && l.chunks == chunks
		switch {
		case !known:
			l = orphanBody{j.now(), s.last, chunks}
		case l.last > s.read:
			l.since = j.now()
		}
		now[key] = l
		return known && l.last <= s.read && j.now().Sub(l.since) >= enough
	}
	whole := make(map[string]bool, len(s.objects))
	for _, o := range s.objects {
		whole[o.NUID] = true
		// A mark beyond the stream's end belongs to a stream that was re-created, unless the node
		// that reported the end is cut off and no longer the leader.
		if page, ok := markOf(o); ok && page <= s.last || !seen(o.Name, uint64(o.Chunks), j.looseAge/15) || j.now().Sub(o.ModTime) < j.looseAge {
			continue
		}
		if err := markBody(ctx, s.store, o.Name, s.last); err != nil {
			return err
		}
		j.Log.Info("no page has a large body, it need not stay", "object", o.Name, "bytes", o.Size)
	}
	for subject, n := range s.chunks {
		if whole[strings.TrimPrefix(subject, s.box.ChunkSubjects())] || !seen(subject, n, j.looseAge) {
			continue
		}
		if err := s.box.Stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return fmt.Errorf("remove the rest of an upload: %w", err)
		}
		j.Log.Info("removed the rest of an aborted upload of a large body", "chunks", n)
	}
	return nil
}

// markOf returns the sequence in PAGES of the message that names a body.
func markOf(o *jetstream.ObjectInfo) (page uint64, ok bool) {
	page, err := strconv.ParseUint(o.Metadata[messages.BodyPage], 10, 64)
	return page, err == nil
}

// MarkBody marks a body of BucketBodies with the sequence in PAGES of the message that names it, so that the janitor
// may delete the body when all consumers have read the message. It returns nil if the body was deleted already.
func MarkBody(ctx context.Context, b *stages.Bus, name string, page uint64) error {
	store, err := b.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		return fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
	}
	return markBody(ctx, store, name, page)
}

func markBody(ctx context.Context, store jetstream.ObjectStore, name string, page uint64) error {
	info, err := store.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark body %s: %w", name, err)
	}
	meta := info.ObjectMeta
	if meta.Metadata == nil {
		meta.Metadata = make(map[string]string)
	}
	meta.Metadata[messages.BodyPage] = strconv.FormatUint(page, 10)
	if err := store.UpdateMeta(ctx, name, meta); err != nil && !errors.Is(err, jetstream.ErrUpdateMetaDeleted) {
		return fmt.Errorf("mark body %s: %w", name, err)
	}
	return nil
}
