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

// readJSON reads the JSON values of a script as sites write them, and returns
// each as compact JSON text. Beyond RFC 8259 it takes only what can mean but
// one thing:
//
//   - comments, HTML comment marks and CDATA marks, a byte order mark and any
//     Unicode space, all as white space;
//   - several values, with commas or semicolons between or behind them;
//   - a comma behind the last member or element;
//   - control characters in strings, and the escape \';
//   - of members with one name, the last, as JSON.parse does.
//
// The result is I-JSON (RFC 7493): names are unique, strings are valid Unicode, and
// members keep their order. Numbers are kept as
// written. At an error it returns the values before it, and the error, which is a
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

// A syntaxError says where and why a text is not JSON.
type syntaxError struct {
	offset int
	text   string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("byte %d: %s", e.offset, e.text)
}

// plainWriter writes JSON as RFC 8259 has it: what counts as white space becomes
// spaces, of the same length, commas that are too many too.
type plainWriter struct {
	in     string
	out    []byte
	open   int        // arrays and objects
	digits int        // of the number that is being written
	last   [2]byte    // what was written last but space, and before that
	comma  int        // where the last comma is
	moved  []movement // where the text became longer or shorter
}

// movement is by how much what follows a place in the text has moved.
type movement struct{ at, by int }

// offset returns where in the script a place in the text is.
func (p *plainWriter) offset(at int) int {
	by := 0
	for _, m := range p.moved {
		if m.at <= at {
			by += m.by
		}
	}
	return at - by
}

// write writes all, or what comes before an error.
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

// byte writes a byte that is no space and not in a string.
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

// string writes the string that begins at a place, and returns its length.
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

// compact writes a value without white space, and strings in the one form there is
// for them.
func compact(raw jsontext.Value) json.RawMessage {
	out, err := jsontext.AppendFormat(nil, raw, asRead)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return lastTwins(nil, jsontext.NewDecoder(bytes.NewReader(raw), asRead, withTwins))
	}
	return out
}

// lastTwins appends the next value, in which only the last of the members of one
// name is left. It recurs as deep as the value is.
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
