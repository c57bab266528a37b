package document

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// numbered returns a text for each number below n.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// formats are elements that the parser opens again in each paragraph, with end tags that close none
// of them; manyAttributes is for one with thousands of attributes.
var (
	formats        = "<p>" + numbered("<b id=%d>", 480) + strings.Repeat("</i>", 480)
	manyAttributes = numbered(" a%d", 8000)
)

// heapOf returns the heap size of make's result.
func heapOf(make func() any) int {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}

// within fails if the count is below the actual size, or far above it.
func within(t *testing.T, counted, heap int) {
	t.Helper()
	const spare = 256 << 10 // of the heap, for other goroutines
	if counted < heap*95/100-spare || counted > 3*heap+spare {
		t.Errorf("counted %d KiB, on the heap are %d", counted>>10, heap>>10)
	}
}

// bombs are pages whose trees are much larger than they are, with various disguises.
var bombs = map[string]string{
	"formatting elements": formats + strings.Repeat("<p>x", 300),
	"their attributes":    "<p><b" + manyAttributes + ">" + strings.Repeat("<p>x", 100),
	"in long texts":       formats + strings.Repeat("<p>"+strings.Repeat("x>", 5000), 100),
	"in raw texts":        formats + strings.Repeat("<script>"+strings.Repeat("<p>x", 2000)+"</script><p>x", 100),
	"in foreign content":  formats + "<svg><style>" + strings.Repeat("<p>x", 300),
	"behind a style":      "<p><svg><style><p x='</style><!--'>" + numbered("<b id=%d>", 400) + strings.Repeat("<p>x", 300) + "--></svg>",
	"behind a title":      "<p><svg><title><div/></title></svg></div></title><style>" + numbered("<b id=%d>", 400) + strings.Repeat("<p>x", 300) + "</style>",
	"in a section":        "<p><svg><g></g><![CDATA[><!--]]></svg>" + numbered("<b id=%d>", 400) + strings.Repeat("<p>x", 300) + "-->",
	"in comments":         formats + strings.Repeat("<!--"+strings.Repeat("<p>x", 500)+"--><p>x", 100),
	"in attributes":       formats + strings.Repeat("<p title='"+strings.Repeat("<p>x", 500)+"'>x", 100),
	"in tables":           formats + "<table>" + strings.Repeat("<tr>x<p>", 300),
	"in cells":            "<p>" + numbered("<b id=%d>", 400) + "<table><td></b></td></table>" + strings.Repeat("<p>x", 300),
	"ended in a table":    "<p>" + numbered("<b id=%d>", 400) + "<table>" + strings.Repeat("</b>", 400) + "</table>" + strings.Repeat("<p>x", 300),
	"ended late":          numbered("<p><b id=%d><div><div><div><div><div><div><div><div><div><div></b>", 40) + strings.Repeat("</div>x<p>", 400),
	"of three":            strings.Repeat("<p><b a b c d e f g h>", 100) + strings.Repeat("<p>x", 5000),
	"links in each other": strings.Repeat("<a"+manyAttributes+">"+strings.Repeat("<div>", 10)+"</a>"+strings.Repeat("</div>", 10), 4),
	"links reopened":      strings.Repeat("<a"+manyAttributes+">"+strings.Repeat("<div>", 10)+"<a>"+strings.Repeat("</div>", 10), 4),
	"a link in SVG":       "<p><a" + manyAttributes + "><svg><a></a></svg>" + strings.Repeat("<p>x", 100),
	"adoption":            strings.Repeat("<b><i x=y><div><div><div>x</b></i></div></div></div>", 2000),
	"adoption of many":    strings.Repeat("<b><i"+numbered(" a%d", 500)+"><u><s><div><div><div>x</b>", 40),
	"attributes":          "<p" + manyAttributes + ">x<br" + manyAttributes + ">",
}

// plainPages are pages without such growth.
var plainPages = map[string]string{
	"a list":           "<ul>" + strings.Repeat("<li><a href=x><b>a</b> b</a><br>", 5000) + "</ul>",
	"cards":            strings.Repeat("<a href=x><div><h3>a</h3><p>b <em>c</em></div></a>", 5000),
	"a table":          "<table>" + strings.Repeat("<tr><td class=a>1<td>2", 5000),
	"an old page":      "<center><font size=2>" + strings.Repeat("<p><font face=arial size=1>a <b>b</b></font><hr>", 5000),
	"open anchors":     numbered("<p><a name=%d>a<p>b", 3000),
	"icons":            strings.Repeat("<svg viewBox='0 0 1 1'><title>a</title><style><![CDATA[a<b]]></style><path d='M0 0'/></svg><script>a='<b>'</script>", 2000),
	"images":           strings.Repeat("<img src=/a/b/c.png alt='some words here' width=10 height=20>", 3000),
	"a text":           strings.Repeat("lorem ipsum dolor sit amet ", 100_000),
	"comments":         strings.Repeat("<!-- c -->", 20_000),
	"empty elements":   strings.Repeat("<i></i>", 20_000),
	"scripts":          strings.Repeat("<script>x</script>", 10_000),
	"written scripts":  "<script><!-- document.write('<script src=a></script>') // --></script>" + numbered("<p><i class=i%d>a</i>", 3000),
	"unknown elements": strings.Repeat("<x-y data-z=a></x-y>", 10_000),
}

