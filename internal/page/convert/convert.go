// Package convert converts a PDF or an office file to an HTML page, so that code for pages can read
// it too: DOCX, XLSX, PPTX, ODT, ODS, ODP, EPUB and RTF.
//
// Files may be hostile. PDFs are read by PDFium, compiled to WebAssembly, in a separate instance
// without files, clock or network, with at most [maxMemory] bytes and [maxTime]. This package reads
// the other formats, with time and memory linear in their unpacked size, which is limited. If a
// limit ends the reading, the part read so far counts.
package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Reasons why a file has no text.
const (
	Scanned     = "scanned"     // its pages are images
	Empty       = "empty"       // its pages have neither text nor images
	Encrypted   = "encrypted"   // it needs a password or a license
	Damaged     = "damaged"     // it is not readable
	Unsupported = "unsupported" // its format is not supported, such as Word's before 2007
	TooLarge    = "too_large"   // it exceeds a limit of this package
)

const (
	maxFile = 64 << 20 // bytes of a file
	maxHTML = 8 << 20  // bytes of the resulting page
)

// Result is the result of converting a file.
type Result struct {
	HTML   []byte // a page in UTF-8, with a section that has the attribute data-page for each page, slide or sheet
	Pages  int    // pages of a PDF, slides or sheets, as stated in the file; 0 if it has none
	NoText string // one of the reasons above, "" for a file with text
	// Warning describes a fault, "" if there was none.
	Warning string
}

// failure is the reason why a file, or the rest of it, cannot be read.
type failure struct{ class, reason string }

func (f *failure) Error() string { return f.reason }

func fail(class, format string, args ...any) error {
	return &failure{class, fmt.Sprintf(format, args...)}
}

// HTML converts a file. For an unreadable file it returns a page without text, and the result has
// the reason. The error is ctx's.
func HTML(ctx context.Context, file []byte) (*Result, error) {
	p := &page{ctx: ctx}
	err := p.guarded(file)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return p.result(err), nil
}

// guarded reads a file. It recovers from a panic of a reader, so that a bug affects only this file.
func (p *page) guarded(file []byte) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fail(Damaged, "its reader failed: %v", v)
		}
	}()
	return p.read(file)
}

// read selects a reader by the first bytes of a file.
func (p *page) read(file []byte) error {
	switch {
	case len(file) > maxFile:
		return fail(TooLarge, "the file has more than %d MiB", maxFile>>20)
	case bytes.Contains(file[:min(len(file), 1024)], []byte("%PDF-")):
		return readPDF(p, file)
	case bytes.HasPrefix(file, []byte("PK")):
		return readArchive(p, file)
	case bytes.HasPrefix(file, []byte(`{\rtf`)):
		return readRTF(p, file)
	case bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")): // compound file, [MS-CFB] section 2.2
		if bytes.Contains(file, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")) {
			return fail(Encrypted, "it needs a password")
		}
		return fail(Unsupported, "files of Office before 2007 are not read")
	}
	return fail(Damaged, "it does not begin as a PDF or an office file does")
}

// result completes the page.
func (p *page) result(err error) *Result {
	r := &Result{HTML: p.html(), Pages: p.pages}
	if err == nil && p.full {
		err = fail(TooLarge, "it has more than %d MiB of text", maxHTML>>20)
	}
	f, known := errors.AsType[*failure](err)
	if err != nil && !known {
		f = &failure{Damaged, err.Error()}
	}
	if f != nil {
		r.Warning = f.reason
	}
	switch {
	case p.hasText:
		if r.Warning != "" {
			r.Warning = "only a part was read: " + r.Warning
		}
	case f != nil:
		r.NoText = f.class
	case p.pictures:
		r.NoText = Scanned
	default:
		r.NoText = Empty
	}
	return r
}
