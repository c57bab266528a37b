// Package audit logs the writes through the server: one line of JSON for each write, in two bounded
// files. When the current file is full, both are merged into the older one: the newest entries of
// each caller, with an equal share of MaxBytes for each, so that no caller evicts the entries of
// another. Several processes may append to one log.
package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"seine/internal/base/atomicfile"
	"seine/internal/base/filelock"
	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// Entry is a write and its result.
type Entry struct {
	// ID increases from entry to entry.
	ID     uint64    `json:"id"`
	Time   time.Time `json:"time"`
	Who    string    `json:"who"`    // name of the token or the client certificate, or "local"
	From   string    `json:"from"`   // address of the client
	Method string    `json:"method"` // HTTP method
	Path   string    `json:"path"`   // requested path with its query
	Subject
	Status  int    `json:"status"`           // of the response
	Reason  string `json:"reason,omitempty"` // reason of a rejection
	TookMS  int64  `json:"took_ms"`
	Request string `json:"request,omitempty"` // X-Request-Id of the client, if it sent one
}

// MaxBytes is the size limit of each of the two files.
const MaxBytes = 4 << 20

// maxLine bounds a stored entry, in bytes.
const maxLine = 16 << 10

// Names of the files.
const (
	current = "audit.jsonl"
	older   = "audit.1.jsonl"
	lock    = "audit.lock" // held to append to the other files and to read them
)

// Log is an audit log in a directory. It is safe for concurrent use.
type Log struct {
	dir string
	max int64

	mu   sync.Mutex
	file *os.File
	size int64
	last uint64
}

// Open opens the log in a directory, and creates the directory if needed.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	l := &Log{dir: dir, max: MaxBytes}
	return l, l.exclusively(l.open)
}

// exclusively calls do while no other process accesses the log.
func (l *Log) exclusively(do func() error) error {
	return filelock.With(filepath.Join(l.dir, lock), do)
}

// open opens the current file at its end. It terminates a line that a crash cut off.
func (l *Log) open() error {
	ofOlder, joined := uint64(0), false // joined: a crash interrupted rotate between its two steps
	err := l.each(older, func(e *Entry, _ []byte) { ofOlder = max(ofOlder, e.ID) })
	if err == nil {
		l.last = max(l.last, ofOlder)
		err = l.each(current, func(e *Entry, _ []byte) {
			l.last, joined = max(l.last, e.ID), joined || e.ID <= ofOlder
		})
	}
	if err != nil {
		return err
	}
	if joined {
		if err := atomicfile.Write(filepath.Join(l.dir, current), nil); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	f, err := os.OpenFile(filepath.Join(l.dir, current), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		end := make([]byte, 1)
		if _, err = f.ReadAt(end, info.Size()-1); err == nil && end[0] != '\n' {
			_, err = f.WriteString("\n")
		}
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("audit: %w", err)
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Close closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// Add appends an entry and sets its ID.
func (l *Log) Add(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exclusively(func() error { return l.add(e) })
}

func (l *Log) add(e Entry) error {
	if err := l.catchUp(); err != nil {
		return err
	}
	if l.size >= l.max {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	l.last++
	e.ID, e.Path, e.Reason, e.Request = l.last, messages.Clip(e.Path), messages.Clip(e.Reason), messages.Clip(e.Request)
	e.Crawl, e.Object = messages.Clip(e.Crawl), messages.Clip(e.Object)
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	n, err := l.file.Write(append(text, '\n'))
	if l.size += int64(n); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// catchUp reopens the file if another process has appended to it or replaced it.
func (l *Log) catchUp() error {
	have, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	now, err := os.Stat(filepath.Join(l.dir, current))
	if err == nil && os.SameFile(have, now) && now.Size() == l.size {
		return nil
	}
	_ = l.file.Close() // each line was written when it was added
	return l.open()
}

// rotate merges the files into the older one, and starts a new current one.
func (l *Log) rotate() error {
	text, err := l.shares()
	if err = errors.Join(err, l.file.Close()); err == nil {
		err = atomicfile.Write(filepath.Join(l.dir, older), text)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(l.dir, current), nil)
	}
	if err = errors.Join(err, l.open()); err != nil {
		return fmt.Errorf("audit: begin a new file: %w", err)
	}
	return nil
}

// Newest returns up to most of the entries before an ID, the newest first; 0 starts at the end.
func (l *Log) Newest(before uint64, most int) (all []Entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.exclusively(func() error {
		all, err = l.newest(before, most)
		return err
	})
	return all, err
}

func (l *Log) newest(before uint64, most int) ([]Entry, error) {
	var ring []Entry
	for _, name := range []string{older, current} {
		err := l.each(name, func(e *Entry, _ []byte) {
			if before > 0 && e.ID >= before {
				return
			}
			if ring = append(ring, *e); len(ring) > 2*most {
				ring = append(ring[:0], ring[len(ring)-most:]...)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	ring = ring[max(0, len(ring)-most):]
	slices.Reverse(ring)
	return ring, nil
}

// each calls do for the readable entries of a file. line is valid until do returns.
func (l *Log) each(name string, do func(e *Entry, line []byte)) error {
	f, err := os.Open(filepath.Join(l.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		var e Entry
		if err == nil && jsontext.Unmarshal(bytes.TrimSpace(line), &e) == nil {
			do(&e, line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // a longer line is not an entry
			return fmt.Errorf("audit: read %s: %w", name, err)
		}
	}
}
