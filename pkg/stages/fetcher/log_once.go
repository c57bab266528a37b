package fetcher

import "seine/internal/base/recent"

// loggedOnce remembers what was logged, within bounds. What it forgets is logged again.
type loggedOnce struct{ keys recent.Cache[string, bool] }

const maxTold = 1 << 15

func newLoggedOnce() *loggedOnce { return &loggedOnce{recent.Cache[string, bool]{Most: maxTold}} }

// has reports whether a key was logged.
func (o *loggedOnce) has(key string) bool {
	_, told := o.keys.Get(key)
	return told
}

func (o *loggedOnce) add(key string) { o.keys.Put(key, true) }
