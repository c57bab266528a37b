package convert

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/truncate"
)

// maxTitle is the maximum length of a title that is taken from the text, in bytes.
const maxTitle = 200

// leaf is the text of one PDF page, whose lines become paragraphs and headings.
type leaf struct {
	*page
	outline []entry
	text    string
	links   []anchor
}

// Marks around the text of a link. The text has no other control characters.
const (
	markStart = '\x01' // followed by the number of the link and markURL
	markURL   = '\x02'
	markEnd   = '\x03'
)

// write writes the page.
func (l *leaf) write() {
	if l.heading == "" {
		l.heading = l.firstLine()
	}
	lines := l.lines()
	full := fullLine(lines)
	var paragraph strings.Builder
	flush := func() {
		if paragraph.Len() > 0 {
			l.tag("<p>")
			l.marked(paragraph.String())
			l.tag("</p>\n")
			paragraph.Reset()
		}
	}
	headings, used := l.headings(lines)
	for e := range l.outline {
		if !used[e] { // not found in the text: it leads to the page itself
			l.writeHeading(l.outline[e].level, l.outline[e].title)
		}
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if h, found := headings[i]; found {
			flush()
			l.writeHeading(h.level, strings.Join(lines[i:i+h.lines], " "))
			i += h.lines - 1
			continue
		}
		if line == "" || i > 0 && begins(lines[i-1], line, full) {
			flush()
		}
		if paragraph.Len() > 0 && !joins(paragraph.String(), line) {
			paragraph.WriteByte(' ')
		}
		paragraph.WriteString(line)
	}
	flush()
}

// firstLine returns the first line that has a letter. In a document without a title, it is more
// often the title than the first bookmark, which leads to an introduction.
func (l *leaf) firstLine() string {
	for line := range strings.Lines(l.text) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return truncate.To(strings.TrimSpace(line), maxTitle)
		}
	}
	return ""
}

func (l *leaf) writeHeading(level int, text string) {
	l.startHeading(level)
	l.marked(text)
	l.endHeading(level)
}

// leader matches the row of dots in a line of a table of contents; inContents replaces it.
var leader = lazyregexp.New(`(?: ?\.){4,} ?`)

const inContents = " … "

// lines returns the lines of the page, with marks around links. It joins words that are hyphenated
// at a line end.
func (l *leaf) lines() []string {
	text := strings.NewReplacer("\ufffe\r\n", "", "\ufffe", "", "\x02\r\n", "", "\r\n", "\n", "\r", "\n", "\u00ad\n", "").Replace(l.text)
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, text)
	text = l.markLinks(text)
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = leader().ReplaceAllString(strings.Join(strings.Fields(lines[i]), " "), inContents)
	}
	return lines
}

// markLinks inserts marks around the texts of links, which come in order, and appends links without
// a text.
func (l *leaf) markLinks(text string) string {
	var out, rest strings.Builder
	known := make(map[string]bool)
	for i, a := range l.links {
		if known[a.url] && a.text == a.url {
			continue // an annotation has this link already
		}
		known[a.url] = true
		label, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(a.text, "\r", "\n")), "\n")
		at := strings.Index(text, label)
		start := string(markStart) + strconv.Itoa(i) + string(markURL)
		if label == "" || at < 0 {
			rest.WriteString(start + string(markEnd))
			continue
		}
		out.WriteString(text[:at] + start + label + string(markEnd))
		text = text[at+len(label):]
	}
	return out.String() + text + rest.String()
}

// marked writes a text, with links at the marks.
func (l *leaf) marked(text string) {
	open := false
	for text != "" {
		at := strings.IndexFunc(text, func(r rune) bool { return r == markStart || r == markEnd })
		if at < 0 {
			l.page.text(text)
			break
		}
		l.page.text(text[:at])
		mark := text[at]
		text = text[at+1:]
		if open {
			l.endLink()
			open = false
		}
		if mark == markStart {
			number, rest, _ := strings.Cut(text, string(markURL))
			text = rest
			if i, err := strconv.Atoi(number); err == nil && i < len(l.links) {
				open = l.link(l.links[i].url)
			}
		}
	}
	if open {
		l.endLink()
	}
}

// foundHeading is an outline entry found in the text: its level and number of lines.
type foundHeading struct{ level, lines int }

// headings finds the entries of the outline among the lines.
func (l *leaf) headings(lines []string) (found map[int]foundHeading, used []bool) {
	found, used = make(map[int]foundHeading), make([]bool, len(l.outline))
	letters := make([]string, len(lines))
	for i := range lines {
		letters[i] = lettersOf(lines[i])
	}
	from := 0
	for e := range l.outline {
		want := lettersOf(l.outline[e].title)
		for i := from; i < len(lines) && want != "" && !used[e]; i++ {
			joined := ""
			for n := 1; n <= 3 && i+n <= len(lines); n++ {
				joined += letters[i+n-1]
				if joined == want || n == 1 && strings.TrimLeftFunc(joined, unicode.IsDigit) == strings.TrimLeftFunc(want, unicode.IsDigit) {
					found[i], used[e], from = foundHeading{l.outline[e].level, n}, true, i+n
					break
				}
			}
		}
	}
	return found, used
}

// lettersOf returns the letters and digits of a text, in lower case, for comparisons.
func lettersOf(s string) string {
	inMark := false
	return strings.Map(func(r rune) rune {
		switch {
		case r == markStart:
			inMark = true
		case r == markURL:
			inMark = false
		case !inMark && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// fullLine returns the minimum length, in characters, of a line that continues in the next.
func fullLine(lines []string) int {
	var lengths []int
	for _, line := range lines {
		if line != "" {
			lengths = append(lengths, utf8.RuneCountInString(line))
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)*9/10] * 7 / 10
}

// begins reports whether a line begins a new paragraph.
func begins(before, line string, full int) bool {
	if utf8.RuneCountInString(before) < full || strings.Contains(before, inContents) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("•◦▪‣·–—*●■□", first)
}

// joins reports whether a line continues the previous one without a space, as in Chinese.
func joins(before, line string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(line)
	return ideographic(a) && ideographic(b)
}

func ideographic(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= '\u3000' && r <= '\u303f'
}
