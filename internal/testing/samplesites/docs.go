package samplesites

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// manual is a page of the documentation.
type manual struct {
	Path, Title string
	Prev, Next  *manual
	Chapters    []*manual
	sections    func(base string) []section
}

// section is a heading and the blocks below it, up to the next heading.
type section struct {
	level  int
	title  string
	blocks []block
}

// manualView is the data of a page's template.
type manualView struct {
	*manual
	Body template.HTML
}

// docsContents are the chapters and their topics.
var docsContents = []struct {
	folder, title string
	topics        []string
}{
	{"tutorial", "Tutorial", []string{"Installing", "First Steps", "Reading Files", "Writing Files", "Errors"}},
	{"howto", "How-to Guides", []string{"Logging", "Testing", "Packaging", "Profiling"}},
	{"reference", "Reference", []string{"Streams", "Records", "Filters", "Sinks", "Clocks", "Options"}},
}

func newDocs(seed uint64) *SampleSite {
	s := &SampleSite{Seeds: []string{"/index.html"}, pages: map[string]page{}}
	t := templates("docs")
	root, all := docsManual(newProse(seed, "docs"))
	for _, m := range all {
		s.pages[m.Path] = page{typeHTML, func(r request) []byte {
			return render(t, "page", r, manualView{m, sphinx(m.sections(r.base))})
		}}
		s.text("/_sources"+strings.TrimSuffix(m.Path, ".html")+".rst.txt", typeText, m.Title+"\n"+strings.Repeat("=", len(m.Title))+"\n")
	}
	s.html("/search.html", t, "search", root)
	s.html("/genindex.html", t, "index", all)
	s.text("/_static/flume.css", typeCSS, "pre { overflow: auto }\n")
	s.text("/robots.txt", typeText, "User-agent: *\nDisallow: /search.html\n")
	s.truth = func(base string) Truth { return docsTruth(base, all) }
	return s
}

func docsManual(p prose) (root *manual, all []*manual) {
	root = &manual{Path: "/index.html", Title: "Flume 3.2 documentation"}
	all = append(all, root)
	for _, c := range docsContents {
		chapter := &manual{Path: "/" + c.folder + "/index.html", Title: c.title}
		root.Chapters = append(root.Chapters, chapter)
		all = append(all, chapter)
		for _, topic := range c.topics {
			m := &manual{Path: "/" + c.folder + "/" + slug(topic) + ".html", Title: topic}
			chapter.Chapters = append(chapter.Chapters, m)
			all = append(all, m)
		}
	}
	for i, m := range all {
		if i > 0 {
			m.Prev, all[i-1].Next = all[i-1], m
		}
		if len(m.Chapters) > 0 {
			m.contents(p)
		} else {
			m.topic(p, all[(i+3)%len(all)])
		}
	}
	return root, all
}

// contents fills a page that links to other pages.
func (m *manual) contents(p prose) {
	intro, after := p.paragraph(3), p.paragraph(2)
	m.sections = func(base string) []section {
		var items []inline
		for _, c := range m.Chapters {
			items = append(items, link(c.Title, base, c.Path))
		}
		return []section{{1, m.Title, []block{para(words(intro)), bullets(items...), para(words(after))}}}
	}
}

// topic fills a page about a topic.
func (m *manual) topic(p prose, other *manual) {
	name := strings.ToLower(strings.Fields(m.Title)[0])
	text := make([]string, 8)
	for i := range text {
		text[i] = p.paragraph(2 + p.IntN(2))
	}
	steps := []inline{words(p.sentence()), words(p.sentence()), words(p.sentence())}
	m.sections = func(base string) []section {
		return []section{
			{1, m.Title, []block{
				para(words(text[0]+" See "), link(other.Title, base, other.Path), words(" as well.")),
				para(words(text[1]+" The function "), code(name+".open()"), words(" is "), emph("always"), words(" there. "+text[2])),
			}},
			{2, "Use", []block{
				para(words(text[3])),
				listing("python", pythonCode(name)),
				para(words(text[4])), numbered(steps...),
			}},
			{2, "On the command line", []block{
				para(words(text[5])),
				listing("console", consoleCode(name)),
				admonition(text[6]),
			}},
			{3, "Options of " + name, []block{
				para(words(text[7])), table([]string{"Option", "Default", "Meaning"}, [][]string{{"--depth", "3", "how deep to look"}, {"--quiet", "no", "say nothing"}}),
			}},
		}
	}
}

// token is a word of a program with its class in a syntax highlighter.
type token struct{ class, text string }

