package render

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/browser"
	"seine/internal/testing/scriptweb"
)

// leakPages is the variable with the number of pages that TestNothingIsLeftOfManyPages shows.
const leakPages = "SEINE_LEAK_PAGES"

// Replacing browsers many times leaks nothing: no process, directory, descriptor, goroutine or
// memory. In CI the number of pages is small. For 1,000 pages, with a browser for each hundred, run
//
//	SEINE_LEAK_PAGES=1000 go test ./internal/render -run TestNothingIsLeftOfManyPages -v -timeout 30m
func TestNothingIsLeftOfManyPages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	pages := pagesToShow(t)
	w, dir := scriptweb.Start(t), browser.Folder(t)
	http.DefaultClient.CloseIdleConnections()
	before := footprintOf(dir)
	r := start(t, Config{Tabs: 4, Pages: max(20, pages/10), Dir: dir})
	showLight(t, r, w, 1, pages/5)
	early, heap := footprintOf(dir), heapInUse()
	showLight(t, r, w, pages/5+1, pages)
	late, grown := footprintOf(dir), heapInUse()-heap
	t.Logf("before: %+v; after %d pages: %+v; after %d: %+v and %d bytes more of heap", before, pages/5, early, pages, late, grown)
	if grown > 4<<20 {
		t.Errorf("from page %d to page %d the heap grows by %d bytes", pages/5, pages, grown)
	}
	if late.descriptors > early.descriptors+20 || late.goroutines > early.goroutines+40 || late.folders > 4 {
		t.Errorf("while browsers run there is more and more: %+v after %d pages, %+v after %d", early, pages/5, late, pages)
	}
	r.Close()
	await.Eventually(t, fmt.Sprintf("it is as before: %+v", before), func() bool {
		http.DefaultClient.CloseIdleConnections()
		return before.covers(footprintOf(dir))
	})
}

// pagesToShow returns the number in the variable, or a small one.
func pagesToShow(t *testing.T) int {
	t.Helper()
	text := os.Getenv(leakPages)
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 10 {
		t.Fatalf("%s=%s: must be a number from 10", leakPages, text)
	}
	return n
}

// showLight shows light pages with numbers in a range, several at a time, and checks that each has
// its text.
func showLight(t *testing.T, r *Renderer, w *scriptweb.Web, from, to int) {
	t.Helper()
	slots := make(chan struct{}, 6) // more than the number of tabs, so that some wait
	for n := from; n <= to; n++ {
		job := jobFor(t, w, scriptweb.Page{Path: fmt.Sprintf("/light/%d", n), Render: `{"until":"load"}`})
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			page, err := r.Render(t.Context(), job)
			if err != nil || !strings.Contains(string(page.HTML), scriptweb.LightText(n)) {
				t.Errorf("page %d: %v", n, err)
			}
		}()
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	w.Reset()
}

// footprint is the resources in use at a moment.
type footprint struct {
	processes   int // started by this process, including zombies
	descriptors int // of this process
	goroutines  int
	folders     int // and locks of browsers
}

func footprintOf(dir string) footprint {
	descriptors, _ := os.ReadDir("/proc/self/fd")
	folders, _ := os.ReadDir(dir)
	return footprint{len(descendants(dir)), len(descriptors), runtime.NumGoroutine(), len(folders)}
}

// covers reports whether now uses no more than f.
func (f footprint) covers(now footprint) bool {
	return now.processes <= f.processes && now.descriptors <= f.descriptors && now.goroutines <= f.goroutines && now.folders <= f.folders
}

// descendants returns the processes that this one has started, directly or indirectly, and those
// whose command line names a directory.
func descendants(folder string) map[int]bool {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	parents := make(map[int]int, len(names))
	found := make(map[int]bool)
	for _, id := range browser.Processes(folder) {
		found[id] = true
	}
	for _, name := range names {
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		text, _ := os.ReadFile(name)
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // from the state on: proc_pid_stat(5)
		if len(fields) > 1 {
			parents[id], _ = strconv.Atoi(fields[1])
		}
	}
	for id := range parents {
		for up := parents[id]; up > 1 && !found[id]; up = parents[up] {
			if up == os.Getpid() {
				found[id] = true
			}
		}
	}
	return found
}

// heapInUse returns the size of the heap after a collection, in bytes.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // also frees what finalizers released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // less than there is of memory
}
