package api

import (
	"cmp"
	"encoding/json"
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
	"seine/internal/base/jsontext"
)

// Bounds of the keys that are kept.
const (
	maxKeys  = 500 // of each caller; the oldest go first
	keysLife = 24 * time.Hour
)

// keys are the Idempotency-Keys of requests with the answers, a file each in a folder for each caller, so that a
// restart of the server repeats nothing, and no caller evicts the keys of another.
type keys struct {
	dir string

	mu      sync.Mutex
	running map[string]bool // files of requests in flight
}

// answer is a request with a key, and what was answered.
type answer struct {
	At      time.Time   `json:"at"`
	Request string      `json:"request"` // digest of the body
	Status  int         `json:"status"`  // 0 while it is handled
	Header  http.Header `json:"header,omitempty"`
	Body    []byte      `json:"body,omitempty"`
	Cut     bool        `json:"cut,omitempty"` // the body is too large to be kept
}

// Errors of begin.
var (
	errOtherRequest = errors.New("the key is of another request")
	errInFlight     = errors.New("the request is in flight")
	errUnknownEnd   = errors.New("how the request has ended is not known")
)

// openKeys returns the keys in a directory, and removes those that have expired.
func openKeys(dir string) *keys {
	k := &keys{dir: dir, running: make(map[string]bool)}
	callers, _ := os.ReadDir(dir) // begin reports what is wrong with it
	for _, c := range callers {
		k.evict(filepath.Join(dir, c.Name()), false)
		_ = os.Remove(filepath.Join(dir, c.Name())) // if it is empty
	}
	return k
}

// file is where the key of a caller is. Names of callers and keys may have any characters.
func (k *keys) file(who, uri, key string) string {
	return filepath.Join(k.dir, digest(who), digest(uri+"\x00"+key)+".json")
}

// begin notes that a request is handled now, before it is. It returns the answer instead if that is known.
func (k *keys) begin(file, request string) (*answer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	have, err := readAnswer(file)
	switch {
	case err != nil:
		return nil, err
	case have == nil:
	case have.Request != request:
		return nil, errOtherRequest
	case k.running[file]:
		return nil, errInFlight
	case have.Status == 0:
		return nil, errUnknownEnd
	default:
		return have, nil
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	k.evict(dir, true)
	if err := (&answer{At: time.Now().UTC(), Request: request}).save(file); err != nil {
		return nil, err
	}
	k.running[file] = true
	return nil, nil
}

// end stores the answer, or forgets the key if there is none to keep.
func (k *keys) end(file string, a *answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.running, file)
	if a == nil {
		return os.Remove(file)
	}
	begun, err := readAnswer(file)
	if err != nil || begun == nil {
		return cmp.Or(err, fs.ErrNotExist)
	}
	a.At, a.Request = begun.At, begun.Request
	return a.save(file)
}

func readAnswer(file string) (*answer, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	a := new(answer)
	if err == nil {
		err = jsontext.Unmarshal(text, a)
	}
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", file, err)
	}
	if time.Since(a.At) >= keysLife {
		return nil, nil
	}
	return a, nil
}

func (a *answer) save(file string) error {
	text, err := json.Marshal(a)
	if err == nil {
		err = atomicfile.Write(file, text)
	}
	if err != nil {
		return fmt.Errorf("store key: %w", err)
	}
	return nil
}

// evict removes the keys of a caller that have expired, and the oldest if one more is to come and there are too many.
func (k *keys) evict(dir string, more bool) {
	names, _ := os.ReadDir(dir) // begin reports what is wrong with it
	if more && len(names) < maxKeys {
		return
	}
	type kept struct {
		file string
		at   time.Time
	}
	var all []kept
	for _, name := range names {
		info, err := name.Info()
		if file := filepath.Join(dir, name.Name()); err == nil && !k.running[file] {
			all = append(all, kept{file, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return a.at.Compare(b.at) })
	over := 0
	if more {
		over = len(all) / 10 // so that not each key reads the folder's times
	}
	for i, old := range all {
		if i < over || time.Since(old.at) >= keysLife {
			_ = os.Remove(old.file)
		}
	}
}
