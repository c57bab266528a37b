package css

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// all returns the matching nodes below root, and the work that matching took.
func all(t testing.TB, text string, root *html.Node) (found []*html.Node, work int) {
	t.Helper()
	s, err := Compile(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m := s.Matcher(NewNodes(), func(n int) error { work += n; return nil })
	for n := range dom.Descendants(root) {
		if m.Match(n) {
			found = append(found, n)
		}
	}
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
	return found, work
}

// hostile are pages for which each construct would take long if it looked at the same elements
// again: many nested elements, with many in the innermost, or many siblings.
var hostile = []struct {
	selector string
	page     func(n int) string
}{
	{".content div div div span", nested},
	{"div div div div p", nested},
	{"div > div div > div > div span", nested},
	{"div div + span ~ span", nested},
	{"h2 ~ p ~ p", beside},
	{"p ~ p ~ p ~ h2", beside},
	{"h2 + p ~ p + p", beside},
	{".x > p", oneClass},
	{"body:has(.x) p", beside},
	{"div:has(.x)", nested},
	{"div:has(div div .x)", nested},
	{"div:has(span ~ span ~ .x)", nested},
	{"div:haschild(p)", nested},
	{"span:not(div div div .x span)", nested},
	{"div:not(:has(div:not(:has(.x))))", nested},
	{":not(:has(:not(:has(:not(:has(.x))))))", nested},
	{"p:nth-child(3n+1)", beside},
	{"p:nth-last-child(2n)", beside},
	{"p:nth-of-type(odd)", beside},
	{"p:nth-last-of-type(3n)", beside},
	{"p:nth-child(100000)", beside},
	{"p:first-of-type", beside},
	{"p:last-child", beside},
	{"p:only-child", beside},
	{"p:only-of-type", beside},
	{"p:empty", comments},
	{"p:first-child", comments},
	{`:contains("") + :contains("")`, comments},
	{`div:contains("absent")`, nested},
	{`p:contains("absent")`, beside},
	{`div :contains("a")`, nested},
	{`p:containsOwn("absent")`, beside},
	{"p:matchesOwn(a.*b)", beside},
	{"span:lang(de)", nested},
	{"p:lang(de)", beside},
	{"input:enabled", disabledIn},
	{"input:disabled", disabledIn},
	{"[class~=x]", oneClass},
	{"[class*=x][class^=a]", oneClass},
	{"[class#=(a+)+$]", oneClass},
}

func nested(n int) string {
	depth := min(n/4, 400)
	return `<div class="content">` + strings.Repeat("<div>", depth) + strings.Repeat("<span>a</span>", n-depth)
}

func beside(n int) string { return strings.Repeat("<p>a b</p>", n) }

func comments(n int) string {
	return strings.Repeat("<!--c-->", n) + strings.Repeat("<p><!--c--></p>", n)
}

func oneClass(n int) string {
	return `<div class="` + strings.Repeat("a ", n) + `">` + strings.Repeat("<p></p>", n)
}

func disabledIn(n int) string {
	return "<fieldset disabled>" + strings.Repeat("<legend></legend><input>", n)
}

// The work of any construct grows linearly with the page. Cascadia took hours for some of these.
func TestWorkIsLinear(t *testing.T) {
	t.Parallel()
	const small, times = 2000, 8
	for _, tt := range hostile {
		t.Run(tt.selector, func(t *testing.T) {
			t.Parallel()
			_, few := all(t, tt.selector, parse(t, tt.page(small)))
			_, many := all(t, tt.selector, parse(t, tt.page(small*times)))
			if many > few*times*3/2 {
				t.Errorf("%d times the page took %d times the work: %d and %d", times, many/few, few, many)
			}
			if most := 60 * small * strings.Count(tt.selector+" ", " "); few > 10*most {
				t.Errorf("%d steps for %d elements", few, small)
			}
		})
	}
}

// In nested elements, :matches reads the text of each.
func TestMatchesCountsWhatItReads(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1<<16)
	_, once := all(t, "div:matches(b)", parse(t, "<div>"+text))
	_, often := all(t, "div:matches(b)", parse(t, strings.Repeat("<div>", 100)+text))
	if often < 90*(once-len(text)/Unit) {
		t.Errorf("one element took %d, a hundred %d", once, often)
	}
}

var errEnough = errors.New("enough")

