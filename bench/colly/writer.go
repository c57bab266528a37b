package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// record is one line of the output.
type record struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// writer writes records to a compressed file; safe for concurrent use.
type writer struct {
	file *os.File

	mu   sync.Mutex
	zstd *zstd.Encoder
	buf  *bufio.Writer
	json *json.Encoder
	err  error // the first
}

func newWriter(name string) (*writer, error) {
	f, err := os.Create(name) //nolint:gosec // the file is the argument
	if err != nil {
		return nil, fmt.Errorf("create output: %w", err)
	}
	z, err := zstd.NewWriter(f)
	if err != nil {
		return nil, fmt.Errorf("start zstd: %w", errors.Join(err, f.Close()))
	}
	buf := bufio.NewWriterSize(z, 64<<10)
	return &writer{file: f, zstd: z, buf: buf, json: json.NewEncoder(buf)}, nil
}

// write keeps the first error for close.
func (w *writer) write(r record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.json.Encode(r); w.err == nil {
		w.err = err
	}
}

// close ends the file and makes it durable, as Seine does.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.err, w.buf.Flush(), w.zstd.Close(), w.file.Sync(), w.file.Close())
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
