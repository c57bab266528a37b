package api

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"seine/internal/base/atomicfile"
)

// Bounds of the stored keys.
const (
	maxKeys  = 500 // of each caller; the oldest are evicted first
	keysLife = 24 * time.Hour
)

// keys stores the Idempotency-Keys of requests with their replies: a file for each key, in a
// directory for each caller. So a restart of the server repeats no request, and no caller evicts
// the keys of another.
type keys struct {
	dir     string
	running sync.Map // files of in-flight requests
}

// answer is the reply to a request with a key.
type answer struct {
	Request string      `json:"request"` // digest of the body
	Status  int         `json:"status"`  // 0 until the request is handled
	Header  http.Header `json:"header,omitempty"`
	Body    []byte      `json:"body,omitempty"`
	Cut     bool        `json:"cut,omitempty"` // the body is too large to store
}

// Errors of begin.
var (
	errOtherRequest = errors.New("the key is of another request")
	errInFlight     = errors.New("the request is in flight")
	errUnknownEnd   = errors.New("it is not known whether the request was handled")
)

// openKeys opens the keys in a directory, and removes expired ones.
func openKeys(dir string) *keys {
	k := &keys{dir: dir}
	callers, _ := os.ReadDir(dir) // begin reports errors
	for _, c := range callers {
		k.evict(filepath.Join(dir, c.Name()), maxKeys)
		_ = os.Remove(filepath.Join(dir, c.Name())) // fails if it is not empty
	}
	return k
}

// file returns the file of a key. It hashes names of callers and keys, which may contain any
// characters.
func (k *keys) file(who, uri, key string) string {
	return filepath.Join(k.dir, digest(who), digest(uri+"\x00"+key)+atomicfile.JSON)
}

// begin stores that a request is in flight before it is handled. If it was handled before, begin
// returns the stored reply.
func (k *keys) begin(file, request string) (have *answer, err error) {
	if _, inFlight := k.running.LoadOrStore(file, nil); inFlight {
		return nil, errInFlight
	}
	if have, err = readAnswer(file, request); have == nil && err == nil {
		err = k.create(file, request)
	}
	if have != nil || err != nil {
		k.running.Delete(file)
	}
	return have, err
}

// create stores a key, unless another server has stored it meanwhile.
func (k *keys) create(file, request string) error {
	dir := filepath.Dir(file)
	if kept, _ := os.ReadDir(dir); len(kept) >= maxKeys {
		k.evict(dir, maxKeys*9/10)
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600); errors.Is(err, fs.ErrExist) {
			return errInFlight
		}
		_ = f.Close() // nothing was written
	}
	if err == nil {
		err = atomicfile.WriteJSON(file, &answer{Request: request})
	}
	return err
}

// end stores the reply to a request, or removes its key if a is nil.
func (k *keys) end(file string, a *answer) error {
	defer k.running.Delete(file)
	if a == nil {
		return os.Remove(file)
	}
	return atomicfile.WriteJSON(file, a)
}

// readAnswer reads the reply to a request from a file. It returns nil if there is none younger than
// keysLife. A request with a damaged file may have been handled.
func readAnswer(file, request string) (*answer, error) {
	info, err := os.Stat(file)
	if err == nil && time.Since(info.ModTime()) >= keysLife {
		err = cmp.Or(os.Remove(file), fs.ErrNotExist)
	}
	a := new(answer)
	if err == nil {
		err = atomicfile.ReadJSON(file, a)
	}
	_, unread := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // no reply is stored
	case unread:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnknownEnd, err)
	case a.Request != request:
		return nil, errOtherRequest
	case a.Status == 0:
		return nil, errUnknownEnd
	}
	return a, nil
}

// evict removes expired keys of a caller, and the oldest ones beyond most. It keeps the keys of
// in-flight requests.
func (k *keys) evict(dir string, most int) {
	entries, _ := os.ReadDir(dir) // create reports errors
	var ended []fs.FileInfo
	for _, e := range entries {
		_, inFlight := k.running.Load(filepath.Join(dir, e.Name()))
		if info, err := e.Info(); err == nil && !inFlight {
			ended = append(ended, info)
		}
	}
	slices.SortFunc(ended, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range ended {
		if i >= most || time.Since(info.ModTime()) >= keysLife {
			_ = os.Remove(filepath.Join(dir, info.Name()))
		}
	}
}
