package convert

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestFiles(t *testing.T) {
	files := whole(t)
	tests := []struct {
		file  string
		pages int
		has   []string
		not   []string
	}{
		{"docx", 0, []string{`lang="en-GB"`, "<title>A &amp; B</title>", `name="author" content="Ada"`, `content="2026-01-02T03:04:05Z"`, `content="2026-02-03T04:05:06Z"`,
			"<h2>The head</h2>", `<p>One <a href="https://example.org/a">link</a>.</p>`, `<p><a href="https://example.org/b">field</a></p>`, "<ul>\n<li>item</li>\n</ul>",
			"<td><p>x</p>\n</td><td><p>y</p>", "A note."}, []string{"gone", "HYPERLINK"}},
		{"xlsx", 1, []string{`<section data-page="1">`, "<h2>Prices</h2>", `<td><a href="https://example.org/x">Name</a></td><td></td><td>2025-01-01</td>`,
			"<td>0.3</td><td>TRUE</td><td>in</td><td>2025-01-01 12:00:00</td>"}, []string{"aloud"}},
		{"pptx", 2, []string{"<section data-page=\"1\">\n<h1>First</h1>\n<p><a href=\"https://example.org/s\">body of First</a></p>", "<section data-page=\"2\">\n<h1>Second</h1>"}, nil},
		{"odt", 0, []string{`lang="de"`, `content="Ada"`, `content="2026-01-02T03:04:05"`, "<h2>The head</h2>", `<p>One <a href="https://example.org/a">link</a> .</p>`,
			"<ul><li><p>item</p>", "<td><p>y</p>\n</td><td><p>y</p>"}, []string{"gone", "Bob"}},
		{"epub", 0, []string{`lang="fr"`, "<h2>The head</h2>", `<a href="https://example.org/a">link</a>, <a>next</a>`, "Last words"}, []string{"no"}},
		{"rtf", 0, []string{"<title>A &amp; B</title>", `content="Ada"`, `content="2026-01-02T03:04"`, "<p>The café €uro.</p>", `<p>One <a href="https://example.org/a">link</a>.</p>`,
			"<table><tr><td>x</td><td>y</td>", "<p>Lastwords</p>"}, []string{"no", "Times", "HYPERLINK"}},
		{"pdf", 2, []string{`lang="en-GB"`, "<title>A &amp; B</title>", `content="2026-01-02T03:04:05+01:00"`, `content="2026-02-03T04:05:06Z"`,
			"<section data-page=\"1\">\n<h1><a href=\"https://example.org/a\">First head</a></h1>", "that is as long as others of it are, and a second line that ends it here.</p>",
			"<section data-page=\"2\">\n<h1>2 Second head</h1>", `See <a href="https://example.org/plain">https://example.org/plain</a> for`}, nil},
	}
	for _, test := range tests {
		r, err := HTML(t.Context(), files[test.file])
		if err != nil || r.NoText != "" || r.Warning != "" || r.Pages != test.pages {
			t.Errorf("%s: %d pages, no text: %q, warning: %q, error: %v", test.file, r.Pages, r.NoText, r.Warning, err)
		}
		for _, want := range test.has {
			if !strings.Contains(string(r.HTML), want) {
				t.Errorf("%s lacks %s:\n%s", test.file, want, r.HTML)
			}
		}
		for _, want := range test.not {
			if strings.Contains(string(r.HTML[strings.Index(string(r.HTML), "<body>"):]), want) {
				t.Errorf("%s has %s:\n%s", test.file, want, r.HTML)
			}
		}
	}
}

// Each line of a table of contents is a paragraph, without the dot leaders.
func TestContentsOfAPDF(t *testing.T) {
	file := strings.Replace(string(report()), "A line of the first paragraph that is as long as", "1. Wells . . . . . . . . . . . . 4) Tj T* (2. Mills.....................17", 1)
	r, err := HTML(t.Context(), []byte(file))
	if want := "<p>1. Wells … 4</p>\n<p>2. Mills … 17</p>\n"; err != nil || !strings.Contains(string(r.HTML), want) {
		t.Errorf("%v: no %q in\n%s", err, want, r.HTML)
	}
}

// A PDF without a title from its author gets its first line as its title.
func TestTitleOfAPDF(t *testing.T) {
	for given, want := range map[string]string{
		"A & B": "A &amp; B", "": "A report", "Untitled": "A report", "Microsoft Word - Annual report 2.doc": "A report", "x.wpd  [PFP#1]": "A report",
		"How to write a .tex file": "How to write a .tex file",
	} {
		file := strings.Replace(string(report()), "/Title (A & B)", "/Title ("+given+")", 1)
		file = strings.Replace(file, "72 720 Td (First head)", "72 720 Td (1) Tj T* (A report) Tj T* (First head)", 1)
		r, err := HTML(t.Context(), []byte(file))
		if err != nil || !strings.Contains(string(r.HTML), "<title>"+want+"</title>") || !strings.Contains(string(r.HTML), "<h1>") {
			t.Errorf("%q: %v\n%s", given, err, r.HTML)
		}
	}
}

