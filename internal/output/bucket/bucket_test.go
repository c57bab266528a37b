package bucket

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"seine/internal/output"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/s3server"
)

// place is a separate destination on a test server.
type place struct {
	out string
	opt Options
}

func start(t testing.TB) place {
	server := s3server.Start(t)
	return place{server.Out(), Options{Endpoint: server.Endpoint(), PathStyle: true}}
}

// openAs opens the destination for the named writer.
func (p place) openAs(t testing.TB, name string) (*Sink, error) {
	return Open(p.out, name, t.TempDir(), p.opt, slog.New(slog.DiscardHandler), nil)
}

// open opens the destination with listings of one key per page.
func (p place) open(t testing.TB) *Sink {
	t.Helper()
	s, err := p.openAs(t, "default")
	check(t, err)
	one := int32(1)
	s.client.pageSize = &one
	return s
}

func (p place) output(t testing.TB) output.Output {
	t.Helper()
	log, err := Read(p.out, "default", p.opt)
	check(t, err)
	return output.Output{Log: log}
}

func (p place) keys(t testing.TB) []string {
	t.Helper()
	return s3server.Keys(t, p.opt.Endpoint, p.out)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantTaken(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, output.ErrExists) {
		t.Fatalf("%v, want %v", err, output.ErrExists)
	}
}

func TestMain(m *testing.M) {
	s3server.SetCredentials()
	os.Exit(m.Run())
}

func TestOtherWriter(t *testing.T) {
	at := start(t)
	for range 2 {
		_, err := at.openAs(t, "default")
		check(t, err)
	}
	if _, err := at.openAs(t, "second"); err == nil || !strings.Contains(err.Error(), `"default"`) {
		t.Errorf("a place of another writer: %v", err)
	}
	s := at.open(t)
	commitOne(t, openOne(t, s), 1, "one")
	check(t, s.client.list(s.logs, func(o object) error { return s.client.remove(o.key) }))
	if _, err := at.openAs(t, "default"); err == nil || !strings.Contains(err.Error(), "no commit log") {
		t.Errorf("chunks without a log: %v", err)
	}
}

// A service without working conditional writes is rejected, whether it reports that or ignores the
// condition.
func TestWithoutConditions(t *testing.T) {
	for name, status := range map[string]int{"ignored": http.StatusOK, "refused": http.StatusNotImplemented} {
		t.Run(name, func(t *testing.T) {
			var puts atomic.Int32
			fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					puts.Add(1)
					w.WriteHeader(status)
					return
				}
				fmt.Fprint(w, `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`)
			}))
			defer fake.Close()
			at := place{"s3://bucket", Options{Endpoint: fake.URL, PathStyle: true}}
			if _, err := at.openAs(t, "default"); !errors.Is(err, errNoConditions) {
				t.Errorf("%v, want %v", err, errNoConditions)
			}
			if n := puts.Load(); n > attempts {
				t.Errorf("%d attempts", n)
			}
		})
	}
}

