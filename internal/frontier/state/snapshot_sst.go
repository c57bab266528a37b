package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"

	"seine/internal/frontier/table"
)

// Format is the version of a partition's keys and values.
const Format = 1

// View is a partition's state at the end of a turn, as long as it is open.
type View struct {
	store     *Store
	partition int
	snapshot  *pebble.Snapshot
}

// View opens a view of the current state.
func (s *Store) View(partition int) *View {
	return &View{s, partition, s.db.NewSnapshot()}
}

// Close closes the view.
func (v *View) Close() { _ = v.snapshot.Close() }

// Write writes the state as one SSTable.
func (v *View) Write(w io.Writer) (err error) {
	o := v.store.options.MakeWriterOptions(6, v.store.db.TableFormat())
	o.Compression = block.FastestCompression
	t := sstable.NewWriter(&writable{w: w}, o)
	defer func() {
		if cerr := t.Close(); err == nil {
			err = cerr
		}
	}()
	return table.Scan(v.snapshot, table.Partition(v.partition), nil, func(key, value []byte) (bool, error) {
		return true, t.Set(key, value)
	})
}

// writable adapts a writer for an SSTable.
type writable struct{ w io.Writer }

func (w *writable) Write(p []byte) error { _, err := w.w.Write(p); return err }
func (w *writable) Finish() error        { return nil }
func (w *writable) Abort()               {}

// Replace atomically replaces a partition's state with an SSTable written by Write. A nil reader
// clears the partition.
func (s *Store) Replace(ctx context.Context, partition int, r io.Reader) error {
	span := pebble.KeyRange{Start: table.Partition(partition), End: table.Partition(partition + 1)}
	if r == nil {
		if err := s.db.Excise(ctx, span); err != nil {
			return fmt.Errorf("clear partition %d: %w", partition, err)
		}
		return nil
	}
	path, err := s.receive(partition, r)
	if err != nil {
		return fmt.Errorf("receive snapshot of partition %d: %w", partition, err)
	}
	defer func() { _ = os.Remove(path) }()
	if _, err := s.db.IngestAndExcise(ctx, []string{path}, nil, nil, span); err != nil {
		return fmt.Errorf("load snapshot of partition %d: %w", partition, err)
	}
	return nil
}

// receive writes an SSTable to a file beside the store, which links it.
func (s *Store) receive(partition int, r io.Reader) (path string, err error) {
	path = filepath.Join(s.dir, fmt.Sprintf("incoming-%d", partition))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, r)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
		return "", err
	}
	return path, nil
}