func pythonCode(name string) []token {
	return []token{
		{"kn", "import"}, {"", " "}, {"nn", "flume"}, {"", "\n\n"}, {"k", "def"}, {"", " "}, {"nf", "main"}, {"p", "():"}, {"", "\n    "},
		{"k", "with"}, {"", " "}, {"n", "flume"}, {"o", "."}, {"n", name}, {"p", "("}, {"s2", `"a < b & c"`}, {"p", ")"}, {"", " "}, {"k", "as"},
		{"", " "}, {"n", "f"}, {"p", ":"}, {"", "\n        "}, {"k", "return"}, {"", " "}, {"n", "f"}, {"o", "."}, {"n", "read"}, {"p", "()"},
	}
}

func consoleCode(name string) []token {
	return []token{{"gp", "$ "}, {"", "flume " + name + " --depth 2"}, {"", "\n"}, {"go", "ok: 2 files"}}
}

func plainCode(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// listing returns a block of code in the markup of Sphinx and Pygments.
func listing(language string, tokens []token) block {
	var b strings.Builder
	for _, t := range tokens {
		if t.class == "" {
			b.WriteString(html.EscapeString(t.text))
		} else {
			fmt.Fprintf(&b, `<span class="%s">%s</span>`, t.class, html.EscapeString(t.text))
		}
	}
	text := plainCode(tokens)
	return block{
		template.HTML(`<div class="highlight-` + language + ` notranslate"><div class="highlight"><pre><span></span>` + b.String() + "\n</pre></div>\n</div>\n"),
		"```" + language + "\n" + text + "\n```", text,
	}
}

func admonition(text string) block {
	return block{
		template.HTML(`<div class="admonition note">` + "\n" + `<p class="admonition-title">Note</p>` + "\n<p>" + html.EscapeString(text) + "</p>\n</div>\n"),
		"> Note\n>\n> " + text, "Note\n" + text,
	}
}

func table(head []string, rows [][]string) block {
	cells := func(tag string, row []string) string {
		return "<tr><" + tag + ">" + strings.Join(row, "</"+tag+"><"+tag+">") + "</" + tag + "></tr>\n"
	}
	h := `<table class="docutils align-default">` + "\n<thead>\n" + cells("th", head) + "</thead>\n<tbody>\n"
	m := "| " + strings.Join(head, " | ") + " |\n|" + strings.Repeat(" --- |", len(head))
	t := strings.Join(head, " ")
	for _, row := range rows {
		h, m, t = h+cells("td", row), m+"\n| "+strings.Join(row, " | ")+" |", t+"\n"+strings.Join(row, " ")
	}
	return block{template.HTML(h + "</tbody>\n</table>\n"), m, t}
}

// sphinx nests sections, each with the permalink of its heading.
func sphinx(sections []section) template.HTML {
	var b strings.Builder
	open := 0
	for _, s := range sections {
		for ; open >= s.level; open-- {
			b.WriteString("</section>\n")
		}
		open++
		id := slug(s.title)
		fmt.Fprintf(&b, `<section id="%s">`+"\n"+`<h%d>%s<a class="headerlink" href="#%s" title="Permalink to this heading">¶</a></h%d>`+"\n",
			id, s.level, html.EscapeString(s.title), id, s.level)
		b.WriteString(string(markup(s.blocks)))
	}
	b.WriteString(strings.Repeat("</section>\n", open))
	return template.HTML(b.String())
}

func docsTruth(base string, all []*manual) Truth {
	var t Truth
	for _, m := range all {
		t.Records = append(t.Records, m.records(base)...)
	}
	return t
}

// records returns the record of the page, and one for each listing and each section on it.
func (m *manual) records(base string) []Record {
	var parts []block
	var all []Record
	var above []string // the headings above a section
	title := m.Title + " — Flume 3.2 documentation"
	for _, s := range m.sections(base) {
		blocks := s.blocks
		if len(m.Chapters) > 0 { // the list contains only links, and so is not content
			blocks = []block{blocks[0], blocks[2]}
		}
		own := append([]block{heading(s.level, s.title)}, blocks...)
		parts = append(parts, own...)
		above = above[:s.level-1]
		r := Record{
			"kind": "section", "url": base + m.Path, "page": title, "heading": s.title, "anchor": slug(s.title),
			"markdown": markdown(own),
		}
		if len(above) > 0 {
			r["path"] = strings.Join(above, " > ")
		}
		all, above = append(all, r), append(above, s.title)
	}
	tokens := map[string][]token{}
	if len(m.Chapters) == 0 {
		name := strings.ToLower(strings.Fields(m.Title)[0])
		tokens["python"], tokens["console"] = pythonCode(name), consoleCode(name)
	}
	for _, language := range []string{"python", "console"} {
		if code := tokens[language]; code != nil {
			all = append(all, Record{"kind": "listing", "url": base + m.Path, "language": language, "code": plainCode(code)})
		}
	}
	return append(all, Record{
		"url": base + m.Path, "title": title, "markdown": markdown(parts) + "\n",
	})
}
