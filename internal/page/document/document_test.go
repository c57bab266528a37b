package document

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
	"seine/internal/page/mediatype"
)

func doc(contentType, body string) *Document {
	return New(Source{URL: "https://x.example/a/b?x=1&x=2&y=%C3%A4", Status: 200, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)})
}

func TestBody(t *testing.T) {
	for _, tt := range []struct{ contentType, body, want, encoding string }{
		{"text/html; charset=iso-8859-1", "caf\xe9", "café", "windows-1252"},
		{"text/html", "<meta charset=utf-8>caf\xc3\xa9", "<meta charset=utf-8>café", "utf-8"},
		{"application/xml", "<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>", "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", "windows-1252"},
		{"application/json", "\xef\xbb\xbf{}", "{}", "utf-8"},
		{"text/plain", "a\xff", "aÿ", "windows-1252"},
		{"image/png", "\x89PNG\r\n\x1a\n\xff", "\x89PNG\r\n\x1a\n\xff", ""},
	} {
		d := doc(tt.contentType, tt.body)
		if got := string(d.Body()); got != tt.want || d.Encoding().Name() != tt.encoding {
			t.Errorf("%s %q: %q in %q", tt.contentType, tt.body, got, d.Encoding().Name())
		}
	}
}

func TestJSON(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	for _, tt := range []struct {
		contentType, body string
		want              any
		err               string
	}{
		{"application/json", ` {"a":[1.10,null,true,"x"]} `, map[string]any{"a": []any{n("1.10"), nil, true, "x"}}, ""},
		{"application/json", `{} {}`, nil, "data after the first value"},
		{"application/json", `{"a":`, nil, "read JSON"},
		{"application/json", strings.Repeat("9", MaxDigits+2), nil, "digits"},
		{"application/json", `{"a":"` + strings.Repeat("9", MaxDigits+2) + `\"[["}`, map[string]any{"a": strings.Repeat("9", MaxDigits+2) + `"[[`}, ""},
		{"application/json", "[" + strings.Repeat("1,", 6_000_000) + "1]", nil, "more than 256 MiB"},
		{"application/json", strings.Repeat("[", MaxDepth+1), nil, "deep"},
		{"application/x-ndjson", "1\n{\"a\":2}\n\n", []any{n("1"), map[string]any{"a": n("2")}}, ""},
		{"application/x-ndjson", "{\n{", nil, "value 1"},
		{"text/csv", "a,b\n1,2\n3\n4,5,6\n", []any{
			map[string]any{"a": "1", "b": "2"}, map[string]any{"a": "3"}, map[string]any{"a": "4", "b": "5"},
		}, ""},
		{"text/csv", "a;a;\n1;2;3\n", []any{map[string]any{"a": "1", "a_2": "2", "column_3": "3"}}, ""},
		{"text/csv", "", []any{}, ""},
		{"text/tab-separated-values", "a,b\tc\n1,2\t3\n", []any{map[string]any{"a,b": "1,2", "c": "3"}}, ""},
		{"text/csv", "a,b\n\"x\ny\",\"q\"\"\"\n", []any{map[string]any{"a": "x\ny", "b": `q"`}}, ""},
		{"application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","items":[]}`,
			map[string]any{"version": "https://jsonfeed.org/version/1.1", "items": []any{}}, ""},
		{"text/html", `<p>`, nil, "html is not JSON"},
	} {
		got, err := doc(tt.contentType, tt.body).JSON()
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %.40q: error %v", tt.contentType, tt.body, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %.40q: %v, %v", tt.contentType, tt.body, got, err)
		}
	}
}

func TestXML(t *testing.T) {
	root, err := doc("application/xml", "<?xml version='1.0' encoding='iso-8859-1'?><a><b>\xe9&nbsp;</b></a>").XML()
	if err != nil || root.SelectElement("//b").InnerText() != "é\u00a0" {
		t.Errorf("%v, %v", root, err)
	}
	if _, err := doc("text/html", "<p>").XML(); !errors.Is(err, ErrForm) {
		t.Errorf("of HTML: %v", err)
	}
	for _, body := range []string{
		"<r>" + strings.Repeat("<s>", MaxDepth+1), strings.Repeat(`<s a="/>">`, MaxDepth+1), "<r>" + strings.Repeat("<s/>", 2_000_000),
		// a quote outside a tag
		`<!-- <a x=" --><r>` + strings.Repeat("<s/>", 2_000_000), `<?p <a x=" ?><r>` + strings.Repeat("<s/>", 2_000_000), `<!DOCTYPE r [<!-- ' --><!ENTITY e "<a x='">]><r>` + strings.Repeat("<s/>", 2_000_000),
		`<r><![CDATA[<a x="]]>` + strings.Repeat("<s/>", 2_000_000), "<r " + strings.Repeat("b='' ", 2_200_000),
	} {
		if _, err := doc("application/xml", "<?xml version='1.0'?>"+body).XML(); !errors.Is(err, ErrTooBig) {
			t.Errorf("%.20q: %v", body, err)
		}
	}
}

// One invalid place loses no more than itself, and is reported.
func TestBrokenXMLIsReadAsFarAsItCanBe(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"a control character":    {"<r><Item a='1'>x\x01y</Item></r>", "xy"},
		"-- in a comment":        {"<r><!-- a -- b --><Item a='1'>x</Item></r>", "x"},
		"XML 1.1":                {"<?xml version='1.1'?><r><Item a='1'>x</Item></r>", "x"},
		"an end that is missing": {"<r><Item a='1'>x", "x"},
		"a stray end":            {"</p><r></b><Item a='1'>x</Item></q></r>", "x"},
		"a bare <":               {"<r><Item a='1'>1 < 2 & 3</Item></r>", "1 < 2 & 3"},
		"a bad attribute":        {"<r><Item 'b' a='1' \"c\">x</Item></r>", "x"},
		"CDATA":                  {"<r><!-- -- --><Item a='1'><![CDATA[<b>]]></Item></r>", "<b>"},
		"a bad name":             {"<r><a@b>y</a@b><Item a='1'>x</Item></r>", "x"},
		"a title":                {"<r><!-- -- --><title>a <b>b</b></title><Item a='1'>x</Item></r>", "x"},
		"two roots":              {"<r><Item a='1'>x</Item></r></r>", "x"},
	} {
		d := doc("application/xml", tt.body)
		root, err := d.XML()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := root.SelectElement("//Item[@a='1']")
		if n == nil || n.InnerText() != tt.want || d.Broken() == "" {
			t.Errorf("%s: %s; %q", name, root.OutputXML(true), d.Broken())
		}
	}
	d := doc("application/xml", "<r xmlns:m='urn:m'><m:Item>x</m:Item><!-- -- --></r>")
	if root, err := d.XML(); err != nil || root.SelectElement("//m:Item") == nil {
		t.Errorf("of a namespace: %v", err)
	}
	d = doc("application/xml", "<r>x</r>")
	if _, err := d.XML(); err != nil || d.Broken() != "" {
		t.Errorf("of what is whole: %v, %s", err, d.Broken())
	}
	for _, body := range []string{"<r>" + strings.Repeat("<a>", MaxDepth-2) + "\x01", "<?xml version='1.1'?>" + strings.Repeat("<a>", 900) + strings.Repeat("</b>", 10_000)} {
		if _, err := doc("application/xml", body).XML(); err != nil {
			t.Errorf("%.20q: %v", body, err)
		}
	}
}

