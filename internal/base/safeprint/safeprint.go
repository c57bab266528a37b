// Package safeprint sanitizes text for people. On a terminal, names, URLs, titles and errors from
// sites could otherwise move the cursor, set colours or the window's title, reverse the order of
// letters, or imitate a line of Seine.
//
// All text for people goes through Fprintf and its variants, which sanitize their arguments; a rule
// of the linter forbids fmt's functions in commands. Data for programs, such as records and JSON,
// is unchanged, except on a terminal: see Data.
package safeprint

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Plain reports whether a rune is displayed as it is. It excludes control characters (C0, DEL, C1),
// bidirectional marks, invisible characters, line separators, and code points that are not
// characters.
func Plain(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Text returns s with every other rune replaced by a visible escape, such as \n, \x1b or \u202e. A
// byte that is not UTF-8 becomes an escape such as \x9b.
func Text(s string) string { return escape(s, "") }

// Lines is like Text, but keeps line breaks and tabs.
func Lines(s string) string { return escape(s, "\n\t") }

func escape(s, keep string) string {
	at := strings.IndexFunc(s, func(r rune) bool { return !Plain(r) || r == utf8.RuneError }) // or U+FFFD itself
	if at < 0 {
		return s
	}
	b := []byte(s[:at])
	for i := at; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case Plain(r) || strings.ContainsRune(keep, r):
			b = append(b, s[i:i+n]...)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		i += n
	}
	return string(b)
}

// Trusted is text that is not sanitized: colours, and text that was sanitized before.
type Trusted string

// Fprintf is like fmt.Fprintf, but sanitizes every argument; only the format and Trusted arguments
// are written unchanged. An error may have several lines; those after the first are indented.
func Fprintf(w io.Writer, format string, args ...any) {
	clean(args)
	fmt.Fprintf(w, format, args...)
}

// Fprintln is like Fprintf.
func Fprintln(w io.Writer, args ...any) {
	clean(args)
	fmt.Fprintln(w, args...)
}

// Fprint is like Fprintf.
func Fprint(w io.Writer, args ...any) {
	clean(args)
	fmt.Fprint(w, args...)
}

// Printf is Fprintf to standard output.
func Printf(format string, args ...any) { Fprintf(os.Stdout, format, args...) }

// Println is Fprintln to standard output.
func Println(args ...any) { Fprintln(os.Stdout, args...) }

// clean works in place, so that vet recognizes Fprintf as a wrapper and checks its formats.
func clean(args []any) {
	for i, a := range args {
		args[i] = cleaned(a)
	}
}

// cleaned returns the sanitized argument: the argument itself if it needs no change, so that any
// verb can be used for it.
func cleaned(a any) any {
	var was, is string
	switch v := a.(type) {
	case nil:
		return a
	case Trusted:
		return string(v)
	case error:
		was = v.Error()
		lines := strings.ReplaceAll(strings.TrimRight(was, "\n"), "\n\t", "\n") // some are already indented by a tab
		is = strings.ReplaceAll(escape(lines, "\n"), "\n", "\n  ")
	case []byte:
		was = string(v)
		is = Text(was)
	default:
		was = fmt.Sprint(v)
		is = Text(was)
	}
	if was == is {
		return a
	}
	return is
}

// Data returns a writer for program output, JSON or YAML. On a terminal it writes JSON escapes for
// runes that are not plain, which are equivalent; otherwise it writes the data unchanged.
func Data(f *os.File, terminal bool) io.Writer {
	if !terminal {
		return f
	}
	return EscapeJSON(f)
}

// EscapeJSON returns a writer that writes JSON escapes for runes that are not plain. Decoders of
// the JSON see no difference.
func EscapeJSON(w io.Writer) io.Writer { return &dataWriter{w: w} }

type dataWriter struct {
	w    io.Writer
	rest []byte // the beginning of a rune
}

// Write implements io.Writer.
func (d *dataWriter) Write(p []byte) (int, error) {
	text := append(d.rest, p...)
	var b []byte
	i := 0
	for i < len(text) && utf8.FullRune(text[i:]) {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case Plain(r) && (r != utf8.RuneError || n > 1) || r == '\n' || r == '\t':
			b = append(b, text[i:i+n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		i += n
	}
	d.rest = append([]byte(nil), text[i:]...)
	if _, err := d.w.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// rowWidth is the width of a terminal, in columns.
const rowWidth = 80

// Row writes a text beside its name, which is padded to a number of columns. It wraps long text,
// but not inside a word, so that URLs can be copied.
func Row(w io.Writer, columns int, name, text string) {
	line := fmt.Sprintf("  %-*s ", columns, name)
	width, begun := utf8.RuneCountInString(line), false
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if begun && width+1+n > rowWidth {
			Fprintln(w, line)
			line, width, begun = strings.Repeat(" ", columns+3), columns+3, false
		}
		if begun {
			line, width = line+" ", width+1
		}
		line, width, begun = line+word, width+n, true
	}
	Fprintln(w, line)
}
