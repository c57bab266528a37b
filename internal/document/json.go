package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"seine/internal/mediatype"
)

// Bounds of values. A value takes from 16 to about 100 bytes.
const (
	// MaxData is the longest JSON, NDJSON, CSV or XML, in bytes, that is read whole.
	MaxData = 32 << 20
	// MaxValues bounds the values in it, by what separates them.
	MaxValues = 4_000_000
	// MaxDepth bounds how deep values are in values.
	MaxDepth = 1000
	// MaxDigits bounds a number: arithmetic on longer ones takes quadratic time.
	MaxDigits = 1000
)

// JSON returns what a document says as jq takes it: nil, bool, string,
// json.Number (which keeps numbers as they were written), []any and
// map[string]any. NDJSON is a list of its values; CSV is a list of its rows,
// each an object with the names of the first row. For a sitemap see sitemapValue.
func (d *Document) JSON() (any, error) {
	return d.json.get(func() (any, error) {
		body := d.Body()
		if len(body) > MaxData {
			return nil, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrTooBig, len(body), MaxData)
		}
		switch d.Type.Class {
		case mediatype.JSON:
			return parseJSON(body)
		case mediatype.NDJSON:
			return parseNDJSON(body)
		case mediatype.CSV:
			return parseCSV(body, d.Type.Media)
		case mediatype.Feed:
			if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '{' {
				return parseJSON(body)
			}
		case mediatype.Sitemap:
			return sitemapValue(d.raw, http.Header(d.Header).Get("Content-Type"))
		default:
		}
		return nil, fmt.Errorf("%w: %s is not JSON", ErrForm, d.Type.Class)
	})
}

func parseJSON(body []byte) (any, error) {
	v, rest, err := Value(body)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("read JSON: there is more after the first value")
	}
	return v, nil
}

// Value reads the first JSON value of b, as Document.JSON returns it, and returns
// what is behind it.
func Value(b []byte) (v any, rest []byte, err error) {
	if err := bounded(b); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b)) //nolint:forbidigo // into no struct
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("read JSON: %w", err)
	}
	return v, b[dec.InputOffset():], nil
}

func parseNDJSON(body []byte) (any, error) {
	if err := bounded(body); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(body)) //nolint:forbidigo // into no struct
	dec.UseNumber()
	rows := []any{}
	for {
		var v any
		err := dec.Decode(&v)
		if err == io.EOF { //nolint:errorlint // as the decoder documents it
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read NDJSON, value %d: %w", len(rows)+1, err)
		}
		rows = append(rows, v)
	}
}

// bounded refuses what would have too many values, too deep ones, or too long
// numbers.
func bounded(b []byte) error {
	values, depth, digits := 0, 0, 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c < '0' || c > '9' {
			digits = 0
		}
		switch {
		case c == '"':
			i = endOfString(b, i+1)
		case digits > MaxDigits:
			return fmt.Errorf("%w: a number has more than %d digits", ErrTooBig, MaxDigits)
		case c >= '0' && c <= '9':
			digits++
		case c == '[' || c == '{':
			values++
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' || c == '\n':
			values++
		}
		if depth > MaxDepth || values > MaxValues {
			return fmt.Errorf("%w: at most %d values, %d deep, are read", ErrTooBig, MaxValues, MaxDepth)
		}
	}
	return nil
}

// endOfString returns where the string ends that begins at i.
func endOfString(b []byte, i int) int {
	for ; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}
