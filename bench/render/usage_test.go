package main

import (
	"os/exec"
	"testing"
	"time"

	"seine/pkg/messages"
)

func TestProcessesAreReadWithThoseThatTheyHaveSeenEnd(t *testing.T) {
	p, reaped := parseStat([]byte("7 (a (strange) name) S 5 7 7 0 -1 0 0 0 0 0 100 50 30 20 20 0 1 0"))
	if p.parent != 5 || reaped != 0.5 || p.cpu != 2 {
		t.Errorf("%+v, reaped %g", p, reaped)
	}
}

func TestTreeHasTheProcessesThatThisOneHasStarted(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	living, _, err := processTree()
	if err != nil {
		t.Skip(err) // it is not Linux
	}
	for _, p := range living {
		if p.id == cmd.Process.Pid {
			return
		}
	}
	t.Errorf("process %d is not among %+v", cmd.Process.Pid, living)
}

func TestCrawlIsCountedByItsRequests(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	result := func(path string, second int, class messages.Class, rendered string) messages.Result {
		return messages.Result{
			URL: "http://shop" + path, Started: at.Add(time.Duration(second) * time.Second), Class: class, Rendered: rendered,
			Timings: messages.Timings{Total: messages.Millis(time.Second)},
		}
	}
	var got crawled
	got.count([]messages.Result{
		result("/shop/2/1", 0, messages.OK, ""), result("/static/1", 2, messages.OK, "a sample"), result("/static/2", 5, messages.OK, ""),
		result("/app/1", 6, messages.OK, "an empty shell"), result("/leaf/app-1", 8, messages.OK, ""), result("/lost", 9, messages.Gone, ""),
	})
	want := crawled{asking: 10, statics: 4, pages: 5, leaves: 1, rendered: 2, samples: 1}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