// forecastAndHeap returns the count for the tree of a page, and its actual size.
func forecastAndHeap(t *testing.T, body string) (counted, heap int) {
	t.Helper()
	f := newForecast([]byte(body), 1<<40)
	f.run()
	heap = heapOf(func() any {
		root, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
		if err != nil {
			t.Fatal(err)
		}
		return root
	})
	return 1<<40 - f.left, heap
}

// The count for a tree is at least its size, and for plain pages not much more.
func TestForecastOfTree(t *testing.T) {
	for name, body := range plainPages {
		t.Run(name, func(t *testing.T) {
			counted, heap := forecastAndHeap(t, body)
			within(t, counted, heap)
		})
	}
	for name, body := range bombs {
		t.Run(name, func(t *testing.T) {
			counted, heap := forecastAndHeap(t, body)
			t.Logf("%d KB: counted %d KiB, heap %d", len(body)>>10, counted>>10, heap>>10)
			if counted < heap*95/100 {
				t.Errorf("counted %d KiB, on the heap are %d", counted>>10, heap>>10)
			}
		})
	}
}

// Building of a tree stops at the budget, with any disguise of the growth.
func TestBombsEndWhenTheBudgetDoes(t *testing.T) {
	const budget = 16 << 20
	for name, body := range map[string]string{
		"formatting elements": formats + strings.Repeat("<p>x", 1000),
		"their attributes":    "<p><b" + manyAttributes + ">" + strings.Repeat("<p>x", 200),
		"behind a comment":    "<p><!--" + strings.Repeat("<p>", 1<<16) + "--><b" + manyAttributes + ">" + strings.Repeat("<p>x", 200),
		"behind a script":     "<p><script>" + strings.Repeat("<p>", 1<<16) + "</script>" + formats + strings.Repeat("<p>x", 1000),
		"in foreign content":  formats + "<svg><style>" + strings.Repeat("<p>x", 1000),
		"one tag":             "<p" + numbered(" a%d", 100_000),
		"many small elements": strings.Repeat("<i>x</i>", 120_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			fits := treeFits([]byte(body), budget)
			runtime.ReadMemStats(&after)
			if fits {
				t.Error("it fits")
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 3*budget {
				t.Errorf("%d MiB were allocated", made>>20)
			}
		})
	}
}

// A page that grows beyond the limit has no DOM.
func TestBombHasNoDOM(t *testing.T) {
	if _, err := doc("text/html", "<p><b"+manyAttributes+">"+strings.Repeat("<p>x", 1300)).Root(); !errors.Is(err, ErrTooBig) {
		t.Errorf("got %v", err)
	}
}

