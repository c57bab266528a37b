package httpclient

import (
	"fmt"
	"math"
)

// reservedFiles is how many files the process needs beside its connections: for the bus, and in the
// embedded mode for the whole pipeline with its store.
const reservedFiles = 256

// idleConns returns how many idle connections fit under the limit of open files. It returns an
// error if the limit is too low for the workers: they would fail one by one, and the hosts would be
// blamed.
func (c Config) idleConns() (int, error) {
	limit, known := openFiles()
	if !known {
		return maxIdleConns, nil
	}
	// Each look-up of a name takes one as well.
	left := limit - reservedFiles - 2*int64(c.Workers)
	if left < 0 {
		return 0, fmt.Errorf("%d workers may need %d open files, and the process may have %d: raise the limit (ulimit -n, LimitNOFILE in systemd) or lower --workers",
			c.Workers, 2*int64(c.Workers)+reservedFiles, limit)
	}
	return int(min(left, max(maxIdleConns, int64(c.Workers)), math.MaxInt32)), nil
}
