//go:build linux

package main

import (
	"os"
	"sync"
)

// lose ends all processes of a machine at once, as a loss of power does, and removes its disk. A new one is in its place, in which
// nothing runs yet.
func (t *testbed) lose(machine string) error {
	var killed sync.WaitGroup
	for _, p := range t.on[machine] {
		killed.Go(p.Kill)
	}
	killed.Wait()
	if err := os.RemoveAll(t.disk(machine)); err != nil {
		return err
	}
	return t.network.Renew(t.hosts[machine])
}
