package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	zstdcodec "github.com/parquet-go/parquet-go/compress/zstd"
)

// commandEncode is the bare encoder, a process of its own.
const commandEncode = "encode"

// encoders make lines what a format takes, which is not measured, and return what writes that with nothing around it.
var encoders = map[string]func(lines []byte) (write func(to io.Writer) error, err error){
	"jsonl.zst": encodeZstd(),
	// The writer's level, with all cores, and with one as each of its partitions has.
	levelled:  encodeZstd(zstd.WithEncoderLevel(zstd.SpeedFastest)),
	oneCore:   encodeZstd(zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)),
	"parquet": encodeParquet,
}

// Further bare encoders that jsonl.zst is compared with.
const (
	levelled = "same level"
	oneCore  = "same level, one core"
)

// encodeZstd is an encoder as the library gives it, which takes all cores, or with options.
func encodeZstd(options ...zstd.EOption) func(lines []byte) (func(io.Writer) error, error) {
	return func(lines []byte) (func(io.Writer) error, error) { return zstdWriter(lines, options), nil }
}

func zstdWriter(lines []byte, options []zstd.EOption) func(io.Writer) error {
	return func(to io.Writer) error {
		z, err := zstd.NewWriter(to, options...)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(lines) {
			if _, err := z.Write(line); err != nil {
				return err
			}
		}
		return z.Close()
	}
}

// row is a record as the library takes it.
type row struct {
	URL         string    `json:"url" parquet:"url"`
	Status      int64     `json:"status" parquet:"status"`
	ContentType string    `json:"content_type" parquet:"content_type"`
	Title       string    `json:"title" parquet:"title"`
	Description string    `json:"description" parquet:"description"`
	Canonical   string    `json:"canonical" parquet:"canonical"`
	Language    string    `json:"language" parquet:"language"`
	Charset     string    `json:"charset" parquet:"charset"`
	NoIndex     bool      `json:"noindex" parquet:"noindex"`
	Text        string    `json:"text" parquet:"text"`
	FetchedAt   time.Time `json:"fetched_at" parquet:"fetched_at,timestamp(microsecond)"`
	Depth       int64     `json:"depth" parquet:"depth"`
	Referrer    string    `json:"referrer" parquet:"referrer"`
	Crawl       string    `json:"crawl" parquet:"crawl"`
	Visit       string    `json:"visit" parquet:"visit"`
}

// encodeParquet writes rows that are in memory, in row groups of as many as the writer's have.
func encodeParquet(lines []byte) (func(io.Writer) error, error) {
	var rows []row
	for line := range bytes.Lines(lines) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("decode record: %w", err)
		}
		rows = append(rows, r)
	}
	return func(to io.Writer) error {
		w := parquet.NewGenericWriter[row](to, parquet.Compression(&zstdcodec.Codec{Level: zstdcodec.SpeedFastest}), parquet.MaxRowsPerRowGroup(512))
		if _, err := w.Write(rows); err != nil {
			return err
		}
		return w.Close()
	}, nil
}

// encode is the bare encoder: it has read the lines before its time begins, and ends when they are on disk.
func encode(args []string) error {
	format, from, to := args[0], args[1], args[2]
	lines, err := os.ReadFile(from) //nolint:gosec // ours
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	write, err := encoders[format](lines)
	if err != nil {
		return err
	}
	start := time.Now()
	f, err := os.Create(to) //nolint:gosec // ours
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush(), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(time.Since(start).Seconds())
}

// encode runs the bare encoder over the lines.
func (b *bench) encode(ctx context.Context, format, lines string) (f roundStats, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, fmt.Errorf("find this program: %w", err)
	}
	out := filepath.Join(b.work, "bare")
	c := exec.CommandContext(ctx, self, commandEncode, format, lines, out) //nolint:gosec // ourselves
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return f, fmt.Errorf("bare encoder: %w", err)
	}
	var seconds float64
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &seconds); err != nil {
		return f, fmt.Errorf("bare encoder says %q: %w", text, err)
	}
	f.rate, f.cpu = float64(b.Records)/seconds, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	return f, os.Remove(out)
}
