package calendar

import (
	"bytes"
	"strings"
)

// maxLine bounds a line after unfolding, in bytes: descriptions of meetings are long, but not books. What is longer is
// cut.
const maxLine = 64 << 10

// line is a content line (RFC 5545 3.1): its name in upper case, its parameters and its value as it is.
type line struct {
	name       string
	parameters string
	value      string
}

// lines calls yield with each content line of a file. A line that begins with a space or a tab continues the one before;
// lines end with CRLF, or with LF alone where a program has been careless.
func lines(file []byte, yield func(line) bool) {
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	var whole []byte
	emit := func() bool {
		l, ok := parseLine(string(whole))
		whole = whole[:0]
		return !ok || yield(l)
	}
	for raw := range bytes.Lines(file) {
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		if len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t') {
			raw = raw[1:]
		} else if !emit() {
			return
		}
		whole = append(whole, raw[:min(len(raw), maxLine-len(whole))]...)
	}
	emit()
}

// parseLine takes a content line apart. A colon or semicolon inside quotes belongs to a parameter.
func parseLine(text string) (line, bool) {
	quoted, name := false, -1
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == ';' && name < 0 && !quoted:
			name = i
		case c == ':' && !quoted:
			if name < 0 {
				name = i
			}
			l := line{strings.ToUpper(text[:name]), text[name:i], strings.ToValidUTF8(text[i+1:], "\ufffd")}
			return l, l.name != ""
		}
	}
	return line{}, false
}

// parameter returns a parameter without its quotes, "" if it is not there.
func (l line) parameter(name string) string {
	rest := l.parameters
	for rest != "" {
		var one string
		one, rest = cutParameter(rest[1:])
		if key, value, ok := strings.Cut(one, "="); ok && strings.EqualFold(key, name) {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// cutParameter cuts at the first semicolon outside quotes, which stays with the rest.
func cutParameter(s string) (one, rest string) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ';' && !quoted:
			return s[:i], s[i:]
		}
	}
	return s, ""
}

var escapes = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n", `\N`, "\n")

// text is a value of type TEXT (RFC 5545 3.3.11).
func (l line) text() string { return strings.TrimSpace(escapes.Replace(l.value)) }

// texts is a list of such values: a comma separates, unless there is a backslash before it.
func (l line) texts() (all []string) {
	start, escaped := 0, false
	add := func(s string) {
		if s = strings.TrimSpace(escapes.Replace(s)); s != "" {
			all = append(all, s)
		}
	}
	for i := range len(l.value) {
		if l.value[i] == ',' && !escaped {
			add(l.value[start:i])
			start = i + 1
		}
		escaped = l.value[i] == '\\' && !escaped
	}
	add(l.value[start:])
	return all
}
