package writer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/output/warc"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/warcio"
	"seine/internal/testing/warctest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// testAnswer is a response other than a page, and its expected WARC record.
type testAnswer struct {
	path      string
	class     messages.Class
	status    int
	body      string
	truncated messages.Truncation
	kind      string // expected record type
}

// answers are responses of all kinds. The last but one has the URL of page 4, which precedes it in
// the file.
var (
	notFound = strings.Repeat("There is nothing here. ", 20)
	answers  = []testAnswer{
		{"/robots.txt", messages.RobotsFetched, 200, "User-agent: *\nDisallow:\n", "", warc.TypeResponse},
		{"/old", messages.Redirect, 301, "", "", warc.TypeResponse},
		{"/none", messages.Gone, 404, notFound, "", warc.TypeResponse},
		{"/none/either", messages.Gone, 404, notFound, "", warc.TypeRevisit},
		{"/cut", messages.ServerError, 500, notFound + "and", messages.TruncatedLength, warc.TypeResponse},
		{"/cut/too", messages.ServerError, 500, notFound + "and", messages.TruncatedTime, warc.TypeResponse},
		{"/challenge", messages.Blocked, 403, "<p>wait</p>", "", warc.TypeResponse},
		{"/a/4?b=2&a=1", messages.NotModified, 304, "", "", warc.TypeRevisit},
		{"/unknown", messages.NotModified, 304, "", "", warc.TypeRevisit},
	}
)

func (a *testAnswer) url() string { return "https://www.example.org" + a.path }

func (a *testAnswer) head() string {
	return fmt.Sprintf("HTTP/1.1 %d Well\r\nContent-Type: text/html\r\nLocation: /x\r\n\r\n", a.status)
}

func (a *testAnswer) request() string {
	return "GET " + a.path + " HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: testbot/1\r\n\r\n"
}

// message is the n-th response as the fetcher publishes it, in partition 0.
func (a *testAnswer) message(n int) *nats.Msg {
	page := pageNo("a", 4).page
	p := messages.Page{
		Crawl: "a", URL: a.url(), Visit: page.Visit, Attempt: 1, Depth: 1, Referrer: page.URL, Status: a.status, ContentType: "text/html",
		FetchedAt: time.Date(2026, 11, 23, 1, 2, n, 0, time.UTC), IP: "192.0.2.8", Protocol: "HTTP/1.1", BodySize: int64(len(a.body)),
		RequestSize: len(a.request()), HeadSize: len(a.head()), Robots: "obey", Contact: "ops@example.org",
		Class: a.class, Truncated: a.truncated,
	}
	return p.AnswerMsg(0, n, []byte(a.request()+a.head()+a.body))
}

// publishAnswers stores page 4, which is in partition 0, and all responses.
func publishAnswers(t testing.TB, bus *stages.Bus) {
	t.Helper()
	pub := stages.NewPublisher(bus, "test")
	check(t, pub.Publish(t.Context(), pageNo("a", 4).message(0)))
	for n := range answers {
		check(t, pub.Publish(t.Context(), answers[n].message(n)))
	}
}

// writeAnswers writes the messages of publishAnswers to one file.
func writeAnswers(t testing.TB, bus *stages.Bus, cfg Config) {
	t.Helper()
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	if w.Totals().Bad > 0 || w.Totals().Records != int64(len(answers)+1) {
		t.Errorf("totals %+v", w.Totals())
	}
	check(t, outputtest.Verify(outputOf(t, cfg)))
}

func answersConfig(t testing.TB) Config {
	cfg := archiveConfig(testConfig(t))
	cfg.ChunkAge = crawlspec.Duration(time.Minute)
	return cfg
}

