package alerts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Store stores the states of crawls in BucketMeta.
type Store struct {
	bus *stages.Bus
	kv  jetstream.KeyValue
}

// OpenStore returns the store of a cluster.
func OpenStore(ctx context.Context, b *stages.Bus) (*Store, error) {
	kv, err := b.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	return &Store{b, kv}, nil
}

// ErrChanged is returned if another process has changed the state since it was read.
var ErrChanged = errors.New("the alerts of the crawl were changed by another process")

// Load returns the state of a crawl and its revision. Both are zero if there is none; an unreadable
// state is replaced by the zero state.
func (s *Store) Load(ctx context.Context, crawl string) (State, uint64, error) {
	var st State
	text, rev, err := s.bus.ReadKey(ctx, messages.BucketMeta, messages.KeyAlerts(crawl))
	if err != nil {
		return st, 0, fmt.Errorf("read the alerts of crawl %s: %w", crawl, err)
	}
	if rev != 0 && (jsontext.Unmarshal(text, &st) != nil || st.V != 1) {
		st = State{} // of another build; evaluation finds its alerts again
	}
	return st, rev, nil
}

// Names returns the crawls with a stored state.
func (s *Store) Names(ctx context.Context) ([]string, error) {
	before := "$KV." + messages.BucketMeta + "." + messages.KeyAlerts("")
	state, err := stages.Subjects(ctx, s.bus, "KV_"+messages.BucketMeta, before+">")
	var names []string
	for subject := range state.Subjects {
		names = append(names, strings.TrimPrefix(subject, before))
	}
	slices.Sort(names)
	return names, err
}

// Save replaces the given revision of a crawl's state, and returns the new revision.
func (s *Store) Save(ctx context.Context, crawl string, st *State, rev uint64) (uint64, error) {
	rev, err := jsclient.Swap(ctx, s.kv, messages.KeyAlerts(crawl), messages.Encode(st), rev)
	if jsclient.IsConflict(err) {
		return 0, ErrChanged
	}
	if err != nil {
		return 0, fmt.Errorf("store the alerts of crawl %s: %w", crawl, err)
	}
	return rev, nil
}
