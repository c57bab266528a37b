package httpclient

import (
	"fmt"
	"math"
)

// reservedFiles is what the process needs beside its connections: the bus, and
// in the embedded mode the whole pipeline with its store.
const reservedFiles = 256

// idleConns returns how many idle connections there is room for under the
// limit of open files. It is an error if there is none for the workers: they
// would fail one by one, and blame the hosts.
func (c Config) idleConns() (int, error) {
	limit, known := openFiles()
	if !known {
		return maxIdleConns, nil
	}
	// A name that is looked up takes one as well.
	left := limit - reservedFiles - 2*int64(c.Workers)
	if left < 0 {
		return 0, fmt.Errorf("%d workers may need %d open files, and the process may have %d: raise the limit (ulimit -n, LimitNOFILE in systemd) or lower --workers",
			c.Workers, 2*int64(c.Workers)+reservedFiles, limit)
	}
	return int(min(left, max(maxIdleConns, int64(c.Workers)), math.MaxInt32)), nil
}