// An unavailable or failing service is distinguished from one that rejects requests.
func TestServiceThatIsAwayIsTold(t *testing.T) {
	answer := func(status int, code string) error {
		return &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: &smithy.GenericAPIError{Code: code},
		}}
	}
	for name, of := range map[string]struct {
		err  error
		away bool
	}{
		"nobody listens": {&smithy.OperationError{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, true},
		"it is too busy": {answer(http.StatusServiceUnavailable, "SlowDown"), true},
		"it refuses":     {answer(http.StatusForbidden, "AccessDenied"), false},
		"it has none":    {answer(http.StatusNotFound, "NoSuchKey"), false},
		"no credentials": {&smithy.OperationError{Err: errors.New("get credentials: none in the environment")}, false},
		"its gateway is in trouble, in HTML": {&awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusBadGateway}}, Err: &smithy.DeserializationError{Err: io.EOF},
		}}, true},
	} {
		if err := (&client{bucket: "b"}).explain(of.err); errors.Is(err, output.ErrAway) != of.away {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var created = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

func openOne(t testing.TB, s *Sink) output.Partition {
	t.Helper()
	p, _, err := s.OpenPartition(0, created)
	check(t, err)
	return p
}

// makeChunk sends a chunk of the commit that begins at first.
func makeChunk(t testing.TB, p output.Partition, first uint64, text string) output.File {
	t.Helper()
	c, err := p.Create(nameOf(first), output.Group{Crawl: "crawl", Dir: "crawl/page"}, "jsonl")
	check(t, err)
	defer c.Abandon()
	_, err = c.Write([]byte(text))
	check(t, err)
	f, err := c.Finish()
	check(t, err)
	f.Records = 1
	return f
}

func nameOf(first uint64) output.Name {
	return output.Name{StreamCreated: output.CreatedStamp(created), First: first}
}

func entryOf(first uint64, f output.File) *output.Commit {
	id := sha256.Sum256([]byte(f.SHA256))
	return &output.Commit{
		Created: created, FirstSeq: first, LastSeq: first + 9, Stored: created, Files: []output.File{f}, Visits: id[:output.IdentitySize],
	}
}

func commitOne(t testing.TB, p output.Partition, first uint64, text string) {
	t.Helper()
	_, err := p.Commit(entryOf(first, makeChunk(t, p, first, text)))
	check(t, err)
}

// texts verifies the output and returns its committed chunks. It fails if there are others.
func (p place) texts(t testing.TB) []string {
	t.Helper()
	o := p.output(t)
	check(t, outputtest.Verify(o))
	var all []string
	known := map[string]bool{output.CommitsDir + "/default/" + marker: true}
	check(t, o.Commits(func(c *output.Commit) error {
		known[output.CommitsDir+"/default/"+c.Name().String()+".json"] = true
		for _, f := range c.Files {
			in, err := o.Open(f)
			check(t, err)
			text, err := io.ReadAll(in)
			check(t, errors.Join(err, in.Close()))
			all = append(all, string(text))
			known[f.Path] = true
		}
		return nil
	}))
	for _, key := range p.keys(t) {
		if !known[key] {
			t.Errorf("%s is left over", key)
		}
	}
	return all
}

func wantTexts(t testing.TB, at place, want ...string) {
	t.Helper()
	if got := at.texts(t); !slices.Equal(got, want) {
		t.Errorf("committed is %q, want %q", got, want)
	}
}

// An owner is frozen after it has sent its chunk, and resumes while the next owner is at work: only
// the first of them to store the entry commits.
func TestFrozenOwner(t *testing.T) {
	server := s3server.Start(t)
	at := func() place { return place{server.Out(), Options{Endpoint: server.Endpoint(), PathStyle: true}} }
	t.Run("thaws before the entry of the next", func(t *testing.T) {
		at := at()
		frozen, next := at.open(t), at.open(t)
		old := openOne(t, frozen)
		commitOne(t, old, 1, "one")
		chunk := makeChunk(t, old, 11, "two of the frozen")
		p := openOne(t, next)
		other := makeChunk(t, p, 11, "two of the next")
		if other.Path == chunk.Path {
			t.Fatalf("both have the name %s", chunk.Path)
		}
		_, err := old.Commit(entryOf(11, chunk))
		check(t, err)
		_, err = p.Commit(entryOf(11, other))
		wantTaken(t, err)
		commitOne(t, openOne(t, next), 21, "three")
		wantTexts(t, at, "one", "two of the frozen", "three")
	})
	t.Run("thaws after the entry of the next", func(t *testing.T) {
		at := at()
		frozen, next := at.open(t), at.open(t)
		old := openOne(t, frozen)
		commitOne(t, old, 1, "one")
		chunk := makeChunk(t, old, 11, "two of the frozen")
		p := openOne(t, next)
		commitOne(t, p, 11, "two of the next")
		commitOne(t, p, 21, "three")
		wantTexts(t, at, "one", "two of the next", "three")
		_, err := old.Commit(entryOf(11, chunk))
		wantTaken(t, err)
		late := makeChunk(t, old, 11, "two, late")
		_, err = old.Commit(entryOf(11, late))
		wantTaken(t, err)
		wantTexts(t, at, "one", "two of the next", "three")
	})
	t.Run("stores its own entry twice", func(t *testing.T) {
		at := at()
		s := at.open(t)
		p := openOne(t, s)
		entry := entryOf(1, makeChunk(t, p, 1, "one"))
		for range 2 { // as after a lost response
			_, err := p.Commit(entry)
			check(t, err)
		}
		wantTexts(t, at, "one")
	})
}

// A key in use is not replaced, and its chunk is removed once no entry can name it.
func TestLeftovers(t *testing.T) {
	at := start(t)
	s := at.open(t)
	commitOne(t, openOne(t, s), 1, "one")
	chunk := func(first uint64, epoch time.Time, crawl string) string {
		return s.prefix + crawl + "/" + output.Name{StreamCreated: output.CreatedStamp(epoch), First: first}.String() + ".jsonl"
	}
	put := func(key string) {
		t.Helper()
		_, err := s.client.putNew(key, []byte("left over"))
		check(t, err)
	}
	next := chunk(11, created, "crawl")
	gone := []string{chunk(1, created, "other"), chunk(5, created, "crawl"), next, chunk(11, created, "other"), s.prefix + "crawl/deeper/" + path.Base(next)}
	stay := []string{
		chunk(11, created.AddDate(-1, 0, 0), "crawl"), chunk(500, created, "crawl"),
		s.prefix + "crawl/notes.txt", s.prefix + "_mine/" + path.Base(next),
		s.prefix + "another/_commits/archive/writer", s.prefix + "another/crawl/" + path.Base(next), // of the output in this folder
	}
	for _, key := range append(slices.Clone(gone), stay...) {
		put(key)
	}
	p := openOne(t, s)
	have := at.keys(t)
	if !slices.Contains(have, strings.TrimPrefix(next, s.prefix)) {
		t.Errorf("%s is removed while its slot is free", next)
	}
	put(chunk(11, created, "late"))
	gone = append(gone, chunk(11, created, "late"))
	late, err := p.Create(nameOf(11), output.Group{Crawl: "late", Dir: "late"}, "jsonl")
	check(t, err)
	f, err := late.Finish()
	check(t, err)
	if s.prefix+f.Path == chunk(11, created, "late") {
		t.Error("an object was replaced")
	}
	f.Records = 1
	entry := entryOf(11, makeChunk(t, p, 11, "two"))
	entry.Files, entry.Visits = append(entry.Files, f), append(entry.Visits, entry.Visits...)
	_, err = p.Commit(entry)
	check(t, err)
	check(t, outputtest.Verify(at.output(t)))
	have = at.keys(t)
	for _, key := range gone {
		if slices.Contains(have, strings.TrimPrefix(key, s.prefix)) {
			t.Errorf("%s is still there", key)
		}
	}
	for _, key := range stay {
		if !slices.Contains(have, strings.TrimPrefix(key, s.prefix)) {
			t.Errorf("%s was removed", key)
		}
	}
}

// A large chunk is sent in parts. The next owner aborts an upload that was interrupted.
func TestInParts(t *testing.T) {
	at := start(t)
	s := at.open(t)
	s.client.partsFrom = partBytes
	p := openOne(t, s)
	rnd := rand.NewChaCha8([32]byte{})
	large := make([]byte, 2*partBytes+12345)
	_, _ = rnd.Read(large)
	f := makeChunk(t, p, 1, string(large))
	if f.Bytes != int64(len(large)) {
		t.Errorf("%d bytes, want %d", f.Bytes, len(large))
	}
	key := s.prefix + "crawl/" + nameOf(11).String() + ".jsonl"
	_, err := s.client.api.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &s.client.bucket, Key: &key})
	check(t, err)
	_, err = p.Commit(entryOf(1, f))
	check(t, err)
	check(t, outputtest.Verify(at.output(t)))
	uploads := func() (n int) {
		t.Helper()
		out, err := s.client.api.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &s.client.bucket})
		check(t, err)
		return len(out.Uploads)
	}
	if n := uploads(); n != 1 {
		t.Fatalf("%d uploads are not complete, want the one", n)
	}
	openOne(t, s)
	if n := uploads(); n != 0 {
		t.Errorf("%d uploads are still there", n)
	}
	// The condition applies to objects in parts, too.
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	check(t, err)
	defer file.Close()
	_, err = file.Write(large)
	check(t, err)
	wantTaken(t, s.client.sendNew(s.prefix+f.Path, file, f.Bytes, nil))
}

