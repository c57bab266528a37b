package output

import (
	"context"
	"time"

	"seine/pkg/messages"
)

// Binding records the destination and the layout that a writer's name is bound to. With a second
// destination or layout under one name, each would get only some of the partitions. A Binding is a
// key of messages.BucketMeta. The first writer of the name creates it, and later changes use
// compare-and-set.
type Binding struct {
	V     int       `json:"v"`
	Place string    `json:"place"` // ID of the destination
	Out   string    `json:"out"`   // --out of the first writer, for people; without secrets
	Host  string    `json:"host"`  // host of that writer
	Since time.Time `json:"since"`
	From  string    `json:"from"`
	Form            // of files; recipients are not part of it, since each writer has its own and they change
}

// ReadBinding returns the binding of a writer's name and its revision, or nil and 0 if the name is
// not bound.
func ReadBinding(ctx context.Context, keys interface {
	ReadJSON(ctx context.Context, bucket, key string, v any) (revision uint64, err error)
}, name string) (*Binding, uint64, error) {
	have := new(Binding)
	revision, err := keys.ReadJSON(ctx, messages.BucketMeta, messages.KeyWriter(name), have)
	if err != nil || revision == 0 {
		return nil, 0, err
	}
	return have, revision, nil
}
