package api

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
)

// idempotencyHeader names a request, so that one that is sent again is not done again.
const idempotencyHeader = "Idempotency-Key"

// idempotencyParameter documents it.
var idempotencyParameter = &huma.Param{
	Name: idempotencyHeader, In: "header",
	Description: "A name of your own for this request: if it is sent again with the same name within a day, it is not done again, and has the same answer.",
	Schema:      &huma.Schema{Type: "string", MaxLength: new(maxKey)},
}

// Bounds of what is remembered.
const (
	maxKey      = 255
	maxAnswers  = 500
	maxAnswer   = 32 << 10 // what is larger is done again
	answersLife = 24 * time.Hour
)

// idempotency remembers the answers of requests that had a key. It is lost when the server ends: who creates a
// crawl again then is told that it is there.
type idempotency struct {
	mu    sync.Mutex
	known map[string]*answer
	order []string // of known, the oldest first
}

// answer is what a request got.
type answer struct {
	at     time.Time
	sum    [sha256.Size]byte // of the request
	done   bool
	status int
	header http.Header
	body   []byte
}

func newIdempotency() *idempotency { return &idempotency{known: make(map[string]*answer)} }

// serve handles a request, or answers as it was answered before.
func (i *idempotency) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get(idempotencyHeader)
	if key == "" || r.Method != http.MethodPost {
		next.ServeHTTP(w, r)
		return
	}
	if len(key) > maxKey {
		problem.Write(w, http.StatusBadRequest, "the Idempotency-Key is longer than 255 characters: give a shorter one, such as a UUID")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		status, detail := http.StatusBadRequest, "the body cannot be read: send it again"
		if errors.As(err, new(*http.MaxBytesError)) {
			status, detail = http.StatusRequestEntityTooLarge, "the body is too large: send less at a time"
		}
		problem.Write(w, status, detail)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	name := caller.Of(r.Context()).Name + "\x00" + r.URL.RequestURI() + "\x00" + key
	a, mine := i.begin(name, sha256.Sum256(body))
	switch {
	case mine:
		i.record(name, a, next, w, r)
	case a == nil:
		problem.Write(w, http.StatusUnprocessableEntity, "the Idempotency-Key was used for another request: give each request one of its own")
	case !a.done:
		w.Header().Set("Retry-After", "1")
		problem.Write(w, http.StatusConflict, "the request of this Idempotency-Key is under way: ask again in a moment")
	default:
		for k, v := range a.header {
			w.Header()[k] = v
		}
		w.Header().Set("Idempotency-Replayed", "true")
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // the client may be gone
	}
}

// begin returns a new answer for a request that was not there, that of the same request before, or nil if
// another one had the key.
func (i *idempotency) begin(name string, sum [sha256.Size]byte) (a *answer, mine bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if have := i.known[name]; have != nil && time.Since(have.at) < answersLife {
		if have.sum != sum {
			return nil, false
		}
		copied := *have
		return &copied, false
	}
	if len(i.order) >= maxAnswers {
		delete(i.known, i.order[0])
		i.order = i.order[1:]
	}
	a = &answer{at: time.Now(), sum: sum}
	i.known[name], i.order = a, append(i.order, name)
	return a, true
}

// record handles the request, and keeps the answer unless it may be another the next time.
func (i *idempotency) record(name string, a *answer, next http.Handler, w http.ResponseWriter, r *http.Request) {
	rec := &recorder{ResponseWriter: w, status: http.StatusOK}
	kept := false
	defer func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if !kept || rec.status >= http.StatusInternalServerError || rec.status == http.StatusTooManyRequests || rec.over {
			delete(i.known, name)
			return
		}
		a.done, a.status, a.header, a.body = true, rec.status, w.Header().Clone(), rec.body.Bytes()
	}()
	next.ServeHTTP(rec, r)
	kept = true
}

// recorder keeps an answer while it is sent.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	over   bool // it is too large to keep
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	if r.over = r.over || r.body.Len()+len(p) > maxAnswer; !r.over {
		r.body.Write(p)
	}
	return r.ResponseWriter.Write(p) //nolint:wrapcheck // stands for it
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
