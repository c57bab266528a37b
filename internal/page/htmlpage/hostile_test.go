package htmlpage

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"seine/internal/base/cputime"
)

// everything asks for all that Scan can find.
func everything() Options {
	o := all("data-href")
	o.Headings = true
	return o
}

// allocated returns the bytes that f allocates, including freed ones.
func allocated(f func()) uint64 {
	runtime.GC() // empties the pool, so that nothing is reused
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hostilePage is a page and the maximum that Scan may allocate for it, in bytes.
type hostilePage struct {
	name, page string
	opts       Options
	most       uint64
}

func hostilePages() []hostilePage {
	var links, texts strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&links, "<a href=%d>", i)
	}
	for i := range 200_000 {
		fmt.Fprintf(&texts, "<a href=%d>x</a> <h2>y</h2>", i)
	}
	pages := []hostilePage{
		{"30 MB of text", strings.Repeat("word <b>by</b> word, ", 30<<20/20), Options{}, 8 << 20},
		{"text with everything", "<h1><a href=x>" + strings.Repeat("word &amp; ", 400_000), everything(), 8 << 20},
		{"100,000 nested tags", strings.Repeat("<div>", 100_000), everything(), 1 << 20},
		{"100,000 nested formatting tags", strings.Repeat("<b><i><a href=x>", 33_333), everything(), 1 << 20},
		{"1 million links", links.String(), Options{}, 32 << 20},
		{"200,000 links and headings with text", texts.String(), everything(), 64 << 20},
		{"200,000 of the same link", strings.Repeat("<a href=x>y</a> z", 200_000), everything(), 64 << 20},
		{"200,000 images", strings.Repeat("<img src=x srcset='a 1x, b 2x' alt=c>", 200_000), everything(), 1 << 20},
		{"200,000 candidates", "<img srcset='" + strings.Repeat("a 1x, ", 200_000) + "'>", everything(), 1 << 20},
		{"1 million attributes", "<a " + strings.Repeat("b=c ", 1_000_000) + ">", everything(), 1 << 20},
		{"10 MB attribute", "<a href='" + strings.Repeat("x&amp;y ", 10<<20/8) + "'>", everything(), 1 << 20},
		{"10 MB attribute without references", "<a href='" + strings.Repeat("x", 10<<20) + "'>", everything(), 1 << 20},
	}
	long := strings.Repeat("x&amp;y ", 2<<20/8)
	for _, markup := range []string{
		"<a rel='%s' href=x>", "<img alt='%s' src=x>", "<img srcset='%s'>", "<form action='%s'>", "<p data-href='%s'>",
		"<meta name=description content='%s'>", "<meta name=robots content='%s'>", "<meta http-equiv=refresh content='0;%s'>",
		"<link rel=canonical href='%s'>", "<base href='%s'>", "<html lang='%s'>", "<title>%s</title>", "<p title='%s'>", "<%s>", "<a %s>",
	} {
		pages = append(pages, hostilePage{"2 MB in " + markup, fmt.Sprintf(markup, long), everything(), 1 << 20})
	}
	return pages
}

// Options and the limits of the package bound Scan's allocation, not the page.
func TestHostileMemory(t *testing.T) {
	for _, tt := range hostilePages() {
		t.Run(tt.name, func(t *testing.T) {
			page := []byte(tt.page)
			used := allocated(func() {
				if _, err := Scan(page, testURL, "text/html; charset=utf-8", tt.opts); err != nil {
					t.Error(err)
				}
			})
			if used > tt.most {
				t.Errorf("%d bytes allocated for %d, more than %d", used, len(page), tt.most)
			}
		})
	}
}

// A page of eight times the length takes about eight times as long. With anything quadratic it
// would be 64 times. It is processor time, the minimum of several runs.
func TestHostileTime(t *testing.T) {
	const small, factor, most = 32 << 10, 8, 24
	for _, piece := range append(hostilePieces,
		"<img srcset='a 1x (", "<h1>", "<h1><a href=x>y", "<form action='?", "<p data-href=x>", "<svg><foreignObject>",
		"<a rel='a b c' href=x>", "a 1x, ", "<?xml ", "</a ", "<meta charset=x>", "<meta content='charset ", " <a href=&amp;x ") {
		t.Run(piece, func(t *testing.T) {
			page := bytes.Repeat([]byte(piece), factor*small/len(piece))
			part := page[:small/len(piece)*len(piece)]
			short, long := processorTime(t, part), processorTime(t, page)
			if long > most*max(short, 300*time.Microsecond) {
				t.Errorf("%d bytes take %v, %d bytes %v", len(part), short, len(page), long)
			}
		})
	}
}

func processorTime(t *testing.T, page []byte) time.Duration {
	best := time.Hour
	for range 3 {
		before := cputime.Used()
		// Without a declared encoding, to include its detection.
		if _, err := Scan(page, testURL, "", everything()); err != nil {
			t.Error(err)
		}
		best = min(best, cputime.Used()-before)
	}
	return best
}
