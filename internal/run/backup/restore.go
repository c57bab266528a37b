package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/jsm.go"
	"github.com/nats-io/jsm.go/api"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"seine/internal/base/jsontext"
	"seine/internal/ops/procstats"
	"seine/internal/run/works"
	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Errors of Restore.
var (
	// ErrNotEmpty is returned if the server has streams of Seine.
	ErrNotEmpty = errors.New("the server has streams of Seine already")
	// ErrRunning is returned while stages run.
	ErrRunning = errors.New("processes of Seine are running")
)

// Restore creates a cluster from the backup in Dir.
type Restore struct {
	Bus *stages.Bus
	Dir string
	// Replicas is the number of replicas of streams and buckets; 0 keeps the number of the backup.
	Replicas int
	// Progress is called at each step.
	Progress Progress
}

// Check verifies the files of the backup and that it can be restored to this server. It changes
// nothing.
func (r *Restore) Check(ctx context.Context) (*Manifest, error) {
	m, err := ReadManifest(r.Dir)
	if err != nil {
		return nil, err
	}
	r.Progress.report("verifying the files of the backup")
	if err := m.Verify(r.Dir); err != nil {
		return nil, err
	}
	processes, err := procstats.Collect(ctx, r.Bus.NC)
	if err != nil {
		return nil, err
	}
	if len(processes) > 0 {
		return nil, fmt.Errorf("%w: stop %s first, and all others", ErrRunning, processes[0].Name())
	}
	have, err := streams(ctx, r.Bus)
	if err != nil {
		return nil, err
	}
	if len(have) > 0 && !slices.Contains(have, keyValues(messages.BucketRestore)) {
		return nil, notEmpty(have)
	}
	return m, nil
}

