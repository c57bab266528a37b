// Package slow keeps slow tests out of `make check`, which developers wait for.
package slow

import "testing"

// Skip skips a test under -short that takes 10 s or more: it waits for leases to end or servers to
// restart, or kills processes one after another. `make test` runs it.
func Skip(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes 10 s or more: make test runs it")
	}
}
