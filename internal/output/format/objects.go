package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"

	"seine/internal/page/mediatype"
)

// Body encodes the content of an object of one record. It is safe for concurrent use.
type Body interface {
	// Ext is the extension that is added to the paths of objects. It begins with a dot, or is
	// empty.
	Ext() string
	// Type is the media type of the content for a record, in ASCII, as for a header.
	Type(r *Record) string
	// Write writes the content for a record, which was validated.
	Write(w io.Writer, r *Record) error
}

// rawName is the name of the format of rawBody.
const rawName = "objects.raw"

// bodies are the contents that objects can have, by format.
var bodies = []struct {
	name string
	body Body
}{
	{"objects", object{}},
	{"objects.pretty", object{pretty: true}},
	{rawName, rawBody{}},
	{Markdown, markdownBody{}},
}

// NewBody returns the body of the objects of a format, and whether the format makes objects.
func NewBody(name string) (Body, bool) {
	for _, b := range bodies {
		if b.name == name {
			return b.body, true
		}
	}
	return nil, false
}

// BodyNames returns the names of the formats that make objects.
func BodyNames() []string {
	names := make([]string, len(bodies))
	for i, b := range bodies {
		names[i] = b.name
	}
	return names
}

// object is the record's JSON.
type object struct{ pretty bool }

func (object) Ext() string { return "" }

// Type implements Body.
func (object) Type(*Record) string { return "application/json" }

func (o object) Write(w io.Writer, r *Record) error {
	text := slices.Clip(r.Data) // it must not be changed
	if o.pretty {
		var b bytes.Buffer
		if err := json.Indent(&b, r.Data, "", "  "); err != nil {
			return err
		}
		text = b.Bytes()
	}
	_, err := w.Write(append(text, '\n'))
	return err
}

// rawBody is the decoded body of a page, of any size.
type rawBody struct{}

func (rawBody) Ext() string { return "" }

// Type implements Body: the type that the site sent, if it is a valid header.
func (rawBody) Type(r *Record) string {
	if r.Page == nil {
		return AnyType
	}
	declared := mediatype.Declared(r.Page.ContentType)
	kind, parameters, err := mime.ParseMediaType(r.Page.ContentType)
	whole := mime.FormatMediaType(kind, parameters)
	switch {
	case declared == "" || len(declared) > maxType:
		return AnyType
	case err != nil || kind != declared || whole == "" || len(whole) > maxType:
		return declared
	}
	return whole
}

// AnyType is the media type of content that is unknown, or whose type must not be revealed.
const AnyType = "application/octet-stream"

// maxType bounds a media type.
const maxType = 256

// Write implements Body. A read error counts as a fault of the page, whose object is then not
// written.
func (rawBody) Write(w io.Writer, r *Record) error {
	if r.Page == nil {
		return &RefusedError{fmt.Errorf("record %s is not a page", r.ID)}
	}
	in, err := r.Page.Body()
	if err != nil {
		return &RefusedError{err}
	}
	_, err = io.Copy(w, &refusing{in})
	return errors.Join(err, in.Close())
}

// refusing wraps read errors as RefusedError, to distinguish them from write errors.
type refusing struct{ r io.Reader }

func (r *refusing) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // only a bare io.EOF is the end
		err = &RefusedError{err}
	}
	return n, err
}

var (
	_ Body = object{}
	_ Body = rawBody{}
)
