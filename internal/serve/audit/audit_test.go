package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func add(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		if err := l.Add(Entry{Who: "somebody", Method: "POST", Path: fmt.Sprint("/", i), Status: 200}); err != nil {
			t.Error(err)
		}
	}
}

func ids(t *testing.T, l *Log, before uint64, most int) string {
	t.Helper()
	all, err := l.Newest(before, most)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprint(e.ID))
	}
	return strings.Join(out, " ")
}

// Entries are read back in pages, the last first, also by the next process.
func TestEntriesAreReadBackByPage(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	add(t, l, 7)
	if got := ids(t, l, 0, 3); got != "7 6 5" {
		t.Errorf("the first page is %s", got)
	}
	_ = l.Close()
	l = open(t, dir)
	add(t, l, 1)
	for before, want := range map[uint64]string{0: "8 7 6", 6: "5 4 3", 3: "2 1", 1: ""} {
		if got := ids(t, l, before, 3); got != want {
			t.Errorf("before %d: %q, want %q", before, got, want)
		}
	}
}

// The log is bounded and keeps the last entries.
func TestLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.max = 2000
	add(t, l, 200)
	total := int64(0)
	for _, name := range []string{current, older} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 3*l.max {
		t.Errorf("the files have %d bytes, of %d each at most", total, l.max)
	}
	if got := ids(t, l, 0, 3); got != "200 199 198" {
		t.Errorf("the last are %s", got)
	}
}

// A line that a crash cut off is skipped, and the next entry begins on a new line.
func TestTornLineIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	add(t, l, 2)
	f, err := os.OpenFile(filepath.Join(dir, current), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"id":9,"who":"so`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	l = open(t, dir)
	add(t, l, 1)
	if got := ids(t, l, 0, 9); got != "3 2 1" {
		t.Errorf("there are %s", got)
	}
}

// Texts from clients are truncated and stay on one line.
func TestTextsOfClientsAreBounded(t *testing.T) {
	l := open(t, t.TempDir())
	long := strings.Repeat("x\n", 100_000)
	if err := l.Add(Entry{Path: long, Reason: long, Request: long}); err != nil {
		t.Fatal(err)
	}
	all, err := l.Newest(0, 2)
	if err != nil || len(all) != 1 || len(all[0].Path) > 4<<10 {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

// Several processes can add to one log at the same time, even while it begins a new file: each
// entry has a unique ID, and all processes read all entries.
func TestProcessesShareALog(t *testing.T) {
	dir := t.TempDir()
	logs := []*Log{open(t, dir), open(t, dir), open(t, dir)}
	add(t, logs[0], 1)
	add(t, logs[1], 1)
	add(t, logs[0], 1)
	for _, l := range logs {
		if got := ids(t, l, 0, 9); got != "3 2 1" {
			t.Errorf("there are %s", got)
		}
		l.max = 2000
	}
	var adders sync.WaitGroup
	for _, l := range logs {
		adders.Go(func() { add(t, l, 50) })
	}
	adders.Wait()
	for _, l := range logs {
		all, err := l.Newest(0, 10)
		if err != nil || len(all) != 10 {
			t.Fatalf("%d entries, %v", len(all), err)
		}
		for i, e := range all {
			if e.ID != uint64(153-i) {
				t.Errorf("entry %d has the ID %d", i, e.ID)
			}
		}
	}
	info, err := os.Stat(filepath.Join(dir, current))
	if err != nil || info.Size() > 3*2000/2 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

// No caller evicts the entries of another by flooding the log, with or without a token.
func TestCallersDoNotEvictEachOther(t *testing.T) {
	flood := func(l *Log, n int, callers ...string) {
		for i := range n {
			if err := l.Add(Entry{Who: callers[i%len(callers)], Method: "POST", Path: "/login", Status: 401, Reason: strings.Repeat("x", 50)}); err != nil {
				t.Error(err)
			}
		}
	}
	for name, callers := range map[string][]string{"unknown": {""}, "known": {"reader"}, "several": {"", "reader", "scraper"}} {
		t.Run(name, func(t *testing.T) {
			l := open(t, t.TempDir())
			l.max = 20_000
			add(t, l, 20)
			flood(l, 1500, callers...)
			add(t, l, 10)
			flood(l, 1500, callers...)
			all, err := l.Newest(0, 100_000)
			if err != nil {
				t.Fatal(err)
			}
			count := make(map[string]int)
			for i, e := range all {
				count[e.Who]++
				if i > 0 && e.ID >= all[i-1].ID {
					t.Fatalf("entry %d comes after entry %d", e.ID, all[i-1].ID)
				}
			}
			if count["somebody"] != 30 || all[0].ID != 3030 {
				t.Errorf("entries by caller: %v, the last is %d; want 30 of somebody, 3030", count, all[0].ID)
			}
			for _, who := range callers {
				if count[who] < 5 || count[who] > 250 {
					t.Errorf("%d entries of %q", count[who], who)
				}
			}
		})
	}
}

// A crash while files are joined does not duplicate entries.
func TestCrashWhileFilesAreJoined(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	add(t, l, 20)
	text, err := l.shares()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, older), text, 0o600) // the first step of rotate
	}
	if err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	add(t, l, 1)
	if got := ids(t, l, 0, 100); got != "21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1" {
		t.Errorf("there are %s", got)
	}
}
