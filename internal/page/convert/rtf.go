package convert

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// maxGroups bounds the nesting of groups in an RTF file.
const maxGroups = 1000

// rtf reads Rich Text Format 1.9.1.
type rtf struct {
	*page
	in     []byte
	groups []rtfGroup // the open ones
	now    rtfGroup
	codes  encoding.Encoding
	raw    []byte   // bytes in codes, not decoded yet
	units  []uint16 // units of UTF-16, not decoded yet
	skip   int      // fallback characters still to skip
	values map[string]*strings.Builder
	linked bool // a link is open
	row    bool // a row of a table is open
	open   bool // a paragraph is open
	parts  map[string]string
}

// rtfGroup is the state of one group.
type rtfGroup struct {
	to      string // destination of its text: "" is the page; unreadRTF discards it
	unicode int    // number of fallback characters after a Unicode character
	table   bool
	linked  bool // it contains the text of a link
}

const unreadRTF = "-"

// rtfElsewhere are destinations whose text is not part of the page.
var rtfElsewhere = map[string]string{
	"title": "title", "author": "author", "subject": "subject", "fldinst": "fldinst", "creatim": "creatim", "revtim": "revtim",
}

var rtfUnread = words(`fonttbl colortbl stylesheet pict object info header footer headerl headerr headerf footerl footerr footerf
	listtable listoverridetable revtbl rsidtbl generator themedata datastore xmlnstbl filetbl operator company comment doccomm
	keywords category manager printim buptim nonshppict bkmkstart bkmkend pntext listtext`)

func words(s string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		set[w] = true
	}
	return set
}

func readRTF(p *page, file []byte) error {
	r := &rtf{page: p, in: file, codes: charmap.Windows1252, now: rtfGroup{unicode: 1}, values: make(map[string]*strings.Builder), parts: make(map[string]string)}
	err := r.read()
	r.flush()
	r.endParagraph()
	r.endRow()
	if r.linked {
		r.endLink()
	}
	p.title, p.author, p.description = r.value("title"), r.value("author"), r.value("subject")
	p.created, p.modified = r.parts["creatim"], r.parts["revtim"]
	return err
}

func (r *rtf) value(name string) string {
	if b := r.values[name]; b != nil {
		return strings.TrimSpace(b.String())
	}
	return ""
}

func (r *rtf) read() error {
	for n := 0; len(r.in) > 0 && !r.full; n++ {
		if n%4096 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		c := r.in[0]
		r.in = r.in[1:]
		switch c {
		case '{':
			if r.flush(); len(r.groups) >= maxGroups {
				return fail(Damaged, "its groups lie more than %d deep", maxGroups)
			}
			r.groups = append(r.groups, r.now)
			r.now.linked, r.skip = false, 0
		case '}':
			r.endGroup()
			if len(r.groups) == 0 {
				return nil
			}
		case '\\':
			r.control()
		case '\r', '\n':
		default:
			r.char(c)
		}
	}
	if len(r.groups) > 0 && !r.full {
		return fail(Damaged, "it breaks off")
	}
	return nil
}

func (r *rtf) endGroup() {
	r.flush()
	r.skip = 0
	if r.now.linked && r.linked {
		r.endLink()
		r.linked = false
	}
	if n := len(r.groups); n > 0 {
		r.now, r.groups = r.groups[n-1], r.groups[:n-1]
	}
}

// char reads a byte of text.
func (r *rtf) char(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	if len(r.units) > 0 {
		r.flush()
	}
	r.raw = append(r.raw, c)
}

// control reads a control word or symbol, after its backslash.
func (r *rtf) control() {
	if len(r.in) == 0 {
		return
	}
	if c := r.in[0]; c|0x20 < 'a' || c|0x20 > 'z' {
		r.in = r.in[1:]
		r.symbol(c)
		return
	}
	n := 0
	for n < len(r.in) && n < 32 && r.in[n]|0x20 >= 'a' && r.in[n]|0x20 <= 'z' {
		n++
	}
	word := string(r.in[:n])
	from := n
	for n < len(r.in) && n < from+11 && (r.in[n] >= '0' && r.in[n] <= '9' || n == from && r.in[n] == '-') {
		n++
	}
	number, err := strconv.Atoi(string(r.in[from:n]))
	if n < len(r.in) && r.in[n] == ' ' {
		n++
	}
	r.in = r.in[n:]
	r.word(word, number, err == nil)
}

func (r *rtf) symbol(c byte) {
	switch c {
	case '\'':
		if len(r.in) < 2 {
			return
		}
		if v, err := strconv.ParseUint(string(r.in[:2]), 16, 8); err == nil {
			r.in = r.in[2:]
			r.char(byte(v))
		}
	case '*':
		r.now.to = unreadRTF // unless a known control word follows
	case '~':
		r.char(' ')
	case '_':
		r.char('-')
	case '\\', '{', '}':
		r.char(c)
	case '\r', '\n':
		r.word("par", 0, false)
	}
}

