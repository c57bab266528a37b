package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"seine/internal/base/humanize"
	"seine/internal/base/jsontext"
	"seine/internal/base/safeprint"
	"seine/internal/run/trial"
)

// screen shows what was extracted to a person.
type screen struct {
	w      io.Writer
	width  int // characters in a line; 0 is no limit
	colour bool
	full   bool
}

// Colours of a terminal (ECMA-48 8.3.117).
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	plain  = "\x1b[0m"
)

// widthOf is how many characters a line of a terminal has, 0 if that is not known.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func (s *screen) paint(with, text string) safeprint.Trusted {
	text = safeprint.Text(text)
	if s.colour && text != "" && with != "" {
		text = with + text + plain
	}
	return safeprint.Trusted(text)
}

// row is a line of a name, so many characters wide, and a value, cut at the end of
// the line.
func (s *screen) row(indent, width int, name, value string) {
	room := 0
	if s.width > 0 && !s.full {
		room = max(20, s.width-indent-width-2)
	}
	s.line(indent, width, name, safeprint.Trusted(clipped(value, room)))
}

// line is a row whose value is shown as it is.
func (s *screen) line(indent, width int, name string, value safeprint.Trusted) {
	gap := ""
	if value != "" {
		gap = strings.Repeat(" ", max(0, width-utf8.RuneCountInString(name))+2)
	}
	safeprint.Fprintf(s.w, "%s%s%s%s\n", strings.Repeat(" ", indent), s.paint(faint, name), gap, value)
}

// clipped is a value in one line of at most so many characters; 0 is no limit.
// What a terminal would obey is replaced: it comes from the web.
func clipped(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if most > 0 && n >= most-1 {
			b.WriteRune('…')
			break
		}
		switch {
		case r == '\n':
			r = '⏎'
		case r == '\t':
			r = ' '
		case !safeprint.Plain(r):
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func (s *screen) show(x *trial.Result) {
	safeprint.Fprintf(s.w, "%s\n", s.paint(bold, clipped(x.URL, 0)))
	for _, u := range x.Via {
		s.row(2, 4, "via", u)
	}
	head := fmt.Sprintf("%d  %s", x.Status, x.Type)
	if x.Mismatch {
		head += ", sent as " + clipped(x.ContentType, 100)
	}
	head += "  " + humanize.Size(x.Bytes)
	if x.FetchMS > 0 {
		head += fmt.Sprintf("  %s", time.Duration(x.FetchMS).Round(time.Millisecond))
	}
	safeprint.Fprintf(s.w, "  %s\n", head)
	s.rendering(x)
	for _, r := range x.Records {
		s.record(r)
	}
	s.problems("problems", red, x.Problems)
	s.problems("notes", yellow, x.Notes)
	s.links(x.Links)
	s.rules(x)
}

// rendering shows what a browser made of the page.
func (s *screen) rendering(x *trial.Result) {
	row := func(name, value string) {
		if value != "" {
			s.row(2, 12, name, value)
		}
	}
	row("rendered", x.Rendered)
	row("not rendered", x.NotRendered)
	row("cut", x.Cut)
	row("screenshot", sizeOf(x.Screenshot))
	row("pdf", sizeOf(x.PDF))
}

// sizeOf describes a file that only JSON has, "" for none.
func sizeOf(file []byte) string {
	if len(file) == 0 {
		return ""
	}
	return humanize.Size(int64(len(file))) + " (--json prints it)"
}

// title begins a part.
func (s *screen) title(text, more string) {
	safeprint.Fprintf(s.w, "\n%s", s.paint(bold+cyan, text))
	if more != "" {
		safeprint.Fprintf(s.w, "  %s", s.paint(faint, more))
	}
	safeprint.Fprintln(s.w)
}

// envelope are the members of each record that say nothing of the page.
var envelope = map[string]bool{"kind": true, "crawl": true, "visit": true, "fetched_at": true}

func (s *screen) record(raw json.RawMessage) {
	all := membersOf(raw)
	kind := "page"
	var shown []member
	for _, m := range all {
		if m.name == "kind" {
			kind = text(m.value)
		}
		if !envelope[m.name] {
			shown = append(shown, m)
		}
	}
	s.title("record "+kind, "")
	s.members(2, shown)
}

// members writes the members of an object, objects in them further in.
func (s *screen) members(indent int, all []member) {
	width := 0
	for _, m := range all {
		width = max(width, min(utf8.RuneCountInString(m.name), 24))
	}
	for _, m := range all {
		s.value(indent, width, clipped(m.name, 64), m.value)
	}
}

func (s *screen) value(indent, width int, name string, raw json.RawMessage) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '{':
		s.line(indent, width, name, "")
		s.members(indent+2, membersOf(raw))
	case len(raw) > 0 && raw[0] == '[' && bytes.ContainsRune(raw, '{'):
		var items []json.RawMessage
		_ = jsontext.Unmarshal(raw, &items) // it is valid
		s.line(indent, width, name, s.paint(faint, humanize.Plural(len(items), "item")))
		for i, item := range items {
			s.value(indent+2, 2, fmt.Sprint(i), item)
		}
	case len(raw) > 0 && raw[0] == '"':
		s.row(indent, width, name, text(raw))
	default:
		s.row(indent, width, name, string(raw))
	}
}