// An archive has the responses other than pages, as they went over the wire, with their requests
// and index lines.
func TestArchiveHasAnswers(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := answersConfig(t)
	publishAnswers(t, bus)
	writeAnswers(t, bus, cfg)
	all, err := cfg.ReadCommits()
	check(t, err)
	f := all[0].Files[0]
	if len(all) != 1 || f.Kinds[messages.KindPage] != 1 || f.Kinds[messages.KindAnswer] != len(answers) {
		t.Fatalf("%d commits, kinds %v", len(all), f.Kinds)
	}
	records, err := warctest.All(f.Path, bytes.NewReader(contentOf(t, outputOf(t, cfg), f)))
	check(t, err)
	var mains, requests, metadata []*warctest.Record
	for _, r := range records[4:] { // after the warcinfo and the page
		switch r.Type() {
		case warc.TypeRequest:
			requests = append(requests, r)
		case warc.TypeMetadata:
			metadata = append(metadata, r)
		default:
			mains = append(mains, r)
		}
	}
	if len(mains) != len(answers) || len(requests) != len(answers) || len(metadata) != len(answers) {
		t.Fatalf("%d answers, %d requests, %d metadata", len(mains), len(requests), len(metadata))
	}
	for n := range answers {
		checkAnswer(t, &answers[n], mains[n], requests[n], metadata[n])
	}
	page := records[2]
	for name, want := range map[string]string{
		"WARC-Profile": warc.NotModified, "WARC-Refers-To": page.Get("WARC-Record-ID"), "WARC-Refers-To-Target-URI": page.Get("WARC-Target-URI"),
		"WARC-Refers-To-Date": page.Get("WARC-Date"), "WARC-Payload-Digest": "",
	} {
		if got := mains[7].Get(name); got != want {
			t.Errorf("%s of a 304 is %q, want %q", name, got, want)
		}
	}
	if r := mains[8]; r.Get("WARC-Refers-To-Target-URI") != answers[8].url() || r.Get("WARC-Refers-To-Date")+r.Get("WARC-Refers-To") != "" {
		t.Errorf("a 304 of a page in another file: %v", r.Fields)
	}
	checkAnswersIndex(t, string(contentOf(t, outputOf(t, cfg), all[0].Files[1])))
}

func checkAnswer(t testing.TB, a *testAnswer, main, request, meta *warctest.Record) {
	t.Helper()
	body := a.body
	if a.kind == warc.TypeRevisit {
		body = ""
	}
	truncated := string(a.truncated)
	if a.class == messages.Gone && a.kind == warc.TypeRevisit {
		truncated = "length" // the body is in the record that it refers to
	}
	if main.Type() != a.kind || main.Get("WARC-Target-URI") != a.url() || string(main.Block) != a.head()+body || main.Get("WARC-Truncated") != truncated {
		t.Errorf("%s is a %s: %v\n%s", a.path, main.Type(), main.Fields, main.Block)
	}
	if string(request.Block) != a.request() || request.Get("WARC-Concurrent-To") != main.Get("WARC-Record-ID") || meta.Get("WARC-Concurrent-To") != main.Get("WARC-Record-ID") {
		t.Errorf("request of %s: %v\n%s", a.path, request.Fields, request.Block)
	}
	hops := "hopsFromSeed: L\r\n"
	if a.class == messages.RobotsFetched {
		hops = "hopsFromSeed: LP\r\n"
	}
	if text := string(meta.Block); !strings.Contains(text, hops) || !strings.Contains(text, "class: "+string(a.class)+"\r\n") {
		t.Errorf("metadata of %s: %s", a.path, text)
	}
}

func checkAnswersIndex(t testing.TB, index string) {
	t.Helper()
	type line struct{ URL, MIME, Status string }
	var got, want []string
	for l := range strings.Lines(index) {
		var e line
		check(t, json.Unmarshal([]byte(l[strings.IndexByte(l, '{'):]), &e))
		got = append(got, fmt.Sprint(e))
	}
	p := pageNo("a", 4)
	want = append(want, fmt.Sprint(line{p.page.URL, "text/html", "200"}))
	for _, a := range answers {
		e := line{a.url(), "text/html", strconv.Itoa(a.status)}
		if a.kind == warc.TypeRevisit {
			e.MIME = warc.MIMERevisit
		}
		want = append(want, fmt.Sprint(e))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("index\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A file's warcinfo record describes its first exchange, so a file that is written again is
// identical.
func TestWarcinfoIsOfTheFirstExchange(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), answers[1].message(1)))
	var files [2][]byte
	for i := range files {
		cfg := answersConfig(t)
		cfg.Name = fmt.Sprint("archive", i)
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		all, err := cfg.ReadCommits()
		check(t, err)
		files[i] = contentOf(t, outputOf(t, cfg), all[0].Files[0])
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("made again, the file has other bytes")
	}
	records, err := warctest.All("x.warc.gz", bytes.NewReader(files[0]))
	check(t, err)
	for _, field := range []string{"operator: ops@example.org", "robots: obey", "http-header-user-agent: testbot/1", "isPartOf: a", "format: WARC File Format 1.1"} {
		if !strings.Contains(string(records[0].Block), field+"\r\n") {
			t.Errorf("warcinfo lacks %s:\n%s", field, records[0].Block)
		}
	}
}