// A page without a DOM reports the reason.
func TestHTMLBounds(t *testing.T) {
	if _, err := doc("text/html", strings.Repeat("x", MaxHTML+1)).Root(); !errors.Is(err, ErrTooBig) {
		t.Errorf("too long: %v", err)
	}
	if _, err := doc("text/html", strings.Repeat("<div>", 600)).Root(); err == nil {
		t.Error("600 elements in each other are taken")
	}
	if _, err := doc("application/json", "{}").Root(); !errors.Is(err, ErrForm) {
		t.Errorf("of JSON: %v", err)
	}
}

// Each form is made once.
func TestOnce(t *testing.T) {
	d := doc("text/html", `<script type="application/ld+json">{"a":1}</script><p>x`)
	a, _ := d.Root()
	b, _ := d.Root()
	if a != b || a == nil {
		t.Error("a second DOM was made")
	}
	ld, err := d.JSONLD()
	if want := []any{map[string]any{"a": json.Number("1")}}; err != nil || !reflect.DeepEqual(ld, want) {
		t.Errorf("JSON-LD %v, %v", ld, err)
	}
	broken := doc("text/html", strings.Repeat("<div>", 600))
	_, err = broken.Root()
	if _, again := broken.Root(); err == nil || !errors.Is(again, err) {
		t.Error("an error is not kept")
	}
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct{ contentType, body, ref, want string }{
		{"text/html", "<p>", "c", "https://x.example/a/c"},
		{"text/html", "<base target=x><base href=/z/><base href=/y/>", "c", "https://x.example/z/c"},
		{"text/html", "<base href='javascript:x'>", "c", "https://x.example/a/c"},
		{"text/html", strings.Repeat("<div>", 600), "c", "https://x.example/a/c"},
		{"text/html; charset=windows-1251", "<p>", "?q=ж", "https://x.example/a/b?q=%E6"},
		{"application/json", "{}", "/c?q=ж", "https://x.example/c?q=%D0%B6"},
	} {
		if got, err := doc(tt.contentType, tt.body).Resolve(tt.ref); got != tt.want || err != nil {
			t.Errorf("%q in %.30q: %q, %v", tt.ref, tt.body, got, err)
		}
	}
	if _, err := New(Source{URL: "x"}).Resolve("/a"); err == nil {
		t.Error("without a URL there is a base")
	}
}

