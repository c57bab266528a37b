package warc

import (
	"bufio"
	"fmt"
	"io"

	"seine/internal/output/compress"
)

// Writer writes records one after the other. It is not safe for concurrent use.
type Writer struct {
	out  counter
	code *compress.Encoder
	raw  int64
	head []byte
}

// Extent is the position of a record in a file.
type Extent struct{ Offset, Length int64 }

// NewWriter returns a writer on w. A caller may drop it without Close and loses only buffered
// bytes.
func NewWriter(w io.Writer, c *Compression) *Writer {
	return &Writer{out: counter{b: bufio.NewWriterSize(w, 64<<10)}, code: c.Get()}
}

// Raw returns the number of bytes written, before compression.
func (w *Writer) Raw() int64 { return w.raw }

// end follows each block, section 4.
const end = "\r\n\r\n"

// Write writes a record, whose block must be as long as its header says. After an error the file is
// not valid WARC.
func (w *Writer) Write(h *Header, block io.Reader) (Extent, error) {
	begin := w.out.n
	w.head = h.append(w.head[:0])
	size := int64(len(w.head)) + h.Length + int64(len(end))
	z := w.code.Begin(&w.out, size)
	if _, err := z.Write(w.head); err != nil {
		return Extent{}, err
	}
	n, err := io.Copy(z, io.LimitReader(block, h.Length))
	if err == nil && n < h.Length {
		err = fmt.Errorf("the block of a record ends after %d bytes of %d: %w", n, h.Length, io.ErrUnexpectedEOF)
	}
	if err == nil {
		_, err = io.WriteString(z, end)
	}
	if err == nil {
		err = w.code.End()
	}
	w.raw += size
	return Extent{begin, w.out.n - begin}, err
}

// Close flushes the buffer. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.code.Release()
	return w.out.b.Flush()
}

// counter counts the bytes written to a file.
type counter struct {
	b *bufio.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.b.Write(p)
	c.n += int64(n)
	return n, err
}
