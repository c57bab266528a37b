package format

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// Markdown is the name of the format of markdownBody.
const Markdown = "markdown"

// MarkdownFields are the default fields of a page's file. The last one is its text.
var MarkdownFields = []string{"url", "title", "description", "author", "language", "published", "modified", "fetched_at", markdownField}

const markdownField = "markdown"

// UnfitError is returned for a record that can never have an object of a format.
type UnfitError struct{ error }

var errNoMarkdown = &UnfitError{errors.New("the record has no Markdown of a page: --format markdown needs records of pages with the field markdown")}

// markdownBody is the Markdown of a page, preceded by its other fields as YAML. Records of removed
// pages are JSON.
type markdownBody struct{ object }

func (b markdownBody) Type(r *Record) string {
	if isAbsence(r) {
		return b.object.Type(r)
	}
	return "text/markdown; charset=utf-8"
}

// Write implements Body. It writes the fields as JSON, which is also YAML.
func (b markdownBody) Write(w io.Writer, r *Record) error {
	if isAbsence(r) {
		return b.object.Write(w, r)
	}
	var text []byte
	front := []byte("---\n")
	fields := jsontext.MembersOf(r.Data)
	for quoted, value, ok := fields.Next(); ok; quoted, value, ok = fields.Next() {
		switch name := string(jsontext.AppendText(nil, quoted)); {
		case name == markdownField && value[0] == '"':
			var md string
			_ = jsontext.Unmarshal(value, &md) // it is a string
			text = []byte("---\n\n" + md + "\n")
		case string(value) != `""` && string(value) != "null":
			front = append(append(append(front, name...), ": "...), escapeControls(value)...)
			front = append(front, '\n')
		}
	}
	if text == nil {
		return errNoMarkdown
	}
	_, err := w.Write(append(front, text...))
	return err
}

// escapeControls escapes characters that JSON allows and YAML does not.
func escapeControls(json []byte) (b []byte) {
	for _, r := range string(json) {
		if r <= 0xffff && !strconv.IsPrint(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

func isAbsence(r *Record) bool { return r.Kind == messages.KindGone || r.Kind == messages.KindVisit }