// Run restores the backup. After a kill, it starts over.
func (r *Restore) Run(ctx context.Context) (m *Manifest, err error) {
	if m, err = r.Check(ctx); err != nil {
		return nil, err
	}
	// The bucket marks a restore in progress: after a kill, the next restore may remove the
	// streams.
	config := jetstream.KeyValueConfig{
		Bucket: messages.BucketRestore, TTL: messages.LeaseTTL,
		Description: "a backup is being restored; run seine restore again if it is not",
	}
	err = r.Bus.CheckRestored(ctx)
	again := errors.Is(err, stages.ErrRestoring)
	if err != nil && !again {
		return nil, err
	}
	if _, err := r.Bus.JS.CreateOrUpdateKeyValue(ctx, config); err != nil {
		return nil, fmt.Errorf("create bucket %s: %w", config.Bucket, err)
	}
	err = works.Do(ctx, r.Bus, works.Restore, func(ctx context.Context) error { return r.restore(ctx, m, again) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// restore creates the streams. It first removes the streams of an interrupted restore.
func (r *Restore) restore(ctx context.Context, m *Manifest, again bool) error {
	have, err := streams(ctx, r.Bus)
	if err != nil {
		return err
	}
	have = slices.DeleteFunc(have, func(name string) bool { return name == keyValues(messages.BucketRestore) })
	if len(have) > 0 && !again { // a frontier has created them since Check
		return errors.Join(notEmpty(have), r.Bus.JS.DeleteKeyValue(ctx, messages.BucketRestore))
	}
	for _, name := range have {
		if err := r.Bus.JS.DeleteStream(ctx, name); err != nil {
			return fmt.Errorf("remove stream %s of an interrupted restore: %w", name, err)
		}
	}
	manager, err := jsm.New(r.Bus.NC, jsm.WithAPIPrefix(r.Bus.Prefix))
	if err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	for _, s := range m.Streams {
		if s.Name == metaStream {
			continue
		}
		if err := r.stream(ctx, manager, s.Name, s.Made); err != nil {
			return err
		}
	}
	for _, s := range m.Streams {
		if err := r.consumers(ctx, s); err != nil {
			return err
		}
	}
	return r.installSnapshots(ctx, manager, m)
}

func notEmpty(have []string) error {
	return fmt.Errorf("%w: %s: restore to a server, or an account, that has none", ErrNotEmpty, strings.Join(have, ", "))
}

// stream has the server restore a stream. The metadata of the new stream keeps the creation time of
// the original one.
func (r *Restore) stream(ctx context.Context, manager *jsm.Manager, name, made string) error {
	r.Progress.report("restoring %s", name)
	config, err := storedConfig(streamDir(r.Dir, name))
	if err != nil {
		return err
	}
	if r.Replicas > 0 {
		config.Replicas = r.Replicas
	}
	if !isBucket(name) {
		config.Metadata[jsclient.KeyMade] = made
	}
	if _, _, err := manager.RestoreSnapshotFromDirectory(ctx, name, streamDir(r.Dir, name), jsm.RestoreConfiguration(config)); err != nil {
		return fmt.Errorf("restore stream %s: %w%s", name, err, hint(err))
	}
	return nil
}

// hint returns advice for errors that the server words for its developers.
func hint(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "replicas"):
		return " (--replicas 1 restores to a single server what was in a cluster)"
	case strings.Contains(text, "insufficient storage"), strings.Contains(text, "resource limits"):
		return " (raise max_file_store of the server: streams reserve their limits)"
	}
	return ""
}

// storedConfig reads the configuration of a stream from its copy.
func storedConfig(dir string) (config api.StreamConfig, err error) {
	text, err := os.ReadFile(filepath.Join(dir, jsm.SnapshotMetaFile))
	if err != nil {
		return config, fmt.Errorf("read backup: %w", err)
	}
	var request api.JSApiStreamRestoreRequest
	if err := jsontext.Unmarshal(text, &request); err != nil {
		return config, fmt.Errorf("%w: %s: %w", ErrDamaged, dir, err)
	}
	if request.Config.Metadata == nil {
		request.Config.Metadata = make(map[string]string)
	}
	return request.Config, nil
}

// installSnapshots stores the snapshots of the partitions, and then the layout that all stages
// share, which names them. It binds the partitions to a new store ID, so that a frontier whose
// --state is newer than the backup also starts from the snapshot.
func (r *Restore) installSnapshots(ctx context.Context, manager *jsm.Manager, m *Manifest) error {
	epoch, err := r.epoch(ctx)
	if err != nil {
		return err
	}
	if err := r.createBucket(ctx, m.Bucket); err != nil {
		return err
	}
	snapshots := partition.NewSnapshots(r.Bus)
	stored := make(map[int]partition.Snapshot, len(m.Snapshots))
	for _, snap := range m.Snapshots {
		r.Progress.report("restoring the state of partition %d of %d", snap.Partition+1, m.Layout.Partitions)
		snap.Epoch = epoch
		if stored[snap.Partition], err = snapshots.Put(ctx, snap.Partition, snap, copyOf(snapshotFile(r.Dir, snap.Partition))); err != nil {
			return err
		}
	}
	if err := r.stream(ctx, manager, metaStream, ""); err != nil {
		return err
	}
	if err := r.forgetPositions(ctx, m); err != nil {
		return err
	}
	// The output may have visits that were made after the backup. A new era keeps new visits
	// distinct from them.
	if err := jsclient.RetryUnavailable(ctx, r.Bus.Eras.Begin); err != nil { // a cluster may not have elected a leader yet
		return err
	}
	r.Progress.report("installing the states")
	store := "backup-" + nuid.Next()
	for p := range m.Layout.Partitions {
		if snap, ok := stored[p]; ok {
			err = snapshots.Install(ctx, snap, store)
		} else {
			err = snapshots.Reset(ctx, p, epoch, store)
		}
		if err != nil {
			return err
		}
	}
	r.Progress.report("completing the restore")
	return nil
}

// copyOf returns a function that writes the content of a file.
func copyOf(file string) func(io.Writer) error {
	return func(w io.Writer) error {
		f, err := os.Open(filepath.Clean(file))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	}
}

// epoch returns an epoch above those of all owners: the last sequence of the bucket of leases.
func (r *Restore) epoch(ctx context.Context) (uint64, error) {
	s, err := r.Bus.JS.Stream(ctx, keyValues(messages.BucketLeases))
	if err != nil {
		return 0, fmt.Errorf("inspect bucket %s: %w", messages.BucketLeases, err)
	}
	return s.CachedInfo().State.LastSeq, nil
}

// createBucket creates the bucket of snapshots with its configuration of the backup.
func (r *Restore) createBucket(ctx context.Context, config *jetstream.StreamConfig) error {
	if config == nil {
		return nil
	}
	if r.Replicas > 0 {
		config.Replicas = r.Replicas
	}
	if _, err := r.Bus.JS.CreateStream(ctx, *config); err != nil {
		return fmt.Errorf("create bucket %s: %w%s", messages.BucketSnapshots, err, hint(err))
	}
	return nil
}
