// Package slow leaves tests out of `make check`, which people wait for.
package slow

import "testing"

// Skip skips a test under -short that waits for 10 s or more: for leases that end, for
// servers that start again, or for one killed process after another. `make test` runs it.
func Skip(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes 10 s or more: make test runs it")
	}
}