func TestFilesWithoutText(t *testing.T) {
	zeros := strings.Repeat("\x00", 70<<20)
	tests := []struct{ name, file, class string }{
		{"a picture", string(scan()), Scanned},
		{"an empty page", string(pdfOf("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>")), Empty},
		{"a PDF with a password", string(locked()), Encrypted},
		{"a PDF that breaks off", "%PDF-1.7\n1 0 obj", Damaged},
		{"an archive that breaks off", string(docx(t)[:300]), Damaged},
		{"OpenDocument with a password", string(zipped(t, map[string]string{"content.xml": "x", "META-INF/manifest.xml": "<manifest:encryption-data/>"})), Encrypted},
		{"a book with a license", string(zipped(t, map[string]string{"META-INF/container.xml": "", "META-INF/encryption.xml": "http://www.w3.org/2001/04/xmlenc#aes128-cbc"})), Encrypted},
		{"Word before 2007", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Unsupported},
		{"Word with a password", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00", Encrypted},
		{"another archive", string(zipped(t, map[string]string{"a": ""})), Unsupported},
		{"no file at all", "", Damaged},
		{"a bomb", string(zipped(t, map[string]string{"content.xml": zeros})), TooLarge},
		{"deep groups", `{\rtf` + strings.Repeat("{", 5000), Damaged},
		{"a file that is too large", "%PDF-" + zeros, TooLarge},
	}
	for _, test := range tests {
		r, err := HTML(t.Context(), []byte(test.file))
		if err != nil || r.NoText != test.class || (r.Warning == "") != (test.class == Scanned || test.class == Empty) {
			t.Errorf("%s: %q (%s), error %v: want %q", test.name, r.NoText, r.Warning, err, test.class)
		}
	}
}

func TestBounds(t *testing.T) {
	deep := strings.Repeat("<text:list><text:list-item>", 50_000) + "<text:p>x</text:p>"
	r, _ := HTML(t.Context(), zipped(t, map[string]string{"content.xml": "<text:p>in</text:p>" + deep}))
	if r.NoText != "" || len(r.HTML) > 1<<20 {
		t.Errorf("deep: %q, %d bytes", r.NoText, len(r.HTML))
	}
	long := "<text:p>" + strings.Repeat("<text:span>words</text:span>", 2_000_000)
	r, _ = HTML(t.Context(), zipped(t, map[string]string{"content.xml": long}))
	if len(r.HTML) > maxHTML+1<<12 || !strings.HasPrefix(r.Warning, "only a part was read: ") {
		t.Errorf("long: %q, %d bytes", r.Warning, len(r.HTML))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, file := range whole(t) {
		if _, err := HTML(ctx, file); err == nil {
			t.Errorf("%s: no error when its context is done", name)
		}
	}
}

// damage changes a file: it flips bits, truncates it, or replaces a part by one of another file.
func damage(rnd *rand.Rand, file []byte, all [][]byte) []byte {
	b := slices.Clone(file)
	at := rnd.IntN(len(b))
	switch rnd.IntN(4) {
	case 0:
		for range 1 + rnd.IntN(20) {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		}
	case 1:
		return b[:at]
	case 2:
		other := all[rnd.IntN(len(all))]
		from := rnd.IntN(len(other))
		return append(b[:at], other[from:]...)
	default:
		n := rnd.IntN(len(b) - at)
		b = slices.Concat(b[:at], b[at:at+n], b[at:at+n], b[at+n:])
	}
	return b
}

// TestDamagedFiles reads damaged files, 200 of them or the number in SEINE_DAMAGED_FILES.
func TestDamagedFiles(t *testing.T) {
	count, _ := strconv.Atoi(os.Getenv("SEINE_DAMAGED_FILES"))
	if count == 0 {
		count = 200
	}
	var all [][]byte
	files := whole(t)
	for _, name := range []string{"docx", "xlsx", "pptx", "odt", "epub", "rtf", "pdf", "scan", "locked"} {
		all = append(all, files[name])
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	before, slowest := runtime.NumGoroutine(), time.Duration(0)
	for i := range count {
		file := damage(rnd, all[i%len(all)], all)
		began := time.Now()
		p := &page{ctx: t.Context()}
		r := p.result(p.read(file)) // a panic fails the test
		slowest = max(slowest, time.Since(began))
		if len(r.HTML) > maxHTML+1<<16 || r.NoText == "" && !p.hasText {
			t.Fatalf("file %d: %d bytes, %q, %q", i, len(r.HTML), r.NoText, r.Warning)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d files, the slowest in %s; heap %d MiB", count, slowest, m.HeapAlloc>>20)
	if after := runtime.NumGoroutine(); after > before+3 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
	if m.HeapAlloc > 300<<20 {
		t.Errorf("%d MiB are not freed", m.HeapAlloc>>20)
	}
}

func FuzzHTML(f *testing.F) {
	for _, file := range whole(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p := &page{ctx: t.Context()}
		if r := p.result(p.read(file)); r.NoText == "" && !p.hasText {
			t.Errorf("neither text nor why: %q", r.Warning)
		}
	})
}
