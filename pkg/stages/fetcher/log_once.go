package fetcher

import (
	"fmt"

	"github.com/maypok86/otter/v2"
)

// loggedOnce remembers what was logged, within bounds. What it forgets is logged again.
type loggedOnce struct {
	keys *otter.Cache[string, bool]
}

const maxTold = 1 << 16

func newLoggedOnce() (*loggedOnce, error) {
	c, err := otter.New(&otter.Options[string, bool]{MaximumSize: maxTold})
	if err != nil {
		return nil, fmt.Errorf("create the cache of logged messages: %w", err)
	}
	return &loggedOnce{c}, nil
}

// has reports whether a key was logged.
func (o *loggedOnce) has(key string) bool {
	_, told := o.keys.GetIfPresent(key)
	return told
}

func (o *loggedOnce) add(key string) { o.keys.Set(key, true) }