// A matcher ends anywhere once its budget is used up, and remains ended.
func TestMatcherEndsWhenWorkDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range append(hostile, struct {
		selector string
		page     func(n int) string
	}{"div:matches(b)", nested}) {
		s, err := Compile(tt.selector)
		if err != nil {
			t.Fatal(err)
		}
		root := parse(t, tt.page(500))
		_, whole := all(t, tt.selector, root)
		for _, most := range []int{0, 1, whole / 3, whole - 1} {
			left, after := most, 0
			m := s.Matcher(NewNodes(), func(n int) error {
				if left < 0 {
					after++
				}
				if left -= n; left < 0 {
					return errEnough
				}
				return nil
			})
			for n := range dom.Descendants(root) {
				if is := m.Match(n); is && m.Err() != nil {
					t.Errorf("%s: a match that nobody could know", tt.selector)
				}
			}
			if failed := m.Err(); !errors.Is(failed, errEnough) || after > 0 {
				t.Errorf("%s with %d of %d: %v, asked %d times more", tt.selector, most, whole, m.Err(), after)
			}
		}
	}
}

// The content of templates is not part of the page.
func TestTemplatesHideWhatTheyHold(t *testing.T) {
	t.Parallel()
	root := parse(t, `<div id=a><p class=x>shown</p><template id=t><p class=x>{{title}}</p><template><p>in</template></template></div><div id=b><template><i>{{n}}</i></template></div>`)
	for selector, want := range map[string]int{
		"p": 1, ".x": 1, "template": 2, "div:has(i)": 0, "div:haschild(template)": 2, "template:has(p)": 0, "template:haschild(p)": 0,
		`div:contains("{{")`: 0, `template:contains("{{")`: 0, `div:contains("shown")`: 1, `div:matches(\{\{)`: 0, "i": 0,
	} {
		if found, _ := all(t, selector, root); len(found) != want {
			t.Errorf("%s: %d elements, want %d", selector, len(found), want)
		}
	}
	templates, _ := all(t, "#t", root)
	for selector, want := range map[string]int{"p": 1, `p:contains("{{title}}")`: 1, `p:contains("shown")`: 0, "div p": 1} {
		if found, _ := all(t, selector, templates[0]); len(found) != want {
			t.Errorf("in the template, %s: %d elements, want %d", selector, len(found), want)
		}
	}
}

// check compares the result with cascadia's.
func check(t *testing.T, selector, page string) {
	t.Helper()
	want, err := cascadia.ParseGroup(selector)
	got, gotErr := Compile(selector)
	if errors.Is(gotErr, errEscaped) {
		return
	}
	if (err == nil) != (gotErr == nil) {
		t.Fatalf("%q: cascadia says %v, we %v", selector, err, gotErr)
	}
	if err != nil {
		return
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return
	}
	m := got.Matcher(NewNodes(), func(int) error { return nil })
	compare := func(n *html.Node) {
		is := m.Match(n)
		if m.Err() != nil {
			t.Fatal(m.Err())
		}
		if is != want.Match(n) {
			t.Errorf("%q on %q: %s %q matches: %v, of cascadia %v", selector, page, typeName(n), n.Data, is, want.Match(n))
		}
	}
	compare(root)
	for n := range root.Descendants() {
		compare(n)
	}
}

func typeName(n *html.Node) string { return fmt.Sprint(n.Type) }