// Of several owners that store an entry in one slot at the same moment, exactly one succeeds.
func TestOneTakesTheSlot(t *testing.T) {
	at := start(t)
	s := at.open(t)
	var took atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		p := openOne(t, s)
		all.Go(func() {
			entry := entryOf(1, makeChunk(t, p, 1, fmt.Sprint("of ", i)))
			switch _, err := p.Commit(entry); {
			case err == nil:
				took.Add(1)
			case !errors.Is(err, output.ErrExists):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if took.Load() != 1 {
		t.Errorf("%d took the slot", took.Load())
	}
	openOne(t, s)
	if got := at.texts(t); len(got) != 1 {
		t.Errorf("committed is %q", got)
	}
}

// The first response to every modifying request is lost. The effect of the request is detected, and
// counts once.
func TestLostAnswers(t *testing.T) {
	at := start(t)
	direct := at
	target, err := url.Parse(at.opt.Endpoint)
	check(t, err)
	pass := httputil.NewSingleHostReverseProxy(target)
	var answered sync.Map
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, again := answered.LoadOrStore(r.Method+r.URL.String(), true)
		if again || r.Method == http.MethodGet || r.Method == http.MethodHead {
			pass.ServeHTTP(w, r)
			return
		}
		pass.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	defer front.Close()
	at.opt.Endpoint = front.URL
	s := at.open(t)
	p := openOne(t, s)
	commitOne(t, p, 1, "one")
	s.client.partsFrom = partBytes
	large := strings.Repeat("two ", partBytes/3)
	commitOne(t, p, 11, large)
	wantTexts(t, direct, "one", large)
	check(t, outputtest.Verify(direct.output(t)))
}