// signs are control words that stand for a character.
var signs = map[string]string{
	"tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
}

func (r *rtf) word(word string, n int, given bool) {
	if to, found := rtfElsewhere[word]; found {
		r.flush()
		if r.now.to = to; to == "fldinst" {
			r.values[to] = new(strings.Builder)
		}
		return
	}
	if rtfUnread[word] {
		r.flush()
		r.now.to = unreadRTF
		return
	}
	if sign := signs[word]; sign != "" {
		r.flush()
		r.put(sign)
		return
	}
	switch word {
	case "par", "sect", "page", "line":
		r.flush()
		r.breakLine(word)
	case "cell", "nestcell":
		r.endCell()
	case "row", "nestrow":
		r.flush()
		r.endRow()
	case "intbl":
		r.now.table = true
	case "pard":
		r.now.table = false
	case "ansicpg":
		r.setCodes(n)
	case "uc":
		r.now.unicode = min(max(n, 0), 8)
	case "u":
		r.unit(uint16(n))
	case "bin":
		if given && n > 0 {
			r.in = r.in[min(n, len(r.in)):]
		}
	case "fldrslt":
		r.startField()
	case "yr", "mo", "dy", "hr", "min", "sec":
		r.datePart(word, n)
	}
}

func (r *rtf) setCodes(page int) {
	names := map[int]string{437: "ibm866", 850: "windows-1252", 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 10000: "macintosh", 65001: "utf-8"}
	name := names[page]
	if name == "" {
		name = fmt.Sprintf("windows-%d", page)
	}
	if codes, err := htmlindex.Get(name); err == nil {
		r.flush()
		r.codes = codes
	}
	if page == 437 {
		r.codes = charmap.CodePage437
	}
}

// unit reads a unit of UTF-16.
func (r *rtf) unit(u uint16) {
	if len(r.raw) > 0 {
		r.flush()
	}
	r.units = append(r.units, u)
	r.skip = r.now.unicode
}

// flush decodes and writes pending characters.
func (r *rtf) flush() {
	if len(r.raw) > 0 {
		text, err := r.codes.NewDecoder().Bytes(r.raw)
		if err == nil {
			r.put(string(text))
		}
		r.raw = r.raw[:0]
	}
	if len(r.units) > 0 {
		r.put(string(utf16.Decode(r.units)))
		r.units = r.units[:0]
	}
}

// put writes a text to the destination of its group.
func (r *rtf) put(s string) {
	switch r.now.to {
	case unreadRTF:
	case "":
		r.begin()
		r.text(s)
	default:
		b := r.values[r.now.to]
		if b == nil {
			b = new(strings.Builder)
			r.values[r.now.to] = b
		}
		if b.Len() < 1<<13 {
			b.WriteString(s)
		}
	}
}

// begin begins a paragraph, or a row.
func (r *rtf) begin() {
	switch {
	case r.now.table && !r.row:
		r.endParagraph()
		r.tag("<table><tr><td>")
		r.row = true
	case !r.now.table && !r.open:
		r.endRow()
		r.tag("<p>")
		r.open = true
	}
}

func (r *rtf) breakLine(word string) {
	switch {
	case r.now.to != "":
	case r.row || word == "line":
		r.tag("<br>")
	default:
		r.endParagraph()
	}
}

func (r *rtf) endParagraph() {
	if r.open {
		r.tag("</p>\n")
		r.open = false
	}
}

func (r *rtf) endCell() {
	r.flush()
	if r.now.to == "" && r.now.table {
		r.begin()
		r.tag("</td><td>")
	}
}

func (r *rtf) endRow() {
	if r.row {
		r.tag("</td></tr></table>\n")
		r.row = false
	}
}

// startField begins the text of a field. The text of a link ends with its group.
func (r *rtf) startField() {
	r.flush()
	r.now.to = ""
	m := hyperlink().FindStringSubmatch(r.value("fldinst"))
	if m == nil || r.linked {
		return
	}
	r.begin()
	r.linked = r.link(m[1])
	r.now.linked = r.linked
	delete(r.values, "fldinst")
}

// datePart adds a part to a date.
func (r *rtf) datePart(word string, n int) {
	if to := r.now.to; to == "creatim" || to == "revtim" {
		separator := map[string]string{"yr": "", "mo": "-", "dy": "-", "hr": "T", "min": ":", "sec": ":"}[word]
		width := 2
		if word == "yr" {
			width = 4
		}
		r.parts[to] += fmt.Sprintf("%s%0*d", separator, width, n)
		r.parts[to] = r.parts[to][:min(len(r.parts[to]), 32)]
	}
}
