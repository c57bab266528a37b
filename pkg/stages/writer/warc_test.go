package writer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/textproto"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/output"
	"seine/internal/output/warc"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/warctest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func archiveConfig(c Config) Config {
	c.From, c.Format, c.Name = "pages", "warc.gz", "archive"
	return c
}

// testPage is a page as the fetcher publishes it, and its expected WARC contents.
type testPage struct {
	page    messages.Page
	request []byte
	head    []byte
	body    []byte // as sent, and so as archived
	plain   []byte // decoded
}

// pageNo returns the n-th page of a crawl. All but every seventh are archived. Every third has the
// body of a page that may precede it. Some bodies are in gzip, some chunked, some in the object
// store.
func pageNo(crawl string, n int) *testPage {
	// Twelve in a row have three of each partition, of which two have the same text.
	text := strings.Repeat(fmt.Sprintf("<p>This is page %d of %s.</p>\n", n/12*12+n%partitions, crawl), 20)
	if n/partitions%3 == 1 {
		text += "<p>And not that of another.</p>"
	}
	u := fmt.Sprintf("https://www.example.org/%s/%d?b=2&a=1", crawl, n)
	p := &testPage{plain: []byte(text), body: []byte(text), page: messages.Page{
		Crawl: crawl, URL: u, Visit: messages.Visit{URL: messages.HashURL(u), Round: 1}, Attempt: 1, Depth: n % 4,
		Status: 200, ContentType: "text/html; charset=utf-8", FetchedAt: time.Date(2026, 11, 21, 1, 2, n%60, n*1e6, time.UTC),
		IP: "192.0.2.7", Protocol: "HTTP/1.1", Timings: messages.Timings{DNS: 3e6, Total: 52e6},
		Header: map[string][]string{"Server": {"test/1"}},
	}}
	p.page.BodySize = int64(len(p.plain))
	if n%4 > 0 {
		p.page.Referrer = "https://www.example.org/"
	}
	if n%3 == 1 {
		p.page.Metadata = messages.Metadata{"topic": "tides\nand: \"ports\"", "collection": "2026"}
	}
	if n%7 == 6 {
		return p
	}
	extra := "Content-Length: " + strconv.Itoa(len(p.body)) + "\r\n"
	switch n % 5 {
	case 1:
		p.body = gzipOf(p.plain)
		p.page.BodyEncoding, extra = "gzip", "Content-Encoding: gzip\r\nContent-Length: "+strconv.Itoa(len(p.body))+"\r\n"
	case 2:
		extra = "transfer-encoding: chunked\r\n"
	}
	p.request = []byte("GET " + strings.TrimPrefix(u, "https://www.example.org") + " HTTP/1.1\r\nHost: www.example.org\r\n\r\n")
	p.head = []byte("HTTP/1.1 200 Fine\r\nx-ODD:  spelt\r\nContent-Type: text/html; charset=utf-8\r\n" + extra + "\r\n")
	p.page.RequestSize, p.page.HeadSize = len(p.request), len(p.head)
	if n%20 == 3 {
		p.page.BodyObject = strconv.Itoa(n%partitions) + "/" + messages.VisitID(crawl, p.page.Visit)
	}
	return p
}

func gzipOf(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// message is the page's message as published.
func (p *testPage) message(partition int) *nats.Msg {
	payload := append(bytes.Clone(p.request), p.head...)
	if p.page.BodyObject == "" {
		payload = append(payload, p.body...)
	}
	page := p.page
	return page.Msg(partition, payload)
}

func publishPages(t testing.TB, bus *stages.Bus, crawl string, from, to int) {
	t.Helper()
	var msgs []*nats.Msg
	for n := from; n < to; n++ {
		p := pageNo(crawl, n)
		if name := p.page.BodyObject; name != "" {
			storeBody(t, bus, name, bytes.NewReader(p.body))
		}
		msgs = append(msgs, p.message(n%partitions))
	}
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), msgs...))
}