// A page is archived under the URL of its last request.
func TestPageThatRedirectsLedToIsArchivedWhereItWas(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := answersConfig(t)
	p := pageNo("a", 0)
	p.page.Asked = p.page.URL + "&sid=1"
	p.request = bytes.Replace(p.request, []byte(" HTTP"), []byte("&sid=1 HTTP"), 1)
	p.page.RequestSize = len(p.request)
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), p.message(0)))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	got := archivedPages(t, cfg) // also reads the index
	if len(got) != 1 || got[p.page.Asked] == nil {
		t.Errorf("archived as %v", got)
	}
}

// asked are requests that their URLs alone do not distinguish, with the query that stands for their
// body.
var asked = []struct{ wire, contentType, body, query string }{
	{"GET /search", "", "", ""},
	{"POST /search", "application/json", `{"q": "one", "in": {"page": 1.50, "of": [true, null, "x y", ""]}, "q2": []}`, "q=one&page=1.5&of=true&of.2_=null&of.3_=x+y"},
	{"POST /search", "application/json", `{"q": "two"}`, "q=two"},
	{"POST /search?lang=en", "application/json; charset=utf-8", `{"q": "two"}`, "q=two"},
	{"POST /search", "application/json", `{"q": `, ""},
	{"POST /search", "application/x-www-form-urlencoded", "q=one&b=%C3%A9", "q=one&b=%C3%A9"},
	{"POST /search", "text/plain", `{"q": "plain"}`, "q=plain"},
	{"POST /search", "text/plain", "plain", "__wb_post_data=cGxhaW4="},
	{"PUT /search", "application/graphql", "{a}", "__wb_post_data=e2F9"},
	{"POST /search", "multipart/form-data; boundary=AaB", "--AaB\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nform\r\n--AaB--\r\n", "q=form"},
	{"POST /search", "application/octet-stream", strings.Repeat("\xff\n", 3000), ("__wb_post_data=" + strings.Repeat("/wr/Cv8K", 1000))[:4096]},
}

// publishAsked stores a page for each of asked. Their response heads end lines in LF.
func publishAsked(t testing.TB, bus *stages.Bus) {
	t.Helper()
	for n, a := range asked {
		p := pageNo("a", 4)
		p.page.URL = fmt.Sprintf("https://www.example.org/search?q=%d", n)
		p.page.Visit.URL = messages.HashURL(p.page.URL)
		p.request = []byte(a.wire + " HTTP/1.1\r\nHost: www.example.org\r\ncontent-type: " + a.contentType + "\r\n\r\n" + a.body)
		p.head = []byte("HTTP/1.1 200 OK\nContent-Type: text/html\r\r\nTransfer-encoding: chunked\n\n")
		p.body = fmt.Appendf(nil, "<p>answer %d", n)
		p.page.RequestSize, p.page.HeadSize, p.page.BodyEncoding = len(p.request), len(p.head), ""
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), p.message(0)))
	}
	p := pageNo("a", 4).page
	p.Part, p.ContentType, p.BodySize, p.RequestSize, p.HeadSize, p.BodyEncoding = messages.PartScreenshot, "image/png", 3, 0, 0, ""
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), p.AnswerMsg(0, 0, []byte("png"))))
}

const picture = `urn:view:https://www.example.org/a/4?b=2&a=1 20261121010204 {"url":"urn:view:https://www.example.org/a/4?b=2&a=1","mime":"image/png",`

