package main

import (
	"os"
	"strings"
	"testing"

	"seine/internal/base/procfs"
	"seine/pkg/messages"
)

// A process is sent a signal only if it is one of the browser that the fault is for.
func TestFaultsOfBrowsersSpareOthers(t *testing.T) {
	self := os.Getpid()
	for name, p := range map[string]*held{
		"another group": hold(self, procfs.GroupOf(self)+1), "no process": hold(0, procfs.GroupOf(self)), "no browser": hold(self, 0),
	} {
		if p != nil {
			t.Errorf("%s: it would be sent signals", name)
		}
	}
	if hold(self, procfs.GroupOf(self)) == nil {
		t.Error("a process of the group is not held")
	}
}

// Without renderers the soak has the faults that it had, in their order; with them, those of renderers and browsers as well.
func TestFaultsOfBrowsersAreThoseOfRenderers(t *testing.T) {
	for renderers, want := range map[int]int{0: 0, 1: 7} {
		o := options{Renderers: renderers}
		r := &testbed{roles: rolesOf(o), counts: map[string]int{messages.StageRenderer: renderers}, disks: map[string]*disk{"out": {}}}
		all, err := faultsLike(r, "")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range all {
			if strings.Contains(f.kind, messages.StageRenderer) || strings.Contains(f.kind, "browser") {
				n++
			}
		}
		if n != want {
			t.Errorf("%d renderers: %d faults of them", renderers, n)
		}
	}
}