func storeBody(t testing.TB, bus *stages.Bus, name string, body io.Reader) {
	t.Helper()
	bodies, err := bus.LargeBodies(t.Context())
	check(t, err)
	check(t, bodies.Put(t.Context(), name, body))
}

// archived is a page as it is in committed files.
type archived struct {
	times               int
	main, request, meta *warctest.Record
	payload             []byte // also of the record that a revisit refers to
}

// wantPages checks that committed WARC files have pages 0 to n-1 of each crawl, once each and as
// fetched, and that their indexes point to them.
func wantPages(t testing.TB, cfg Config, want map[string]int) {
	t.Helper()
	check(t, outputtest.Verify(outputOf(t, cfg)))
	got := archivedPages(t, cfg)
	total := 0
	for crawl, n := range want {
		total += n
		for i := range n {
			checkArchived(t, pageNo(crawl, i), got)
		}
	}
	if len(got) != total {
		t.Errorf("%d different pages, want %d", len(got), total)
	}
	if t.Failed() {
		t.FailNow()
	}
}

func checkArchived(t testing.TB, p *testPage, got map[string]*archived) {
	t.Helper()
	a := got[p.page.URL]
	if a == nil || a.times != 1 || a.meta == nil || (a.request == nil) != (p.request == nil) {
		t.Errorf("%s is not there once: %+v", p.page.URL, a)
		return
	}
	body, head := p.body, strings.Replace(string(p.head), "transfer-encoding", "X-Orig-transfer-encoding", 1)
	if p.head == nil {
		body = p.plain
	}
	if !bytes.Equal(a.payload, body) || string(a.main.Head()) != head {
		t.Errorf("%s is archived as\n%s%s\nwant\n%s%s", p.page.URL, a.main.Head(), a.payload, head, body)
	}
	if a.request != nil && !bytes.Equal(a.request.Block, p.request) {
		t.Errorf("request of %s: %q", p.page.URL, a.request.Block)
	}
	for name, value := range map[string]string{
		"WARC-Date": warc.Date(p.page.FetchedAt), "WARC-IP-Address": "192.0.2.7", "WARC-Protocol": "http/1.1", "WARC-Payload-Digest": warc.Digest(body),
	} {
		if a.main.Get(name) != value {
			t.Errorf("%s of %s is %q, want %q", name, p.page.URL, a.main.Get(name), value)
		}
	}
	via := "hopsFromSeed: " + strings.Repeat("L", p.page.Depth)
	if !strings.Contains(string(a.meta.Block), strings.TrimSpace(via)) || !strings.Contains(string(a.meta.Block), "fetchTimeMs: 52\r\n") {
		t.Errorf("metadata of %s: %s", p.page.URL, a.meta.Block)
	}
	const ofSeed = "seedMetadata: " + `{"collection":"2026","topic":"tides\nand: \"ports\""}` + "\r\n"
	if strings.Contains(string(a.meta.Block), ofSeed) != (p.page.Metadata != nil) {
		t.Errorf("metadata of %s, whose seed has %v: %s", p.page.URL, p.page.Metadata, a.meta.Block)
	}
}

// archivedPages reads all committed WARC files, and checks each against its index.
func archivedPages(t testing.TB, cfg Config) map[string]*archived {
	t.Helper()
	o := outputOf(t, cfg)
	all, err := o.All()
	check(t, err)
	got := make(map[string]*archived)
	for _, c := range all {
		for i, f := range c.Files {
			if f.IndexOf != "" {
				continue
			}
			content := contentOf(t, o, f)
			mains := readArchive(t, f, content, got)
			if i+1 == len(c.Files) || c.Files[i+1].IndexOf != f.Path {
				t.Fatalf("%s has no index", f.Path)
			}
			checkIndex(t, f, content, string(contentOf(t, o, c.Files[i+1])), mains)
		}
	}
	return got
}