func TestParameter(t *testing.T) {
	d := doc("text/html", "")
	for name, want := range map[string]string{"x": "1", "y": "ä"} {
		if got, ok := d.Parameter(name); got != want || !ok {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, ok := d.Parameter("z"); ok {
		t.Error("z is there")
	}
}

func TestTextOf(t *testing.T) {
	for _, tt := range []struct{ in, text, raw string }{
		{"a  b\n c ", "a b c", "a  b\n c "},
		{"<p>a<p>b", "a b", "ab"},
		{"a<b>b</b>c <i> d</i>", "abc d", "abc  d"},
		{"a<br>b<hr>c", "a b c", "abc"},
		{"<ul><li>a<li>b</ul>", "a b", "ab"},
		{"<table><tr><td>a<td>b<tr><td>c</table>", "a b c", "abc"},
		{"a<script>x</script><style>y</style><template>z</template>b", "ab", "axyb"},
		{"a\u00a0b\u2003 c", "a b c", "a\u00a0b\u2003 c"},
		{"é \u00e9  日本", "é é 日本", "é \u00e9  日本"},
		{"", "", ""}, {" \n ", "", " \n "},
		{"a &nbsp; b", "a b", "a \u00a0 b"},
	} {
		root, err := html.Parse(strings.NewReader("<body><div>" + tt.in + "</div>"))
		if err != nil {
			t.Fatal(err)
		}
		div := root.FirstChild.LastChild.FirstChild
		if got := TextOf(div); got != tt.text {
			t.Errorf("%q: text %q", tt.in, got)
		}
		if got := dom.RawText(div); got != tt.raw {
			t.Errorf("%q: raw %q", tt.in, got)
		}
		if got, want := dom.Fold(tt.in), strings.Join(strings.Fields(tt.in), " "); got != want {
			t.Errorf("%q: folded %q, want %q", tt.in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	if got, err := doc("text/html", "<title>t</title><p>a</p><p>b").Text(); got != "a\nb" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := doc("text/plain", "a\n b").Text(); got != "a\n b" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzDocument(f *testing.F) {
	types := []string{"text/html", "application/json", "application/x-ndjson", "text/csv", "application/xml", "application/rss+xml", "text/plain", ""}
	for i := range types {
		f.Add([]byte(`<p a=b>x<b>{"a":[1]}`), byte(i))
		f.Add([]byte("{\"a\":[1,2.0e5,\"\\u0041\"]}\n[]"), byte(i))
		f.Add([]byte("a;b\n\"1\n2\";3\n"), byte(i))
		f.Add([]byte("<?xml version='1.0'?><a xmlns:x='y'><x:b c='d'/><![CDATA[e]]></a>"), byte(i))
	}
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		if len(body) > 1<<16 {
			return
		}
		d := doc(types[int(kind)%len(types)], string(body))
		if root, err := d.Root(); err == nil {
			if got, want := TextOf(root), dom.Fold(TextOf(root)); got != want {
				t.Errorf("%q is not folded: %q", got, want)
			}
			dom.RawText(root)
		}
		if v, err := d.JSON(); err == nil {
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		}
		if root, err := d.XML(); err == nil {
			root.InnerText()
		}
		if _, err := d.Text(); err != nil {
			t.Error(err)
		}
		if _, err := d.JSONLD(); err != nil && d.Type.Class == mediatype.HTML && !strings.Contains(err.Error(), "512") {
			t.Error(err)
		}
		if _, err := d.Base(); err != nil {
			t.Error(err)
		}
	})
}
