package article

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

// sectionsOf returns the sections of the body of a page, each as its attributes and its Markdown.
func sectionsOf(t *testing.T, body string) (all []string) {
	t.Helper()
	for _, n := range Sections(bodyOf(parse(t, "<html><body><div id=top>"+body+"</div>"))) {
		all = append(all, strings.Join([]string{dom.Attribute(n, AttrPosition), dom.Attribute(n, AttrLevel), dom.Attribute(n, "id"), dom.Attribute(n, AttrPath), Markdown(n, pageURL)}, "|"))
	}
	return all
}

func bodyOf(root *html.Node) *html.Node {
	for w := dom.Walk(root); w.Next(); {
		if dom.Attribute(w.Node, "id") == "top" {
			return w.Node
		}
	}
	return nil
}

func TestContentIsTakenApartAtItsHeadings(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"flat", "<p>before<h1 id=a>A</h1><p>of A<h2>B</h2><p>of B<p>more<h2 id=c>C</h2><p>of C<h1>D</h1>of D", []string{
			"1|0|||before\n", "2|1|a||# A\n\nof A\n", "3|2||A|## B\n\nof B\n\nmore\n", "4|2|c|A|## C\n\nof C\n", "5|1|||# D\n\nof D\n",
		}},
		{"in each other", "<section id=a><h1>A</h1>of A<section id=b><h2>B</h2>of B</section>after B</section>after A", []string{
			"1|1|a||# A\n\nof A\n", "2|2|b|A|## B\n\nof B\n\nafter B\n\nafter A\n",
		}},
		{"levels left out", "<h2>A</h2>a<h5>B</h5>b<h3>C</h3>c<h6>D</h6>d<h2>E</h2>e", []string{
			"1|2|top||## A\n\na\n", "2|5||A|##### B\n\nb\n", "3|3||A|### C\n\nc\n", "4|6||A > C|###### D\n\nd\n", "5|2|||## E\n\ne\n",
		}},
		{"heading of others alone", "<h1 id=a>A</h1><h2>B</h2>b<h2>C</h2><h2>D</h2><p><br></p><h3>E</h3>e", []string{
			"1|2||A|## B\n\nb\n", "2|2||A|## C\n", "3|3||A > D|### E\n\ne\n",
		}},
		{"no headings", "some <b>text</b> <p>and more", []string{"1|0|||some **text**\n\nand more\n"}},
		{"headings that are parts", "<h1>A</h1><ul><li><h2>B</h2>b</ul><blockquote><h3>C</h3></blockquote><div class='admonition note'><h3>D</h3><p>d</div>",
			[]string{"1|1|top||# A\n\n- ## B\n\n  b\n\n> ### C\n\n> ### D\n>\n> d\n"}},
		{"empty headings", "<h1>A</h1>a<h2> </h2>b<h2><img src=x.png></h2>c", []string{"1|1|top||# A\n\na\n\nb\n\n## ![](https://docs.example.org/guide/4.2/x.png)\n\nc\n"}},
		{"inline on both sides of a group", "a<div>b<h2>C</h2>c</div>d<b>e</b>", []string{"1|0|||a\n\nb\n", "2|2|top||## C\n\nc\n\nd**e**\n"}},
		{"anchors", "<p>x<h2><a name=a></a>A</h2>a<a id=b></a>\n<h2>B</h2>b<div id=w>text<h2>C</h2>c</div><h2 id=d>D</h2>d<div id=e><header><h2>E</h2></header>e<h2>F</h2>f</div>", []string{
			"1|0|||x\n", "2|2|top||## A\n\na\n", "3|2|b||## B\n\nb\n\ntext\n", "4|2|w||## C\n\nc\n", "5|2|d||## D\n\nd\n", "6|2|e||## E\n\ne\n", "7|2|||## F\n\nf\n",
		}},
		{"nothing", "<p> <br>", nil},
	} {
		if got := sectionsOf(t, c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// Each line of a content is in one section, in the order of the page, except for headings that are
// only in paths.
func TestSectionsHaveEachTextOnce(t *testing.T) {
	for _, p := range append(load(t, "pages"), load(t, "unseen")...) {
		c, ok := Options{}.Main(parse(t, p.HTML))
		if !ok {
			continue
		}
		before := Markdown(c.Node, pageURL)
		var got, paths []string
		for _, n := range Sections(c.Node) {
			if text := Text(n); text != "" { // it may contain only a picture
				got = append(got, strings.Split(text, "\n")...)
			}
			paths = append(paths, strings.Split(dom.Attribute(n, AttrPath), pathSeparator)...)
		}
		for _, line := range strings.Split(c.Text, "\n") {
			if len(got) > 0 && got[0] == line {
				got = got[1:]
				continue
			}
			if !slices.Contains(paths, line) {
				t.Errorf("%s: %q is in no section, or not where it was: the next is %.1q", p.Name, line, got)
				break
			}
		}
		if len(got) > 0 {
			t.Errorf("%s: %q are in sections, and not in the content", p.Name, got)
		}
		if Markdown(c.Node, pageURL) != before {
			t.Errorf("%s: the content was changed", p.Name)
		}
	}
}

// A page of only headings, or of nested groups, takes time in proportion to its size.
func TestSectionsOfHostilePages(t *testing.T) {
	deep := strings.Repeat("<div>", 500) + "<h2>A</h2>a" + strings.Repeat("</div>b", 500)
	for name, body := range map[string]string{"headings": strings.Repeat("<h2>A</h2>", 50_000), "levels": strings.Repeat("<h1>A</h1><h2>B</h2>b", 20_000), "deep": deep} {
		if n := len(sectionsOf(t, body)); n == 0 {
			t.Errorf("%s: no sections", name)
		}
	}
	long := "<h1>" + strings.Repeat("é", 10_000) + "</h1>" + strings.Repeat("<h2>B</h2>b", 100)
	for _, n := range Sections(bodyOf(parse(t, "<div id=top>"+long))) {
		if path := dom.Attribute(n, AttrPath); len(path) > maxInPath || !utf8.ValidString(path) {
			t.Fatalf("a path has %d bytes", len(path))
		}
	}
	if Sections(nil) != nil {
		t.Error("nothing has sections")
	}
}
