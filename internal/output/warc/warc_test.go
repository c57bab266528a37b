package warc_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"seine/internal/output/warc"
	"seine/internal/testing/warctest"
)

var codes = map[string]func() *warc.Compression{"warc": warc.None, "warc.gz": warc.Gzip, "warc.zst": warc.Zstd}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func header(n int, block []byte) *warc.Header {
	return &warc.Header{
		Type: warc.TypeResource, ID: warc.ID("test", fmt.Sprint(n)), Date: time.Date(2026, 11, 21, 1, 2, 3, 4e6, time.UTC),
		TargetURI: fmt.Sprintf("https://example.org/%d", n), ContentType: "text/plain", Length: int64(len(block)),
		BlockDigest: warc.Digest(block), More: []warc.Field{{Name: "WARC-IP-Address", Value: "192.0.2.1"}, {Name: "X-None"}},
	}
}

// Each record can be read separately at its extent, and the compression tools accept the files.
func TestRecordsAreReadFromTheirPlaces(t *testing.T) {
	for ext, code := range codes {
		t.Run(ext, func(t *testing.T) {
			var out bytes.Buffer
			c := code()
			for round := range 2 { // the second round reuses encoders of the first
				out.Reset()
				w := warc.NewWriter(&out, c)
				var places []warc.Extent
				for n := range 50 {
					block := []byte(strings.Repeat("body ", n*n*20))
					at, err := w.Write(header(n, block), bytes.NewReader(block))
					check(t, err)
					places = append(places, at)
				}
				check(t, w.Close())
				if c.Ext != ext || round == 1 && int64(out.Len()) != places[49].Offset+places[49].Length {
					t.Errorf("%s: %d bytes, the last record at %+v", c.Ext, out.Len(), places[49])
				}
				all, err := warctest.All("x."+ext, bytes.NewReader(out.Bytes()))
				check(t, err)
				if len(all) != 50 {
					t.Fatalf("%d records", len(all))
				}
				for n, at := range places {
					one, err := warctest.All("x."+ext, bytes.NewReader(out.Bytes()[at.Offset:at.Offset+at.Length]))
					check(t, err)
					if len(one) != 1 || one[0].Get("WARC-Target-URI") != fmt.Sprintf("https://example.org/%d", n) || len(one[0].Block) != n*n*100 {
						t.Fatalf("record %d is not at %+v", n, at)
					}
					if ext == "warc.zst" {
						checkFrame(t, out.Bytes()[at.Offset:at.Offset+at.Length])
					}
				}
			}
			accepted(t, "x."+ext, out.Bytes())
		})
	}
}

// checkFrame checks the requirements of the .warc.zst specification for a frame.
func checkFrame(t *testing.T, b []byte) {
	t.Helper()
	var h zstd.Header
	check(t, h.Decode(b))
	if !h.HasFCS || !h.HasCheckSum || h.WindowSize > 8<<20 {
		t.Fatalf("frame %+v", h)
	}
}

// accepted makes gzip or zstd test a file, if installed.
func accepted(t *testing.T, name string, content []byte) {
	t.Helper()
	tool := map[string]string{".gz": "gzip", ".zst": "zstd"}[filepath.Ext(name)]
	if tool == "" {
		return
	}
	if _, err := exec.LookPath(tool); err != nil {
		t.Logf("no %s here", tool)
		return
	}
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, content, 0o644))
	if said, err := exec.Command(tool, "-t", path).CombinedOutput(); err != nil {
		t.Errorf("%s -t: %v: %s", tool, err, said)
	}
}

func TestBlockMustBeAsLongAsItsHeaderSays(t *testing.T) {
	for ext, code := range codes {
		w := warc.NewWriter(io.Discard, code())
		h := header(1, []byte("12345"))
		if _, err := w.Write(h, strings.NewReader("1234")); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: a short block: %v", ext, err)
		}
	}
}

func TestFieldsKeepToTheirLines(t *testing.T) {
	var out bytes.Buffer
	w := warc.NewWriter(&out, warc.None())
	h := header(1, nil)
	h.More = []warc.Field{{Name: "WARC-Profile", Value: "a\r\nWARC-Type: warcinfo\r\n\r\n"}}
	_, err := w.Write(h, strings.NewReader(""))
	check(t, err)
	check(t, w.Close())
	all, err := warctest.All("x.warc", &out)
	check(t, err)
	if all[0].Type() != warc.TypeResource {
		t.Errorf("a value has made a field: %v", all[0].Fields)
	}
	if got := string(warc.Fields([]warc.Field{{Name: "seed"}, {Name: "via", Value: "x\ny"}})); got != "seed:\r\nvia: x y\r\n" {
		t.Errorf("%q", got)
	}
}

// Digests and IDs equal those of other implementations.
func TestDigestAndID(t *testing.T) {
	if got := warc.Digest(nil); got != "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ" { // of no bytes, as in many archives
		t.Error(got)
	}
	s, err := warc.Sum([]byte("he"), strings.NewReader("ad"))
	check(t, err)
	if s.Length != 2 || s.Block != warc.Digest([]byte("head")) || s.Payload != warc.Digest([]byte("ad")) {
		t.Errorf("%+v", s)
	}
	a, b := warc.ID("a", "bc"), warc.ID("ab", "c")
	if a == b || a != warc.ID("a", "bc") || a[len("<urn:uuid:xxxxxxxx-xxxx-")] != '5' {
		t.Error(a, b)
	}
}

