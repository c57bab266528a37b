package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jsm.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/filelock"
	"seine/internal/base/version"
	"seine/internal/run/works"
	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// ErrInUse is returned if another process writes a backup to the same directory.
var ErrInUse = errors.New("another backup is being made there")

// Backup copies the cluster of Bus into Dir.
type Backup struct {
	Bus *stages.Bus
	// Dir is the directory of the backup. Run creates it, and refuses one that is not empty.
	Dir string
	// Progress is called at each step.
	Progress Progress
}

// Run writes the backup. Until it is complete, its directory is Dir with unfinishedSuffix. The next
// backup to Dir removes such a directory of a killed process.
func (b *Backup) Run(ctx context.Context) (*Manifest, error) {
	if _, err := b.Bus.Existing(ctx); err != nil {
		return nil, fmt.Errorf("no Seine streams: %w", err)
	}
	dir := filepath.Clean(b.Dir) + unfinishedSuffix
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	lock, err := filelock.Take(dir + ".lock")
	switch {
	case errors.Is(err, filelock.ErrTaken):
		return nil, fmt.Errorf("--to %s: %w: wait until it has ended, or name another folder", b.Dir, ErrInUse)
	case err != nil:
		return nil, fmt.Errorf("--to: %w", err)
	}
	defer lock.Close()
	m := &Manifest{V: format, Version: version.Current().Version, Began: time.Now().UTC()}
	if err := works.Do(ctx, b.Bus, works.Backup, func(ctx context.Context) error { return b.copyAll(ctx, dir, m) }); err != nil {
		return nil, err
	}
	m.Ended = time.Now().UTC()
	if err := m.write(dir); err != nil {
		return nil, err
	}
	if err := os.Rename(dir, b.Dir); err != nil {
		return nil, fmt.Errorf("name the backup: %w", err)
	}
	_ = os.Remove(lock.Name()) // a process that waits for the lock finds Dir occupied
	return m, nil
}

const unfinishedSuffix = ".unfinished"

// makeDir creates the directory to write to.
func (b *Backup) makeDir(dir string) error {
	entries, err := os.ReadDir(b.Dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--to: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--to %s: has something in it: name a folder that is empty, or that does not exist", b.Dir)
	case err == nil:
		if err := os.Remove(b.Dir); err != nil {
			return fmt.Errorf("--to: %w", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder of an interrupted backup: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "snapshots"), 0o700); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	return nil
}

// copyAll copies the cluster to dir, which it creates.
func (b *Backup) copyAll(ctx context.Context, dir string, m *Manifest) error {
	if err := b.makeDir(dir); err != nil {
		return err
	}
	var err error
	if m.Layout, err = b.Bus.Existing(ctx); err != nil {
		return err
	}
	if err := b.copySnapshots(ctx, dir, m); err != nil {
		return err
	}
	all, err := streams(ctx, b.Bus)
	if err != nil {
		return err
	}
	manager, err := jsm.New(b.Bus.NC, jsm.WithAPIPrefix(b.Bus.Prefix))
	if err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	for _, name := range all {
		b.Progress.report("copying %s", name)
		is, err := b.Bus.JS.Stream(ctx, name)
		if err != nil {
			return fmt.Errorf("inspect stream %s: %w", name, err)
		}
		if name == snapshotsStream { // its objects are copied one by one: a snapshot by the server could catch them half replaced
			m.Bucket = &is.CachedInfo().Config
			continue
		}
		s, err := b.copyStream(ctx, manager, dir, is)
		if err != nil {
			return err
		}
		m.Streams = append(m.Streams, s)
	}
	return nil
}

// copyStream records the acknowledgements of a stream's consumers and then has the server send the
// stream.
func (b *Backup) copyStream(ctx context.Context, manager *jsm.Manager, dir string, is jetstream.Stream) (Stream, error) {
	info := is.CachedInfo()
	name := info.Config.Name
	s, err := manager.LoadStream(name)
	if err != nil {
		return Stream{}, fmt.Errorf("open stream %s: %w", name, err)
	}
	consumers, err := durableConsumers(ctx, b.Bus, name)
	if err != nil {
		return Stream{}, err
	}
	if _, err := s.SnapshotToDirectory(ctx, streamDir(dir, name)); err != nil {
		return Stream{}, fmt.Errorf("copy stream %s: %w", name, err)
	}
	return Stream{Consumers: consumers, Name: name, Messages: info.State.Msgs, Bytes: info.State.Bytes, LastSeq: info.State.LastSeq, Made: jsclient.Made(info)}, nil
}

// copySnapshots copies the newest snapshot of each partition.
func (b *Backup) copySnapshots(ctx context.Context, dir string, m *Manifest) error {
	snapshots := partition.NewSnapshots(b.Bus)
	for p := range m.Layout.Partitions {
		b.Progress.report("copying the state of partition %d of %d", p+1, m.Layout.Partitions)
		snap, found, err := b.copySnapshot(ctx, snapshots, snapshotFile(dir, p), p)
		if err != nil {
			return err
		}
		if found {
			m.Snapshots = append(m.Snapshots, snap)
			continue
		}
		if err := b.needsNoSnapshot(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// copyTries bounds the attempts to copy a snapshot that a newer one replaces meanwhile.
const copyTries = 10

func (b *Backup) copySnapshot(ctx context.Context, snapshots *partition.Snapshots, file string, p int) (snap partition.Snapshot, found bool, err error) {
	for range copyTries {
		if snap, found, err = snapshots.Newest(ctx, p); err != nil || !found {
			return snap, found, err
		}
		if err = saveSnapshot(ctx, snapshots, snap, file); !errors.Is(err, partition.ErrSnapshotGone) {
			return snap, true, err
		}
	}
	return snap, true, err
}

func saveSnapshot(ctx context.Context, snapshots *partition.Snapshots, snap partition.Snapshot, file string) error {
	r, err := snapshots.Open(ctx, snap)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := os.OpenFile(filepath.Clean(file), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("copy the state of partition %d: %w", snap.Partition, err)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("copy the state of partition %d: %w", snap.Partition, err)
	}
	return nil
}

// needsNoSnapshot returns an error unless the streams still hold every message of the partition.
func (b *Backup) needsNoSnapshot(ctx context.Context, p int) error {
	for _, name := range []string{messages.StreamURLs, messages.StreamResults} {
		s, err := b.Bus.JS.Stream(ctx, name)
		if err != nil {
			return fmt.Errorf("inspect stream %s: %w", name, err)
		}
		if first := s.CachedInfo().State.FirstSeq; first > 1 {
			return fmt.Errorf("partition %d has no snapshot, and %s does not have its beginning any more: let the frontiers make snapshots (--snapshot-every), or stop them and copy --state", p, name)
		}
	}
	return nil
}
