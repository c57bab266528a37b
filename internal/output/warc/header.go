package warc

import (
	"strconv"
	"strings"
	"time"
)

// Types of records, section 5.5.
const (
	TypeInfo     = "warcinfo"
	TypeRequest  = "request"
	TypeResponse = "response"
	TypeResource = "resource"
	TypeRevisit  = "revisit"
	TypeMetadata = "metadata"
)

// Content types of blocks.
const (
	ContentRequest  = "application/http;msgtype=request"
	ContentResponse = "application/http;msgtype=response"
	ContentFields   = "application/warc-fields"
)

// IdenticalPayload is the profile of a revisit whose payload equals that of an earlier record,
// section 6.7.2.
const IdenticalPayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

// NotModified is the profile of a revisit for which the server responded "not modified", section
// 6.7.3.
const NotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

// Field is a named field of a header or of a block of ContentFields.
type Field struct{ Name, Value string }

// Header is the header of a record. Empty fields are omitted.
type Header struct {
	Type        string
	ID          string
	Date        time.Time
	TargetURI   string
	ContentType string
	Length      int64  // of the block
	BlockDigest string // of the block
	More        []Field
}

// dateLayout has milliseconds: section 5.4 allows one to nine fractional digits, and readers of
// WARC 1.0 ignore them.
const dateLayout = "2006-01-02T15:04:05.000Z"

// Date returns t in the format of fields.
func Date(t time.Time) string { return t.UTC().Format(dateLayout) }

// append appends the header with the empty line that ends it.
func (h *Header) append(b []byte) []byte {
	b = append(b, "WARC/1.1\r\n"...)
	for _, f := range []Field{
		{"WARC-Type", h.Type}, {"WARC-Record-ID", h.ID}, {"WARC-Date", Date(h.Date)}, {"WARC-Target-URI", h.TargetURI},
	} {
		b = f.append(b)
	}
	for _, f := range h.More {
		b = f.append(b)
	}
	for _, f := range []Field{
		{"WARC-Block-Digest", h.BlockDigest}, {"Content-Type", h.ContentType}, {"Content-Length", strconv.FormatInt(h.Length, 10)},
	} {
		b = f.append(b)
	}
	return append(b, "\r\n"...)
}

// append appends the field as a line, unless it is empty.
func (f Field) append(b []byte) []byte {
	if f.Value == "" {
		return b
	}
	return f.line(b)
}

// line appends the field as a line. It replaces line ends in a value, which a site's header field
// might have, by spaces.
func (f Field) line(b []byte) []byte {
	b = append(append(b, f.Name...), ':')
	if f.Value != "" {
		b = append(append(b, ' '), oneLine.Replace(f.Value)...)
	}
	return append(b, "\r\n"...)
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// Fields returns a block of ContentFields: a line for each field, including empty ones.
func Fields(fields []Field) []byte {
	var b []byte
	for _, f := range fields {
		b = f.line(b)
	}
	return b
}