// Keys of the Internet Archive's package surt, from its tests and README.
func TestSURT(t *testing.T) {
	for url, want := range map[string]string{
		"http://www.archive.org/":                                             "org,archive)/",
		"http://archive.org/goo/":                                             "org,archive)/goo",
		"http://archive.org/goo/?":                                            "org,archive)/goo",
		"http://archive.org/goo/?b&a":                                         "org,archive)/goo?a&b",
		"http://archive.org/goo/?a=2&b&a=1":                                   "org,archive)/goo?a=1&a=2&b",
		"http://www34.archive.org/index.html?b=a&b=b&a=b":                     "org,archive)/index.html?a=b&b=a&b=b",
		"http://host/%25%32%35":                                               "host)/%25",
		"http://host.com//twoslashes?more//slashes":                           "com,host)/twoslashes?more//slashes",
		"http://host.com/ab%23cd":                                             "com,host)/ab%23cd",
		"https://example.org:443/A":                                           "org,example)/a",
		"https://example.org:8443/A%20b":                                      "org,example:8443)/a%20b",
		"http://192.168.1.254/info":                                           "254,1,168,192)/info",
		"http://[2001:db8::1]/x":                                              "[2001:db8::1])/x",
		"http://[2001:db8::1]:8080/x":                                         "[2001:db8::1]:8080)/x",
		"http://archive.org/?jsessionid=0123456789abcdefghijklemopqrstuv&a=1": "org,archive)/?a=1",
		"http://archive.org/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx":         "org,archive)/mileg.aspx",
		"https://example.org/caf%C3%A9":                                       "org,example)/caf%c3%a9",
		"urn:x":                                                               "urn:x",
	} {
		if got := warc.SURT(url); !strings.EqualFold(got, want) || got != strings.ToLower(got) {
			t.Errorf("%s is %s, want %s", url, got, want)
		}
	}
}

func TestIndexIsSorted(t *testing.T) {
	var x warc.Index
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	x.Add(warc.Capture{URL: "http://b.example/", Date: at, Extent: warc.Extent{Offset: 5, Length: 7}})
	x.Add(warc.Capture{URL: "http://a.example/?q=<1>", Date: at.Add(time.Second), MIME: "text/html", Status: 200, Digest: "sha1:ABC", Extent: warc.Extent{Offset: 12, Length: 8}})
	x.Add(warc.Capture{URL: "http://a.example/?q=<1>", Date: at})
	var out bytes.Buffer
	check(t, x.Write(&out, "f.warc.gz"))
	want := `example,a)/?q=<1> 20261121010203 {"url":"http://a.example/?q=<1>","length":"0","offset":"0","filename":"f.warc.gz"}
example,a)/?q=<1> 20261121010204 {"url":"http://a.example/?q=<1>","mime":"text/html","status":"200","digest":"ABC","length":"8","offset":"12","filename":"f.warc.gz"}
example,b)/ 20261121010203 {"url":"http://b.example/","length":"7","offset":"5","filename":"f.warc.gz"}
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// Any record is read as it was written.
func FuzzRecord(f *testing.F) {
	kept := make(map[string]*warc.Compression)
	for ext, code := range codes {
		kept[ext] = code()
	}
	f.Add("https://example.org/", "text/html", "a: b\r\n", []byte("<p>"), []byte("x\r\n\r\nWARC/1.1\r\n"))
	f.Fuzz(func(t *testing.T, url, contentType, value string, first, second []byte) {
		for ext, code := range kept {
			var out bytes.Buffer
			w := warc.NewWriter(&out, code)
			for n, block := range [][]byte{first, second} {
				h := header(n, block)
				h.TargetURI, h.ContentType, h.More = "u"+url, contentType, []warc.Field{{Name: "X-Value", Value: value}}
				if _, err := w.Write(h, bytes.NewReader(block)); err != nil {
					t.Fatal(err)
				}
			}
			check(t, w.Close())
			in, err := warctest.Open("x."+ext, &out)
			check(t, err)
			b := bufio.NewReader(in)
			for _, block := range [][]byte{first, second} {
				r, err := warctest.Read(b)
				if err != nil || !bytes.Equal(r.Block, block) || warc.Digest(r.Block) != r.Get("WARC-Block-Digest") {
					t.Fatalf("%s: %q is read as %+v, %v", ext, block, r, err)
				}
			}
			if _, err := warctest.Read(b); !errors.Is(err, io.EOF) {
				t.Fatalf("%s: more than was written: %v", ext, err)
			}
		}
	})
}

// A line of an index is a key and a time without spaces, and JSON, for any path and query; the
// reader of the tests never panics.
func FuzzIndex(f *testing.F) {
	f.Add("a%2e%2e//b?x=%26&sid=1#f", []byte("WARC/1.1\r\nContent-Length: 1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, url string, file []byte) {
		_, _ = warctest.All("x.warc", bytes.NewReader(file))
		if z := new(bytes.Buffer); len(file) > 0 {
			g := gzip.NewWriter(z)
			_, _ = g.Write(file)
			_ = g.Close()
			_, _ = warctest.All("x.warc.gz", z)
		}
		url = "http://h/" + url
		var x warc.Index
		x.Add(warc.Capture{URL: url})
		var out bytes.Buffer
		check(t, x.Write(&out, "f"))
		parts := strings.SplitN(strings.TrimSuffix(out.String(), "\n"), " ", 3)
		var e map[string]string
		if len(parts) != 3 || strings.Contains(out.String()[:out.Len()-1], "\n") {
			t.Fatalf("%q is %q", url, out.String())
		}
		if err := json.Unmarshal([]byte(parts[2]), &e); err != nil || len(parts[1]) != 14 {
			t.Fatalf("%q: %v", out.String(), err)
		}
	})
}
