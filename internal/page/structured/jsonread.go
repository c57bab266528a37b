package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// readJSON parses the JSON values of a script as sites write them, and returns each as compact JSON
// text. Beyond RFC 8259 it accepts only text with a single meaning:
//
//   - comments, HTML comment marks and CDATA marks, a byte order mark and any Unicode space,
//     all as white space;
//   - several values, with commas or semicolons between or after them;
//   - a comma after the last member or element;
//   - control characters in strings, and the escape \';
//   - members of the same name, of which the last counts, as in JSON.parse.
//
// The result is I-JSON (RFC 7493): names are unique, strings are valid Unicode, and members keep
// their order. Numbers are kept as written. At an error it returns the values before it, and a
// *syntaxError.
func readJSON(s string) ([]json.RawMessage, error) {
	p := plainWriter{in: s, out: make([]byte, 0, len(s))}
	cut := p.write()
	d := jsontext.NewDecoder(bytes.NewBuffer(p.out), asRead, withTwins)
	var values []json.RawMessage
	for {
		raw, err := d.ReadValue()
		var syntax *jsontext.SyntacticError
		switch {
		case err == nil:
			values = append(values, compact(raw))
		case cut != nil && (!errors.As(err, &syntax) || syntax.ByteOffset == int64(len(p.out))):
			return values, cut
		case errors.As(err, &syntax):
			return values, &syntaxError{p.offset(int(syntax.ByteOffset)), syntax.Err.Error()}
		default: // the end
			return values, nil
		}
	}
}

var (
	asRead    = jsontext.AllowInvalidUTF8(true)
	withTwins = jsontext.AllowDuplicateNames(true)
)

// syntaxError has the position and the reason of a syntax error.
type syntaxError struct {
	offset int
	text   string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("byte %d: %s", e.offset, e.text)
}

// plainWriter rewrites a text as JSON of RFC 8259: it replaces everything that counts as white
// space, and surplus commas, by spaces of the same length.
type plainWriter struct {
	in     string
	out    []byte
	open   int        // number of open arrays and objects
	digits int        // of the current number
	last   [2]byte    // the last two bytes written, other than space, the last one first
	comma  int        // position of the last comma
	moved  []movement // where the text became longer or shorter
}

// movement is the shift, in bytes, of the text after a position.
type movement struct{ at, by int }

// offset returns the position in the script for a position in the text.
func (p *plainWriter) offset(at int) int {
	by := 0
	for _, m := range p.moved {
		if m.at <= at {
			by += m.by
		}
	}
	return at - by
}

// write rewrites the whole text, or the part before an error.
func (p *plainWriter) write() error {
	for i := 0; i < len(p.in); {
		n, err := spaceLength(p.in[i:]), error(nil)
		switch c := p.in[i]; {
		case n > 0:
			p.out, p.digits = append(p.out, strings.Repeat(" ", n)...), 0
		case p.open == 0 && (c == ',' || c == ';'):
			p.out, n = append(p.out, ' '), 1
		case p.open == 0 && c != '{' && c != '[':
			first, _ := utf8.DecodeRuneInString(p.in[i:])
			return &syntaxError{i, fmt.Sprintf("want an object or array, have %q", first)}
		case c == '"':
			n, err = p.string(i)
		default:
			n, err = 1, p.byte(i, c)
		}
		if err != nil {
			return err
		}
		i += n
	}
	return nil
}

// byte writes a byte that is neither space nor in a string.
func (p *plainWriter) byte(i int, c byte) error {
	switch c {
	case '{', '[':
		if p.open++; p.open > maxJSONDepth {
			return &syntaxError{i, "arrays and objects too deep in each other"}
		}
	case '}', ']':
		p.open--
		if p.last[0] == ',' && strings.IndexByte("{[,:", p.last[1]) < 0 {
			p.out[p.comma] = ' '
		}
	case ',':
		p.comma = len(p.out)
	}
	if p.digits++; '0' > c || c > '9' {
		p.digits = 0
	}
	if p.digits > maxNumber {
		return &syntaxError{i - maxNumber, fmt.Sprintf("number of more than %d digits", maxNumber)}
	}
	p.out = append(p.out, c)
	p.last = [2]byte{c, p.last[0]}
	return nil
}

// string writes the string that begins at start, and returns its length in the script.
func (p *plainWriter) string(start int) (length int, err error) {
	p.out = append(p.out, '"')
	p.last, p.digits = [2]byte{'"', p.last[0]}, 0
	for i := start + 1; i < len(p.in); i++ {
		c := p.in[i]
		switch {
		case c == '"':
			p.out = append(p.out, c)
			return i + 1 - start, nil
		case c == '\\' && i+1 < len(p.in):
			if i++; p.in[i] == '\'' {
				p.out = append(p.out, '\'')
				p.moved = append(p.moved, movement{len(p.out), -1})
				continue
			}
			p.out = append(p.out, c, p.in[i])
		case c < ' ':
			p.out = fmt.Appendf(p.out, `\u%04x`, c)
			p.moved = append(p.moved, movement{len(p.out), len(`\u0000`) - 1})
		default:
			p.out = append(p.out, c)
		}
	}
	return 0, &syntaxError{start, "string without an end"}
}

// compact writes a value without white space, and with strings in their canonical form.
func compact(raw jsontext.Value) json.RawMessage {
	out, err := jsontext.AppendFormat(nil, raw, asRead)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return lastTwins(nil, jsontext.NewDecoder(bytes.NewReader(raw), asRead, withTwins))
	}
	return out
}

// lastTwins appends the next value, keeping only the last of members with the same name. It
// recurses to the depth of the value.
func lastTwins(out []byte, d *jsontext.Decoder) []byte {
	switch t, _ := d.ReadToken(); t.Kind() {
	case '[':
		out = append(out, '[')
		for more := false; d.PeekKind() != ']'; more = true {
			if more {
				out = append(out, ',')
			}
			out = lastTwins(out, d)
		}
		_, _ = d.ReadToken()
		return append(out, ']')
	case '{':
		var members [][]byte
		places := map[string]int{}
		for d.PeekKind() != '}' {
			t, _ := d.ReadToken()
			name := t.String()
			if i, again := places[name]; again {
				members[i] = nil
			}
			places[name] = len(members)
			quoted, _ := jsontext.AppendQuote(nil, name)
			members = append(members, lastTwins(append(quoted, ':'), d))
		}
		_, _ = d.ReadToken()
		members = slices.DeleteFunc(members, func(m []byte) bool { return m == nil })
		return append(append(append(out, '{'), bytes.Join(members, []byte{','})...), '}')
	case '"':
		out, _ = jsontext.AppendQuote(out, t.String())
		return out
	default:
		return append(out, t.String()...)
	}
}
