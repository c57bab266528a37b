package stages

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Troubles are the NATS objects that a process currently cannot use. Ready reports those that
// persist. It is safe for concurrent use.
type Troubles struct {
	mu sync.Mutex
	of map[string][2]error // the last two in a row
}

// Note records the trouble with an object, nil for none.
func (t *Troubles) Note(object string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		delete(t.of, object)
		return
	}
	if t.of == nil {
		t.of = make(map[string][2]error)
	}
	t.of[object] = [2]error{t.of[object][1], err}
}

// Err returns the troubles that were noted twice in a row for an object, nil if there are none.
func (t *Troubles) Err() (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, object := range slices.Sorted(maps.Keys(t.of)) {
		if last := t.of[object]; last[0] != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", object, last[1]))
		}
	}
	return err
}