func contentOf(t testing.TB, o output.Output, f output.File) []byte {
	t.Helper()
	in, err := o.Open(f)
	check(t, err)
	defer in.Close()
	b, err := io.ReadAll(in)
	check(t, err)
	return b
}

// readArchive adds the pages of a file to got, and returns their records by ID.
func readArchive(t testing.TB, f output.File, content []byte, got map[string]*archived) map[string]*warctest.Record {
	t.Helper()
	records, err := warctest.All(f.Path, bytes.NewReader(content))
	check(t, err)
	ids, mains := make(map[string]*warctest.Record), make(map[string]*warctest.Record)
	for n, r := range records {
		id := r.Get("WARC-Record-ID")
		if ids[id] != nil || (n == 0) != (r.Type() == warc.TypeInfo) || n > 0 && r.Get("WARC-Warcinfo-ID") != records[0].Get("WARC-Record-ID") {
			t.Fatalf("%s, record %d: %v", f.Path, n, r.Fields)
		}
		ids[id] = r
		url := r.Get("WARC-Target-URI")
		if got[url] == nil && n > 0 {
			got[url] = new(archived)
		}
		switch a := got[url]; r.Type() {
		case warc.TypeInfo:
			stem, ext, _ := strings.Cut(r.Get("WARC-Filename"), ".") // in S3 a token is between them
			if base := path.Base(f.Path); !strings.HasPrefix(base, stem) || !strings.HasSuffix(base, "."+ext) {
				t.Errorf("WARC-Filename %s in %s", r.Get("WARC-Filename"), f.Path)
			}
		case warc.TypeRequest:
			a.request = r
		case warc.TypeMetadata:
			a.meta = r
			if r.Get("WARC-Concurrent-To") != a.main.Get("WARC-Record-ID") {
				t.Errorf("metadata of %s is concurrent to %s", url, r.Get("WARC-Concurrent-To"))
			}
		default:
			a.times++
			a.main, a.payload, mains[id] = r, r.Payload(), r
			if r.Type() == warc.TypeRevisit {
				o := ids[r.Get("WARC-Refers-To")]
				if o == nil || o.Get("WARC-Target-URI") != r.Get("WARC-Refers-To-Target-URI") || o.Get("WARC-Date") != r.Get("WARC-Refers-To-Date") || o.Type() == warc.TypeRevisit {
					t.Fatalf("%s: a revisit refers to %v", f.Path, o)
				}
				a.payload = o.Payload()
			}
			if a.request != nil && a.request.Get("WARC-Concurrent-To") != id {
				t.Errorf("request of %s is concurrent to %s", url, a.request.Get("WARC-Concurrent-To"))
			}
		}
	}
	if len(mains) != f.Records {
		t.Errorf("%s has %d pages, its entry says %d", f.Path, len(mains), f.Records)
	}
	return mains
}

