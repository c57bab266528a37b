package output

import (
	"context"
	"time"

	"seine/pkg/messages"
)

// Binding says what the name of a writer stands for: a second place or form under one name would get some of the partitions, and each
// would have a part of the output. It is a key of messages.BucketMeta, made by the first writer of the name and changed by
// compare-and-set.
type Binding struct {
	V     int       `json:"v"`
	Place string    `json:"place"` // the name of the place
	Out   string    `json:"out"`   // as the first writer was given it, for a person; without secrets
	Host  string    `json:"host"`  // of that writer
	Since time.Time `json:"since"`
	From  string    `json:"from"`
	Form            // of files; for whom they are encrypted is each writer's own: recipients come and go
}

// ReadBinding returns what the name of a writer is bound to, and the revision of that; nil and 0 if to nothing.
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
