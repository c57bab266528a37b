package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"golang.org/x/term"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/base/yamljson"
	"seine/internal/run/trial"
)

// screen shows extraction results to people.
type screen struct {
	w      io.Writer
	width  int // characters per line; 0 for no limit
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

// widthOf returns the width of a terminal in characters, 0 if unknown.
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

// row prints a name, padded to width, and a value, cut at the end of the line.
func (s *screen) row(indent, width int, name, value string) {
	room := 0
	if s.width > 0 && !s.full {
		room = max(20, s.width-indent-width-2)
	}
	s.line(indent, width, name, safeprint.Trusted(clipped(value, room)))
}

// line prints a row whose value is not changed.
func (s *screen) line(indent, width int, name string, value safeprint.Trusted) {
	gap := ""
	if value != "" {
		gap = strings.Repeat(" ", max(0, width-utf8.RuneCountInString(name))+2)
	}
	safeprint.Fprintf(s.w, "%s%s%s%s\n", strings.Repeat(" ", indent), s.paint(faint, name), gap, value)
}

// clipped returns a value on one line of at most so many characters; 0 for no limit. It replaces
// control characters, as the value comes from the web.
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

// rendering shows the results of rendering the page.
func (s *screen) rendering(x *trial.Result) {
	row := func(name, value string) {
		if value != "" {
			s.row(2, 12, name, value)
		}
	}
	row("rendered", x.Rendered)
	row("not rendered", x.NotRendered)
	row("actions", x.Actions)
	row("cut", x.Cut)
	for _, p := range x.RenderProblems {
		row("page lacks", p.String())
	}
	row("screenshot", sizeOf(x.Screenshot))
	row("pdf", sizeOf(x.PDF))
}

// sizeOf describes a file that only JSON output contains, "" for none.
func sizeOf(file []byte) string {
	if len(file) == 0 {
		return ""
	}
	return humanize.Size(int64(len(file))) + " (--json prints it)"
}

// title prints the title of a section.
func (s *screen) title(text, more string) {
	safeprint.Fprintf(s.w, "\n%s", s.paint(bold+cyan, text))
	if more != "" {
		safeprint.Fprintf(s.w, "  %s", s.paint(faint, more))
	}
	safeprint.Fprintln(s.w)
}

// envelope are the members of each record that do not describe the page.
var envelope = map[string]bool{"kind": true, "crawl": true, "visit": true, "run": true, "fetched_at": true}

// record writes a record as YAML, each value on one line.
func (s *screen) record(raw json.RawMessage) {
	kind, text := inYAML(raw)
	s.title("record "+kind, "")
	room := 0
	if s.width > 0 && !s.full {
		room = max(20, s.width-2)
	}
	for line := range strings.Lines(text) {
		safeprint.Fprintf(s.w, "  %s\n", safeprint.Trusted(clipped(strings.TrimSuffix(line, "\n"), room)))
	}
}

// inYAML returns the kind of a record, and its members, without the envelope, as YAML. JSON that
// the YAML package cannot parse stays as it is.
func inYAML(raw json.RawMessage) (kind, text string) {
	var doc yaml.Node
	if err := yaml.Load(raw, &doc); err != nil {
		return "as JSON", string(raw)
	}
	kind = "page"
	var shown []*yaml.Node
	all := doc.Content[0]
	for pair := range slices.Chunk(all.Content, 2) {
		if pair[0].Value == "kind" {
			kind = pair[1].Value
		}
		if !envelope[pair[0].Value] {
			shown = append(shown, pair...)
		}
	}
	all.Content = shown
	inOneLine(all)
	printed, err := yamljson.Print(&doc)
	if err != nil {
		return kind, string(raw)
	}
	return kind, string(printed)
}

// inOneLine marks line ends in values, as clipped does.
func inOneLine(n *yaml.Node) {
	n.Value = strings.ReplaceAll(n.Value, "\n", "⏎")
	for _, c := range n.Content {
		inOneLine(c)
	}
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
