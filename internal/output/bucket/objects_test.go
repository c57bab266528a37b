package bucket

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"seine/internal/output"
	"seine/internal/testing/outputtest"
)

// put prepares objects of the commit that begins at first, each given as "path sequence content",
// without sending them.
func put(t testing.TB, p output.Partition, first uint64, texts ...string) output.Objects {
	t.Helper()
	o, err := p.(output.ObjectPartition).Objects(nameOf(first))
	check(t, err)
	for _, text := range texts {
		var obj output.Object
		var content string
		_, err := fmt.Sscan(text, &obj.Path, &obj.Sequence, &content)
		check(t, err)
		obj.Crawl, obj.RawBytes = "a", int64(len(content))
		check(t, o.Put(obj, func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		}))
	}
	return o
}

func finish(t testing.TB, o output.Objects) []output.File {
	t.Helper()
	files, err := o.Finish()
	check(t, err)
	o.Abandon()
	return files
}

func (p place) wantObject(t testing.TB, path, want string) {
	t.Helper()
	in, err := p.output(t).Open(output.File{Path: path})
	check(t, err)
	defer in.Close()
	got, err := io.ReadAll(in)
	check(t, err)
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

// Objects are replaced only by those of later messages, whoever sends them and when. An existing
// object of the same message is kept and named by the entry.
func TestObjectsOnlyMoveOn(t *testing.T) {
	at := start(t)
	s := at.open(t)
	frozen, next := openOne(t, s), openOne(t, s)
	old := put(t, frozen, 1, "x/one.json 5 old", "x/two.json 6 two", "x/two.json 7 two-again")

	first := finish(t, put(t, next, 1, "x/one.json 5 old"))
	second := finish(t, put(t, next, 6, "x/one.json 9 new", "x/three.json 8 three"))
	if len(first) != 1 || len(second) != 2 {
		t.Fatalf("sent %v and %v", first, second)
	}
	late := finish(t, old) // the frozen owner resumes
	if len(late) != 1 || late[0].Path != "x/two.json" {
		t.Errorf("the frozen owner has sent %v", late)
	}
	at.wantObject(t, "x/one.json", "new")
	at.wantObject(t, "x/two.json", "two-again")

	// As after a crash: the same objects with other bytes, as from encryption.
	again := finish(t, put(t, openOne(t, s), 6, "x/one.json 9 other-bytes"))
	at.wantObject(t, "x/one.json", "new")
	if len(again) != 1 || again[0].SHA256 != second[0].SHA256 || again[0].Bytes != 3 {
		t.Errorf("the entry would name %+v, what is there is %+v", again, second[0])
	}
	// A stream that lost its tail numbers new messages alike.
	n := nameOf(1)
	n.Incarnation = 1
	o, err := openOne(t, s).(output.ObjectPartition).Objects(n)
	check(t, err)
	check(t, o.Put(output.Object{Path: "x/one.json", Sequence: 2}, func(w io.Writer) error {
		_, err := io.WriteString(w, "of another life")
		return err
	}))
	finish(t, o)
	at.wantObject(t, "x/one.json", "of another life")
}

// A request of a frozen owner that arrives after the next owner has replaced the object changes
// nothing.
func TestObjectSentLate(t *testing.T) {
	at := start(t)
	finish(t, put(t, openOne(t, at.open(t)), 1, "x/one.json 1 first"))

	target, err := url.Parse(at.opt.Endpoint)
	check(t, err)
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	held := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "one.json") && r.Header.Get("If-Match") != "" {
			select {
			case <-held:
			default:
				defer close(held)
				finish(t, put(t, openOne(t, at.open(t)), 2, "x/one.json 9 newest"))
			}
		}
		pass.ServeHTTP(w, r)
	}))
	defer front.Close()
	slow := at
	slow.opt.Endpoint = front.URL
	files := finish(t, put(t, openOne(t, slow.open(t)), 2, "x/one.json 5 late"))
	<-held
	if len(files) != 0 {
		t.Errorf("sent %v", files)
	}
	at.wantObject(t, "x/one.json", "newest")
}

// An owner that finds its slot taken removes no objects: the existing entry may name them.
func TestTakenSlotKeepsObjects(t *testing.T) {
	at := start(t)
	s := at.open(t)
	frozen, next := openOne(t, s), openOne(t, s)
	entry := func(o output.Objects) *output.Commit {
		c := &output.Commit{Created: created, FirstSeq: 1, LastSeq: 9, Files: finish(t, o)}
		c.Visits = make([]byte, output.IdentitySize*len(c.Files))
		return c
	}
	mine := entry(put(t, frozen, 1, "x/one.json 1 one", "x/two.json 2 two"))
	theirs := entry(put(t, next, 1, "x/one.json 1 one"))
	theirs.LastSeq = 1
	_, err := next.Commit(theirs)
	check(t, err)
	_, err = frozen.Commit(mine)
	wantTaken(t, err)
	at.wantObject(t, "x/one.json", "one")
	at.wantObject(t, "x/two.json", "two")
	check(t, outputtest.Verify(at.output(t)))
}
