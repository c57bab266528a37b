package structured

import (
	"encoding/json"
	"strings"
	"testing"
)

const testBase = "https://site.example/dir/page?q=1"

func items(t *testing.T, list []*Item, problems []Problem) string {
	t.Helper()
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	return string(AppendItems(nil, list))
}

func TestMicrodataValues(t *testing.T) {
	for _, c := range []struct{ element, want string }{
		{`<b itemprop=p> a <i>b</i>  c</b>`, `a b c`},
		{`<b itemprop=p>a<br>b<script>x</script><style>y</style><!--z--></b>`, `a b`},
		{`<b itemprop=p content="&lt; ">text</b>`, `< `},
		{`<b itemprop=p></b>`, ``},
		{`<meta itemprop=p>`, ``},
		{`<meta itemprop=p content=x>`, `x`},
		{`<img itemprop=p src=a.png>`, `https://site.example/dir/a.png`},
		{`<img itemprop=p>`, ``},
		{`<a itemprop=p href=>`, `https://site.example/dir/page?q=1`},
		{`<a itemprop=p href=" ?a=b#c ">`, `https://site.example/dir/page?a=b#c`},
		{`<a itemprop=p href="HTTP://A.example:80/%7e/../b">`, `http://a.example/b`},
		{`<a itemprop=p href="mailto:a@b.example">`, `mailto:a@b.example`},
		{`<a itemprop=p href="http://a b/">`, ``},
		{`<link itemprop=p href=//x.example>`, `https://x.example/`},
		{`<object itemprop=p data=/x></object>`, `https://site.example/x`},
		{`<data itemprop=p value=1>one</data>`, `1`},
		{`<data itemprop=p>one</data>`, ``},
		{`<meter itemprop=p value=1>one</meter>`, `1`},
		{`<time itemprop=p datetime=2020>then</time>`, `2020`},
		{`<time itemprop=p> then </time>`, `then`},
		{`<video itemprop=p src=v></video>`, `https://site.example/dir/v`},
	} {
		list, problems := Microdata(parse(t, `<div itemscope>`+c.element+`</div>`), testBase)
		want, _ := json.Marshal(map[string]any{"p": []string{c.want}})
		want = []byte(strings.ReplaceAll(string(want), `\u003c`, `<`))
		if got := items(t, list, problems); got != `[{"properties":`+string(want)+`}]` {
			t.Errorf("%s: %s, want %s", c.element, got, want)
		}
	}
}