var samples = []string{
	"*", "*|*", "p", "P", "#a", ".x", ".x.y", "p.x#a", "[a]", "[a=b]", `[a="b c"]`, "[a='b' i]", "[a!=b]", "[a~=b]", "[a|=b]", "[a^=b]",
	"[a$=b]", "[a*=b]", "[a#=(b[c]*)]", "[ a = b ]", "p , b", "p b", "p>b", "p > b", "p+b", "p ~ b", "p/**/b", "p/*/*/", "p /* c */ > b",
	":not(p)", ":not(p, .x b)", "p:has(b)", "p:has(b > i)", ":has(b ~ i)", "div:haschild(p)", `:contains("B c")`, ":contains(b)", ":contains('')",
	`p:containsOwn("a\"b")`, ":matches(^a.b$)", ":matchesOwn(a[)]b)", ":matches((a|b)+)", ":nth-child(2n+1)", ":nth-child( odd )", ":nth-child(EVEN)",
	":nth-child(-n+3)", ":nth-child(3)", ":nth-last-child(2n - 1)", ":nth-of-type(n)", ":nth-last-of-type(-2n+4)", ":nth-child(+2)", ":nth-child(0)",
	":first-child", ":last-child", ":first-of-type", ":last-of-type", ":only-child", ":only-of-type", ":empty", ":root", ":input", ":link",
	":lang(de)", ":lang(DE)", ":enabled", ":disabled", ":checked", ":hover", ":visited", `\.x`, `.a\.b`, `#\31 a`, `p.\78 y`, "--a", ".-a",
	"p::before", ":FIRST-child", "a b c d", "div div > p + b ~ i", ":not(:not(p))", "p:not(:has(b:not(.x)))", "* > *", "*:contains(a) ~ *",
	":contains(a) + p", ":lang(de) ~ p", "fieldset :disabled", "[a=b", "p >", "> p", "p,,b", ":nth-child(x)", ":nope", "p:has()", "\\", `[a="b\
c"]`, "p\n>\tb", ":not( p )", ":contains( 'a' )", "[a#=b]", "[data-x]", `[\61=b]`, `[\61#=b]`, `:nt\68-child(2)`, `:\6eot(p)`, "::after",
	"p *|* b", "*|*p", "a:nth-child(2n+ 1)", ":nth-child(n+)", ":nth-child(2N)", ":nth-child(- 1)", "[a=b i ]", "[a=b I]", "[a=bi]",
}

var pages = []string{
	`<p id=a class="x y" a=b>B c<b a="b c">a"b</b><i>ab</i></p><p>a.b</p><!--c--><p class=X></p> <div><p><b class=x><i>b</i></b></p></div>`,
	`<div lang=de><p>a<p><b></b>a<i></i><div lang=de-AT><div><p>x<b><i>y</i></b></div></div></div><a href=x></a>`,
	`<form><fieldset disabled><legend><input></legend><legend><input><b></b></legend><input checked type=checkbox><select><option selected></select></fieldset><input type=radio checked></form>`,
	`<ul><li>1<li>2<!-- --><li>3<b>a</b>a<li> </ul><p></p>text<p> </p><svg><title>a<p a-b=c></svg><a.b class="a.b 1a">`,
	``, `<template><p class=x>a</p></template>`, `a<p>a<p a=b>b<table><tr><td>a<p>b</table>`,
}

// The results are those of cascadia, for any selector and page.
func TestFindsWhatCascadiaFinds(t *testing.T) {
	t.Parallel()
	for _, selector := range samples {
		for _, page := range pages {
			if !strings.Contains(page, "template") {
				check(t, selector, page)
			}
		}
	}
}

// FuzzMatch generates selectors and pages, and compares the results with cascadia's.
func FuzzMatch(f *testing.F) {
	for i, selector := range samples {
		f.Add(selector, pages[i%len(pages)], []byte{byte(i), byte(i * 7), byte(i * 31)})
	}
	f.Fuzz(func(t *testing.T, selector, page string, seed []byte) {
		if len(selector) > 200 || len(page) > 2000 || len(seed) > 100 || strings.Contains(strings.ToLower(page), "<template") {
			return
		}
		check(t, selector, page)
		selector, page = made(seed)
		check(t, selector, page)
	})
}

// made makes a selector and a page of parts chosen by the seed.
func made(seed []byte) (selector, page string) {
	tags := []string{"p", "b", "i", "div", "li", "input", "fieldset", "legend"}
	var s, p strings.Builder
	for i, c := range seed {
		tag := tags[int(c>>4)%len(tags)]
		switch i % 3 {
		case 0:
			fmt.Fprintf(&p, "<%s class=%s%s>", tag, tags[int(c)%len(tags)], []string{"", " lang=de", " disabled", " a=b"}[c%4])
		case 1:
			if c%2 == 0 {
				fmt.Fprintf(&p, "</%s>", tag)
			} else {
				p.WriteString([]string{"a", "b", " ", "<!--a-->"}[c/2%4])
			}
		default:
			s.WriteString([]string{" ", ">", "+", "~", " ", ","}[c%6])
			part := samples[int(c)%len(samples)]
			if _, err := cascadia.Parse(part); err == nil && c < 128 {
				s.WriteString(part)
			} else {
				s.WriteString(tag)
			}
		}
	}
	return strings.TrimLeft(s.String(), " >+~,"), p.String()
}
