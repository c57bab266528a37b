package backup

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// order is the order in which streams are copied: see the package comment.
var order = []string{
	messages.StreamFetch, messages.StreamSeeds, messages.StreamResults, messages.StreamPages,
	messages.StreamURLs, messages.StreamRecords, messages.StreamDead, objects(messages.BucketBodies),
}

// lastOrder lists the buckets that are copied after all others. The leases come last, so that their
// sequence, from which a restore takes its epoch, is above every epoch in BucketMeta.
var lastOrder = []string{metaStream, keyValues(messages.BucketLeases)}

// The streams of buckets.
var (
	metaStream      = keyValues(messages.BucketMeta)
	snapshotsStream = objects(messages.BucketSnapshots)
)

func keyValues(bucket string) string { return "KV_" + bucket }
func objects(bucket string) string   { return "OBJ_" + bucket }

func isBucket(stream string) bool {
	return strings.HasPrefix(stream, "KV_") || strings.HasPrefix(stream, "OBJ_")
}

// isOurs reports whether a stream belongs to Seine. The account may have streams of other
// applications.
func isOurs(stream string) bool {
	return slices.Contains(order, stream) || strings.HasPrefix(stream, "KV_seine_") || strings.HasPrefix(stream, "OBJ_seine_")
}

// streams lists the existing streams of Seine in the order in which they are copied.
func streams(ctx context.Context, b *stages.Bus) (all []string, err error) {
	names := b.JS.StreamNames(ctx)
	for name := range names.Name() {
		if isOurs(name) {
			all = append(all, name)
		}
	}
	if err := names.Err(); err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return all, nil
}

func rank(stream string) int {
	if i := slices.Index(order, stream); i >= 0 {
		return i
	}
	return len(order) + 1 + slices.Index(lastOrder, stream)
}

// Directories and files of a backup.
func streamDir(dir, stream string) string { return filepath.Join(dir, "streams", stream) }
func snapshotFile(dir string, p int) string {
	return filepath.Join(dir, "snapshots", fmt.Sprintf("partition-%d", p))
}
