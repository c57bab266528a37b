// Package safeprint makes text fit to be shown to a person: on a terminal, where names,
// URLs, titles and errors of sites could otherwise move the cursor, set colours or the
// title of the window, turn the order of letters around, or begin a line that looks as
// if Seine had written it.
//
// All text for people goes through Fprintf and its like, which clean what they are
// given; a rule of the linter keeps those of fmt out of the commands. What is for
// programs, such as records and JSON, stays as it is, except on a terminal: see
// Data.
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

// Plain reports whether a rune is shown as it is. Not so are controls (C0, DEL, C1),
// marks that reorder text, what has no width or no look, line separators, and what
// is not a character.
func Plain(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Text returns s with everything that is not plain as an escape that can be seen, as
// \n, \x1b, \u202e. A byte that is not UTF-8 is \x9b, too.
func Text(s string) string { return escape(s, "") }

// Lines is Text for what may have several lines and tabs.
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

// Trusted is text that is shown as it is: colours, and what was cleaned before.
type Trusted string

// Fprintf is fmt.Fprintf with every argument cleaned: only the format, and what is
// Trusted, is written as it is. An error may have several lines; those after the first
// are indented.
func Fprintf(w io.Writer, format string, args ...any) {
	clean(args)
	fmt.Fprintf(w, format, args...)
}

// Fprintln is as Fprintf.
func Fprintln(w io.Writer, args ...any) {
	clean(args)
	fmt.Fprintln(w, args...)
}

// Fprint is as Fprintf.
func Fprint(w io.Writer, args ...any) {
	clean(args)
	fmt.Fprint(w, args...)
}

// Printf is Fprintf to the standard output.
func Printf(format string, args ...any) { Fprintf(os.Stdout, format, args...) }

// Println is Fprintln to the standard output.
func Println(args ...any) { Fprintln(os.Stdout, args...) }

// clean works in place, so that vet sees what Fprintf does, and checks its formats.
func clean(args []any) {
	for i, a := range args {
		args[i] = cleaned(a)
	}
}

// cleaned returns what stands for an argument: itself, unless it has to be changed, so
// that any verb can be used for it.
func cleaned(a any) any {
	var was, is string
	switch v := a.(type) {
	case nil:
		return a
	case Trusted:
		return string(v)
	case error:
		was = v.Error()
		lines := strings.ReplaceAll(strings.TrimRight(was, "\n"), "\n\t", "\n") // some are indented by a tab already
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

// Data returns a writer for what is for programs, JSON or YAML. It passes everything
// on as it is; to a terminal it writes what is not plain as escapes of JSON, which
// mean the same there.
func Data(f *os.File, terminal bool) io.Writer {
	if !terminal {
		return f
	}
	return EscapeJSON(f)
}

// EscapeJSON returns a writer that writes what is not plain as escapes of JSON. A reader that
// decodes the JSON finds no difference.
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

// rowWidth is how many columns a terminal has.
const rowWidth = 80

// Row writes a text beside its name, which takes so many columns, on several lines if it is long. Only a word that is too
// long for a line goes beyond it, so that URLs can be copied.
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