func TestMicrodataNames(t *testing.T) {
	list, problems := Microdata(parse(t, `<div itemscope itemtype=" b  a b " itemid="http://a b/">
<i itemprop=" x  y	x ">1</i><i itemprop="">2</i><i itemprop=x>3</i>
<i itemprop="k v" itemscope><i itemprop=n>4</i></i></div><i itemprop=stray>5</i><div itemscope></div>`), testBase)
	want := `[{"type":["b","a"],"id":"http://a b/","properties":{"x":["1","3"],"y":["1"],` +
		`"k":[{"properties":{"n":["4"]}}],"v":[{"properties":{"n":["4"]}}]}},{"properties":{}}]`
	if got := items(t, list, problems); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestManyNames(t *testing.T) {
	var page, want strings.Builder
	for i := range 50 {
		name := string(rune('a'+i%25)) + "n"
		page.WriteString(`<i itemprop=` + name + `>` + name + `</i>`)
		if i < 25 {
			want.WriteString(`,"` + name + `":["` + name + `","` + name + `"]`)
		}
	}
	list, problems := Microdata(parse(t, `<div itemscope>`+page.String()+`</div>`), testBase)
	if got := items(t, list, problems); got != `[{"properties":{`+want.String()[1:]+`}}]` {
		t.Errorf("%s\nwant %s", got, want.String())
	}
	if list[0].Values("yn") == nil || list[0].Values("zz") != nil {
		t.Error("Values does not find what there is")
	}
}

func TestRDFa(t *testing.T) {
	const schema = `vocab="http://schema.org/"`
	for _, c := range []struct{ name, page, want string }{
		{"text", `<p ` + schema + ` typeof=A><b property=n>x <i>y</i></b></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"n":["x y"]}}]`},
		{"two names of one item", `<p ` + schema + ` typeof=A><b property="m n" typeof=B></b></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"m":[{"type":["http://schema.org/B"],"id":"_:item2","properties":{}}],"n":["_:item2"]}}]`},
		{"vocabulary without its slash", `<p vocab="https://schema.org" typeof=A></p>`,
			`[{"type":["https://schema.org/A"],"properties":{}}]`},
		{"vocabulary ended", `<p ` + schema + ` typeof=A><b vocab="" property=n>x</b></p>`,
			`[{"type":["http://schema.org/A"],"properties":{}}]`},
		{"prefix in its element only", `<p ` + schema + ` typeof=A><b prefix="e: http://e.example/" property=e:n>x</b><b property=e:n>y</b></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"http://e.example/n":["x"]}}]`},
		{"prefix shadowed and back", `<p prefix="e: http://e.example/" typeof=e:A><b prefix="e: http://f.example/" property=e:n>x</b><b property=e:n>y</b></p>`,
			`[{"type":["http://e.example/A"],"properties":{"http://f.example/n":["x"],"n":["y"]}}]`},
		{"href resource src", `<p ` + schema + ` typeof=A><a property=n href=a resource=b>x</a><a property=n href=a>x</a><img property=n src=c></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"n":["https://site.example/dir/b","https://site.example/dir/a","https://site.example/dir/c"]}}]`},
		{"rel with a prefix takes the link", `<p ` + schema + ` typeof=A><a property=n rel=foaf:page href=a>x</a><a property=m rel=nofollow href=a>y</a></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"n":["x"],"m":["https://site.example/dir/a"]}}]`},
		{"content before datetime before text", `<p ` + schema + ` typeof=A><time property=a content=1 datetime=2>3</time><time property=b datetime=2>3</time><time property=c>3</time></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"a":["1"],"b":["2"],"c":["3"]}}]`},
		{"the document", `<body ` + schema + `><b property=n>x</b>`,
			`[{"id":"https://site.example/dir/page?q=1","properties":{"http://schema.org/n":["x"]}}]`},
		{"typed document", `<body ` + schema + ` typeof=WebPage><b property=n>x</b>`,
			`[{"type":["http://schema.org/WebPage"],"id":"https://site.example/dir/page?q=1","properties":{"n":["x"]}}]`},
		{"a thing in two places", `<p ` + schema + ` resource="#a" typeof=A></p><p ` + schema + ` about="#a"><b property=n>x</b></p>`,
			`[{"type":["http://schema.org/A"],"id":"https://site.example/dir/page?q=1#a","properties":{"n":["x"]}}]`},
		{"a circle", `<p ` + schema + ` resource="#a" typeof=A><b property=n typeof=B resource="#b"><b property=m typeof=A resource="#a"></b></b></p>`,
			`[{"type":["http://schema.org/A"],"id":"https://site.example/dir/page?q=1#a","properties":{"n":[{"type":["http://schema.org/B"],"id":"https://site.example/dir/page?q=1#b",` +
				`"properties":{"m":["https://site.example/dir/page?q=1#a"]}}]}}]`},
		{"said twice", `<p ` + schema + ` typeof=A><b property=n>x</b><b property=n>x</b></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"n":["x"]}}]`},
		{"Open Graph is not repeated", `<meta property="og:title" content=x><meta property="undeclared:y" content=x><p property=z>x</p>`, `[]`},
		{"absolute IRI", `<p typeof="http://schema.org/A"><b property="http://schema.org/n">x</b></p>`,
			`[{"type":["http://schema.org/A"],"properties":{"n":["x"]}}]`},
		{"template", `<p ` + schema + ` typeof=A><template><b property=n>x</b></template></p>`,
			`[{"type":["http://schema.org/A"],"properties":{}}]`},
	} {
		list, problems := RDFa(parse(t, c.page), testBase)
		if got := items(t, list, problems); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestMeta(t *testing.T) {
	m := Metas(parse(t, `<meta name=" Description " content=" d "><meta property="og:title dc:title" name=title content=t>
<meta name=citation_author content=A><meta name=citation_author content=B><meta charset=utf-8><meta http-equiv=refresh content=1>`))
	for name, want := range map[string]string{
		"description": "d", "OG:title": "t", "dc:title": "t", "title": "t", "citation_author": "A B", "refresh": "", "x": "",
	} {
		if got := strings.Join(m.Get(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := string(m.OpenGraph().AppendJSON(nil)); got != `{"og:title":"t"}` {
		t.Errorf("Open Graph: %s", got)
	}
	if got := string(m.Twitter().AppendJSON(nil)); got != `{}` {
		t.Errorf("Twitter: %s", got)
	}
}

func TestBaseURL(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{`<p>`, testBase},
		{`<base target=_top><base href=/b/><base href=/c/>`, "https://site.example/b/"},
		{`<base href="">`, testBase},
		{`<base href="javascript:x"><base href=/c/>`, testBase},
		{`<base href="http://a b/">`, testBase},
		{`<svg><base href=/b/></svg>`, testBase},
	} {
		if got := BaseURL(parse(t, c.page), testBase); got != c.want {
			t.Errorf("%s: %s, want %s", c.page, got, c.want)
		}
	}
}

// TestNoBase reads a page with an unknown URL.
func TestNoBase(t *testing.T) {
	root := parse(t, `<body vocab="http://schema.org/"><div itemscope><a itemprop=a href=x></a><a itemprop=b href="https://x.example"></a></div>
<p property=n>x</p><p typeof=A resource=r></p>`)
	got := string(FromHTML(root, "").appendJSON(nil))
	want := `{"microdata":[{"properties":{"a":[""],"b":["https://x.example/"]}}],` +
		`"rdfa":[{"id":"about:blank","properties":{"http://schema.org/n":["x"]}},{"type":["http://schema.org/A"],"properties":{}}]}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestMarshal(t *testing.T) {
	d := FromHTML(parse(t, `<meta property=og:title content="a<b&amp;c"><div itemscope itemtype=t><b itemprop=n>x</b></div>
<script type=application/ld+json>{"z":1,"a":2}</script><script type=application/ld+json>{</script>`), testBase)
	want := `{"json_ld":[{"z":1,"a":2}],"microdata":[{"type":["t"],"properties":{"n":["x"]}}],"open_graph":{"og:title":"a<b&c"},` +
		`"problems":[{"part":"json_ld","script":1,"offset":1,"text":"unexpected EOF"}]}`
	if got := string(d.appendJSON(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, v := range []any{d, d.Microdata[0], d.OpenGraph} {
		b, err := json.Marshal(v)
		if err != nil || !json.Valid(b) {
			t.Errorf("%T: %s, %v", v, b, err)
		}
	}
}