// checkIndex reads each record of a file at the position in its index.
func checkIndex(t testing.TB, f output.File, content []byte, index string, mains map[string]*warctest.Record) {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(index, "\n"), "\n")
	before := ""
	for _, l := range lines {
		parts := strings.SplitN(l, " ", 3)
		var e struct{ URL, MIME, Status, Digest, Length, Offset, Filename string }
		if len(parts) != 3 || json.Unmarshal([]byte(parts[2]), &e) != nil || l < before {
			t.Fatalf("line %q after %q", l, before)
		}
		before = l
		offset, _ := strconv.Atoi(e.Offset)
		length, _ := strconv.Atoi(e.Length)
		one, err := warctest.All(f.Path, bytes.NewReader(content[offset:offset+length]))
		check(t, err)
		r := mains[one[0].Get("WARC-Record-ID")]
		if len(one) != 1 || r == nil || r.Get("WARC-Target-URI") != e.URL || e.Filename != path.Base(f.Path) || "sha1:"+e.Digest != r.Get("WARC-Payload-Digest") {
			t.Fatalf("line %q leads to %v", l, one[0].Fields)
		}
		if (e.MIME == warc.MIMERevisit) != (r.Type() == warc.TypeRevisit) || e.Status != "200" || parts[0] != warc.SURT(e.URL) {
			t.Fatalf("line %q of a %s", l, r.Type())
		}
		delete(mains, one[0].Get("WARC-Record-ID"))
	}
	if len(mains) > 0 {
		t.Errorf("%d pages of %s are not in its index", len(mains), f.Path)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"warc", "warc.gz", "warc.zst"} {
		t.Run(format, func(t *testing.T) {
			bus := startBus(t, false)
			cfg := archiveConfig(testConfig(t))
			cfg.Format = format
			publishPages(t, bus, "a", 0, 200)
			w := start(t, bus, cfg)
			w.catchUp()
			w.end()
			wantPages(t, cfg, map[string]int{"a": 200})
			wantTidy(t, cfg)
			types := make(map[string]int)
			for _, a := range archivedPages(t, cfg) {
				types[a.main.Type()]++
			}
			if types[warc.TypeRevisit] < 20 || types[warc.TypeResource] < 10 || types[warc.TypeResponse] < 50 {
				t.Errorf("types of records: %v", types)
			}
		})
	}
}

// The same messages make the same bytes, whichever writer writes them.
func TestArchiveIsMadeAgainToTheByte(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publishPages(t, bus, "a", 0, 120)
	var sums [2]map[string]string
	for i := range sums {
		cfg := archiveConfig(testConfig(t))
		cfg.Name, cfg.ChunkAge = fmt.Sprintf("archive%d", i), crawlspec.Duration(time.Minute)
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		all, err := cfg.ReadCommits()
		check(t, err)
		sums[i] = make(map[string]string)
		for _, c := range all {
			for _, f := range c.Files {
				sums[i][f.Path] = f.SHA256
			}
		}
	}
	if len(sums[0]) == 0 || fmt.Sprint(sums[0]) != fmt.Sprint(sums[1]) {
		t.Errorf("%v\n%v", sums[0], sums[1])
	}
}

// A page whose body is missing or has the wrong content goes to DEAD. The pages around it are
// written.
func TestArchiveOfBodiesThatAreGone(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := archiveConfig(testConfig(t))
	for _, n := range []int{0, 4, 8} { // of one partition
		p := pageNo("a", n)
		if n != 4 {
			p.page.BodyObject = "nowhere/" + strconv.Itoa(n)
		}
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), p.message(0)))
	}
	bad := pageNo("a", 13) // not archived
	bad.page.BodyEncoding, bad.body = "gzip", []byte("no gzip")
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), bad.message(1)))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	if got := archivedPages(t, cfg); len(got) != 1 || w.Totals().Bad != 3 {
		t.Errorf("%d pages, %+v", len(got), w.Totals())
	}
	wantTidy(t, cfg)
	dead, err := bus.JS.Stream(t.Context(), messages.StreamDead)
	check(t, err)
	if n := dead.CachedInfo().State.Msgs; n != 3 {
		t.Errorf("%d dead letters", n)
	}
}