// text is the value of a JSON string.
func text(raw json.RawMessage) string {
	var s string
	_ = jsontext.Unmarshal(raw, &s) // it is valid
	return s
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of an object in their order.
func membersOf(raw json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(raw)) //nolint:forbidigo // into no struct
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return all
		}
		m := member{name: fmt.Sprint(name)}
		if err := d.Decode(&m.value); err != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

func (s *screen) problems(title, paint string, all []trial.Problem) {
	if len(all) == 0 {
		return
	}
	s.title(title, "")
	for _, p := range all {
		where := p.Rule
		if p.Kind != "" {
			where += " " + p.Kind
		}
		if p.Index > 0 {
			where += fmt.Sprintf(" item %d", p.Index)
		}
		if p.Field != "" {
			where += " " + p.Field
		}
		safeprint.Fprintf(s.w, "  %s  %s\n", clipped(where, 0), s.paint(paint, clipped(p.Reason, 0)))
	}
}

// fewLinks is how many links are shown without --full.
const fewLinks = 20

func (s *screen) links(all []trial.Link) {
	followed := 0
	for _, l := range all {
		if l.Excluded == "" {
			followed++
		}
	}
	more := fmt.Sprintf("%d would be followed", followed)
	if followed < len(all) {
		more += fmt.Sprintf(", %d excluded", len(all)-followed)
	}
	few := all
	if len(all) > fewLinks && !s.full {
		few = all[:fewLinks]
		more += "  (--full shows all)"
	}
	s.title("links", more)
	width := 0
	for _, l := range few {
		width = max(width, len(l.Rule))
	}
	for _, l := range few {
		if l.Excluded != "" {
			s.line(2, width, l.Rule, s.paint(yellow, "excluded: "+l.Excluded)+"  "+safeprint.Trusted(clipped(l.URL, 0)))
			continue
		}
		s.row(2, width, l.Rule, fmt.Sprintf("priority %d  depth +%d  %s", l.Priority, l.Depth, l.URL))
	}
}

func (s *screen) rules(x *trial.Result) {
	if len(x.Rules) == 0 {
		return
	}
	s.title("rules", "")
	width := 0
	for _, r := range x.Rules {
		width = max(width, len(r.Rule)+len(r.Kind)+1)
	}
	for _, r := range x.Rules {
		paint, why := green, "applied"
		if !r.Applies {
			paint, why = yellow, "not: "+r.Why
		}
		s.line(2, width, strings.TrimSpace(r.Rule+" "+r.Kind), s.paint(paint, clipped(why, 0)))
	}
}