// An archive records each request: under the URL on the wire, and with method and body in its
// index, like the index of an independent reader. A head with LF line ends hides no body from that
// reader.
func TestArchiveSaysWhatWasAsked(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := answersConfig(t)
	cfg.Format = "warc"
	publishAsked(t, bus)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	all, err := cfg.ReadCommits()
	check(t, err)
	index := string(contentOf(t, outputOf(t, cfg), all[0].Files[1]))
	var lines []string
	for l := range strings.Lines(index) {
		if lines = append(lines, l); strings.HasPrefix(l, picture) {
			continue
		}
		var e struct{ URL, Method, RequestBody string }
		check(t, json.Unmarshal([]byte(l[strings.IndexByte(l, '{'):]), &e))
		if !slices.ContainsFunc(asked, func(a struct{ wire, contentType, body, query string }) bool {
			method, path, _ := strings.Cut(a.wire, " ")
			return e.URL == "https://www.example.org"+path && e.RequestBody == a.query && cmp.Or(e.Method, "GET") == method &&
				(method == "GET") == !strings.Contains(l, "__wb_method="+strings.ToLower(method))
		}) {
			t.Errorf("line %s", l)
		}
	}
	if len(lines) != len(asked)+1 || !strings.HasPrefix(lines[len(asked)], picture) {
		t.Errorf("index\n%s", index)
	}
	got := warcio.Read(t, filepath.Join(cfg.Out, all[0].Files[0].Path))[0]
	n := 0
	for _, r := range got.Records {
		if r.Type != warc.TypeResponse {
			continue
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "<p>answer %d", n))
		if r.Content != hex.EncodeToString(sum[:]) || r.Status != 200 {
			t.Errorf("answer %d is read as %+v", n, r)
		}
		n++
	}
	// Where warcio.js and the package surt make different keys, ours is that of surt, as in pywb.
	differs := func(l string) bool {
		return strings.Contains(l, "__wb_method") && !regexp.MustCompile(`"requestBody":"(q=(two|plain|form)|__wb_post_data=(e2F9|/wr))`).MatchString(l)
	}
	compareIndexes(t, slices.DeleteFunc(lines, differs), slices.DeleteFunc(got.Index, differs), "warc")
}

// Formats other than archives contain only pages.
func TestObjectsAreOfPagesAlone(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	cfg.From, cfg.Format = "pages", "objects.raw"
	publishAnswers(t, bus)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	if n := w.Totals(); n.Records != 1 || n.Bad != 0 {
		t.Errorf("totals %+v", n)
	}
}

// An independent reader reads the responses and makes the same index.
func TestWarcioReadsAnswers(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"warc", "warc.gz"} {
		t.Run(format, func(t *testing.T) {
			bus := startBus(t, false)
			cfg := answersConfig(t)
			cfg.Format = format
			publishAnswers(t, bus)
			writeAnswers(t, bus, cfg)
			all, err := cfg.ReadCommits()
			check(t, err)
			got := warcio.Read(t, filepath.Join(cfg.Out, all[0].Files[0].Path))[0]
			status := make(map[string]int)
			for _, r := range got.Records {
				if r.Type == warc.TypeResponse || r.Type == warc.TypeRevisit {
					status[r.URL] = r.Status
				}
			}
			for _, a := range answers {
				if status[a.url()] != a.status {
					t.Errorf("%s has status %d", a.path, status[a.url()])
				}
			}
			ours := strings.SplitAfter(strings.TrimSuffix(string(contentOf(t, outputOf(t, cfg), all[0].Files[1])), "\n"), "\n")
			compareIndexes(t, ours, got.Index, format)
		})
	}
}

// The index of an encrypted archive is encrypted, too. Its offsets and file name are those of the
// decrypted archive.
func TestEncryptedArchiveHasAnEncryptedIndex(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := answersConfig(t)
	cfg.Encrypt = []string{testRecipient}
	publishAnswers(t, bus)
	writeAnswers(t, bus, cfg)
	wantTidy(t, cfg)
	all, err := cfg.ReadCommits()
	check(t, err)
	files := all[0].Files
	if len(files) != 2 || files[1].IndexOf != files[0].Path || !strings.HasSuffix(files[1].Path, ".cdxj.age") {
		t.Fatalf("files %+v", files)
	}
	var plain [2][]byte
	for i, f := range files {
		in, err := identities(t).Open(bytes.NewReader(contentOf(t, outputOf(t, cfg), f)))
		check(t, err)
		plain[i], err = io.ReadAll(in)
		check(t, err)
	}
	file := path.Base(strings.TrimSuffix(files[0].Path, ".age"))
	for l := range strings.Lines(string(plain[1])) {
		var e struct{ URL, Offset, Length, Filename string }
		check(t, json.Unmarshal([]byte(l[strings.IndexByte(l, '{'):]), &e))
		offset, _ := strconv.Atoi(e.Offset)
		length, _ := strconv.Atoi(e.Length)
		one, err := warctest.All(file, bytes.NewReader(plain[0][offset:offset+length]))
		if err != nil || len(one) != 1 || one[0].Get("WARC-Target-URI") != e.URL || e.Filename != file {
			t.Errorf("line %q leads to %v, %v", l, one, err)
		}
	}
	checkAnswersIndex(t, string(plain[1]))
	infos, err := warctest.All(file, bytes.NewReader(plain[0]))
	check(t, err)
	if infos[0].Get("WARC-Filename") != file {
		t.Errorf("it calls itself %s, decrypted it is %s", infos[0].Get("WARC-Filename"), file)
	}
}
