// Package sleep waits, for a time or until a context ends.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or until ctx is done, and returns why.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
