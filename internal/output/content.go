package output

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Content is the writer of a chunk's or object's file. It counts and hashes the bytes.
type Content struct {
	Hook Hook
	to   io.Writer
	sum  hash.Hash
	size int64
}

// NewContent returns a Content that writes to to.
func NewContent(to io.Writer, h Hook) Content { return Content{Hook: h, to: to, sum: sha256.New()} }

// Write implements io.Writer.
func (c *Content) Write(b []byte) (int, error) {
	if err := c.Hook.At(StepWrite); err != nil {
		return 0, err
	}
	n, err := c.to.Write(b)
	c.sum.Write(b[:n])
	c.size += int64(n)
	return n, err
}

// Size returns the number of bytes written.
func (c *Content) Size() int64 { return c.size }

// Sum returns the SHA-256 of the bytes written.
func (c *Content) Sum() []byte { return c.sum.Sum(nil) }

// File describes the content as a file of a group.
func (c *Content) File(path string, g Group) File {
	return File{Path: path, Crawl: g.Crawl, Kind: g.Kind, Bytes: c.size, SHA256: hex.EncodeToString(c.Sum())}
}