// The DOM is the same as of a parser that reads the page at once.
func TestDOMIsThatOfThePage(t *testing.T) {
	for _, body := range []string{
		"", "<", "a<", "<p", "a<b", "<p>a<b>b<p>c</b>d", "<!doctype html><title>a<b></title>", "<a href='x>y<z'>b</a>", "<script>a<b</script>c",
		"<!-- a > b -->c", "<svg><style><p>x</style>", "<table><p>a<td>b", "a &amp; b &lt", "<p>é\r\nb", "<textarea>\n<p></textarea", "a < b > c <d",
		formats[:200] + "<p>x<p>y", "<svg><![CDATA[a>b]]></svg>", "<p a=b a=c>", "<b><p></b>x",
	} {
		got, err := buildHTML([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		want, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
		if err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		if err := errors.Join(html.Render(&a, got), html.Render(&b, want)); err != nil || a.String() != b.String() {
			t.Errorf("%q: %s, want %s (%v)", body, &a, &b, err)
		}
	}
}

// The counts for values and trees match their sizes.
func TestSizesOfValues(t *testing.T) {
	for _, tt := range []struct{ name, contentType, body string }{
		{"small objects", "application/json", "[" + strings.Repeat(`{"a":1},`, 50_000) + "{}]"},
		{"empty objects", "application/json", "[" + strings.Repeat("{},", 100_000) + "{}]"},
		{"empty lists", "application/json", "[" + strings.Repeat("[],", 100_000) + "[]]"},
		{"large objects", "application/json", "[" + strings.Repeat("{"+strings.TrimSuffix(numbered(`"k%d":true,`, 40), ",")+"},", 3000) + "{}]"},
		{"one object", "application/json", "{" + strings.TrimSuffix(numbered(`"k%d":"v",`, 100_000), ",") + "}"},
		{"numbers", "application/json", "[" + strings.Repeat("1,", 200_000) + "1]"},
		{"texts", "application/json", "[" + strings.Repeat(`"some text",`, 100_000) + "1]"},
		{"a text", "application/json", `"` + strings.Repeat("x", 4<<20) + `"`},
		{"escapes", "application/json", "[" + strings.Repeat(`"\"[{,\\",`, 100_000) + "1]"},
		{"lines", "application/x-ndjson", strings.Repeat("{\"a\":1,\"b\":[2]}\n", 50_000)},
		{"rows", "text/csv", "a,b\n" + strings.Repeat("1,2\n", 50_000)},
		{"wide rows", "text/csv", numbered("c%d,", 50) + "\n" + strings.Repeat(strings.Repeat("1,", 50)+"\n", 2000)},
		{"elements", "application/xml", "<r>" + strings.Repeat("<a>x</a>", 50_000) + "</r>"},
		{"attributes", "application/xml", "<r>" + strings.Repeat("<a b='c' d='e'/>", 50_000) + "</r>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			heap := heapOf(func() any {
				d := doc(tt.contentType, tt.body)
				if strings.HasSuffix(tt.contentType, "xml") {
					root, err := d.XML()
					if err != nil {
						t.Fatal(err)
					}
					return root
				}
				v, err := d.JSON()
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
			within(t, sizeOf(t, tt.contentType, []byte(tt.body)), heap)
		})
	}
}

// sizeOf returns the count, without memory that is needed only during reading.
func sizeOf(t *testing.T, contentType string, body []byte) int {
	t.Helper()
	switch {
	case strings.HasSuffix(contentType, "xml"):
		size, _ := sizeOfXML(body)
		return size
	case contentType == "text/csv":
		size := 0
		lines := strings.Split(strings.TrimSpace(string(body)), "\n")
		columns := strings.Count(lines[0], ",") + 1
		for _, line := range lines[1:] {
			size += sizeOfRow(strings.Split(line, ","), columns)
		}
		return size
	}
	size, err := sizeOfJSON(body)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// A document of a few MB that became 670 MB is rejected.
func TestValuesEndWhenTheBudgetDoes(t *testing.T) {
	for _, tt := range []struct{ contentType, body string }{
		{"application/json", "[" + strings.Repeat(`{"a":1},`, 1_700_000) + "{}]"},
		{"application/x-ndjson", strings.Repeat("{\"a\":1}\n", 1_700_000)},
		{"text/csv", "a,b\n" + strings.Repeat("1,2\n", 1_000_000)},
		{"application/json", "[" + strings.Repeat("{},", 4_000_000) + "{}]"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := doc(tt.contentType, tt.body).JSON()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "256 MiB") {
			t.Errorf("%s: %v", tt.contentType, err)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 2*MaxTree {
			t.Errorf("%s: %d MiB were allocated", tt.contentType, made>>20)
		}
	}
}

// Data that a format's reader makes before it can be counted is rejected before the reader runs.
func TestFormsAreMeasuredBeforeTheirReaderMakesThem(t *testing.T) {
	for name, read := range map[string]func() error{
		"a CSV of 4 million columns": func() error { _, err := doc("text/csv", strings.Repeat(",", 4<<20)+"\n1,2\n").JSON(); return err },
		"a row of them":              func() error { _, err := doc("text/csv", "a,b\n1,2\n"+strings.Repeat(",", 4<<20)).JSON(); return err },
		"XML of attributes without values": func() error {
			_, err := doc("application/xml", "<p "+strings.Repeat("a ", 4<<20)+"/>").XML()
			return err
		},
		"XML of attributes behind a > in quotes": func() error {
			_, err := doc("application/xml", "<p b='>' "+strings.Repeat("a=\"\" ", 4<<20)+"/>").XML()
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooBig) {
			t.Errorf("%s: %v", name, err)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > MaxTree {
			t.Errorf("%s: %d MiB were allocated", name, made>>20)
		}
	}
}

// Each cell leaves a permanent marker in the parser's list of active formatting elements. A search
// of the whole list after every tag took minutes for a page of this size.
func TestPageOfMarkersIsBuilt(t *testing.T) {
	page := "<table><tr>" + strings.Repeat("<td><object>", 200_000)
	if root, err := doc("text/html", page).Root(); root == nil && !errors.Is(err, ErrTooBig) {
		t.Error(err)
	}
}
