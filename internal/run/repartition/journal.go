package repartition

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/jsclient"
	"seine/pkg/stages/partition"
)

// Phases of a journal.
const (
	phaseCopy   = "copy"   // nothing of the cluster has changed
	phaseSwitch = "switch" // what is new is whole, and takes the place of what is old
)

// journal is how far a change has come, as it is stored in BucketMeta.
type journal struct {
	ID    string    `json:"id"`
	From  int       `json:"from"`
	To    int       `json:"to"`
	Phase string    `json:"phase"`
	Began time.Time `json:"began"`
	// Snapshots are those of the new partitions, in order; Ends the last messages of the
	// streams under the old number. Both are there from phaseSwitch on.
	Snapshots []partition.Snapshot         `json:"snapshots,omitempty"`
	Ends      map[string]messages.Position `json:"ends,omitempty"`

	revision uint64
}

// store is what the new partitions are bound to: no store has that name, so each is taken over
// with its snapshot.
func (j *journal) store() string { return "repartition-" + j.ID }

// readJournal returns the change that was begun, nil if none was.
func readJournal(ctx context.Context, b *stages.Bus) (*journal, error) {
	text, rev, err := b.ReadKey(ctx, messages.BucketMeta, messages.KeyRepartition)
	if err != nil || rev == 0 {
		return nil, err //nolint:wrapcheck // says all
	}
	j := &journal{revision: rev}
	if err := jsontext.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("decode %s of %s: %w", messages.KeyRepartition, messages.BucketMeta, err)
	}
	return j, nil
}

// save stores it in place of what was read.
func (j *journal) save(ctx context.Context, b *stages.Bus) error {
	text, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("encode how far the change has come: %w", err)
	}
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	if j.revision, err = jsclient.Swap(ctx, kv, messages.KeyRepartition, text, j.revision); err != nil {
		return fmt.Errorf("note how far the change has come: %w", err)
	}
	return nil
}

// remove removes it.
func (j *journal) remove(ctx context.Context, b *stages.Bus) error {
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	if err == nil {
		err = kv.Purge(ctx, messages.KeyRepartition)
	}
	if err != nil {
		return fmt.Errorf("remove how far the change has come: %w", err)
	}
	return nil
}