// A body much larger than the memory limit passes through the process. The writer is a separate
// process, since the server keeps what it has read for a while.
func TestLargeBodyIsNotHeld(t *testing.T) {
	t.Parallel()
	size := int64(128 << 20)
	if withRace { // checks the data flow, not the memory
		size = 8 << 20
	}
	bus := startBus(t, true)
	cfg := archiveConfig(testConfig(t))
	cfg.Format = "warc"
	peak := func(pages int) int64 {
		t.Helper()
		report := filepath.Join(t.TempDir(), "heap")
		c := startChild(t, bus.NC.ConnectedUrl(), cfg, envHeap+"="+report)
		deadline := time.Now().Add(2 * time.Minute)
		for n := 0; n < pages; <-time.After(20 * time.Millisecond) {
			all, err := cfg.ReadCommits()
			if n = len(all); err != nil && !errors.Is(err, os.ErrNotExist) || time.Now().After(deadline) {
				t.Fatalf("%d of %d pages are written: %v", n, pages, err)
			}
		}
		check(t, c.Process.Signal(os.Interrupt))
		check(t, c.Wait())
		text, err := os.ReadFile(report)
		check(t, err)
		n, err := strconv.ParseInt(string(text), 10, 64)
		check(t, err)
		return n
	}
	publishPages(t, bus, "a", 0, 1)
	small := peak(1)
	p := pageNo("a", 4)
	p.page.BodyObject, p.page.BodySize = "0/large", size
	storeBody(t, bus, p.page.BodyObject, io.LimitReader(rand.NewChaCha8([32]byte{1}), size))
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), p.message(0)))
	large := peak(2)
	t.Logf("the heap has %d MiB for a small page, %d MiB for a body of %d MiB", small>>20, large>>20, size>>20)
	if !withRace && large > small+size*3/4 { // the client is sent up to 32 MiB ahead, and as much again is garbage
		t.Errorf("the heap takes %d MiB more for a body of %d MiB", (large-small)>>20, size>>20)
	}
	all, err := cfg.ReadCommits()
	check(t, err)
	checkLargeBody(t, filepath.Join(cfg.Out, all[1].Files[0].Path), size, p)
}

// checkLargeBody reads a body from a file in a stream.
func checkLargeBody(t *testing.T, name string, size int64, p *testPage) {
	t.Helper()
	f, err := os.Open(name)
	check(t, err)
	defer f.Close()
	in, err := warctest.Open(name, f)
	check(t, err)
	b := bufio.NewReaderSize(in, 64<<10)
	for range 2 { // warcinfo, request
		_, err := warctest.Read(b)
		check(t, err)
	}
	version, err := textproto.NewReader(b).ReadLine()
	check(t, err)
	fields, err := textproto.NewReader(b).ReadMIMEHeader()
	check(t, err)
	if version != "WARC/1.1" || fields.Get("Content-Length") != strconv.FormatInt(size+int64(len(p.head)), 10) {
		t.Errorf("%s %v", version, fields)
	}
	_, err = b.Discard(len(p.head))
	check(t, err)
	s, err := warc.Sum(nil, io.LimitReader(b, size))
	check(t, err)
	if s.Payload != fields.Get("WARC-Payload-Digest") {
		t.Errorf("payload %s, want %s", s.Payload, fields.Get("WARC-Payload-Digest"))
	}
}

func TestFormatsAndTheirStreams(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, format, says string }{
		{"pages", "jsonl.zst", "needs records"}, {"records", "warc.gz", "use writer --from pages; seine crawl archives pages with --warc DIR"}, {"results", "warc", "writer --from pages"},
		{"pages", "warc.zst", ""}, {"results", "jsonl", ""},
	} {
		cfg := testConfig(t)
		cfg.From, cfg.Format = tt.from, tt.format
		err := cfg.Validate()
		if (err == nil) != (tt.says == "") || err != nil && (!strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "--format "+tt.format)) {
			t.Errorf("%s of %s: %v", tt.format, tt.from, err)
		}
	}
	var cfg Config
	cfg.Format = "warc.gz"
	if d := cfg.withDefaults(); d.ChunkBytes != 1<<30 || d.ChunkRecords != maxRecords || d.ChunkAge != crawlspec.Duration(maxAge) {
		t.Errorf("limits of WARC files: %+v", d)
	}
	if d := DefaultConfig().withDefaults(); d.ChunkBytes != 64<<20 || d.ChunkRecords != 10000 || d.ChunkAge != crawlspec.Duration(time.Minute) {
		t.Errorf("limits of files: %+v", d)
	}
}
