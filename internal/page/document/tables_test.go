package document

import (
	"encoding/json"
	"strings"
	"testing"
)

// wantJSON compares the JSON of a document.
func wantJSON(t *testing.T, d *Document, want string) {
	t.Helper()
	v, err := d.JSON()
	if err != nil {
		t.Errorf("%.80q: %v", d.Body(), err)
		return
	}
	if got, err := json.Marshal(v); err != nil || string(got) != want {
		t.Errorf("%.80q: %s, %v, want %s", d.Body(), got, err, want)
	}
}

// The separators and line ends that programs write.
func TestCSVForms(t *testing.T) {
	const two = `[{"Name":"A","Price":"1"},{"Name":"B","Price":"2"}]`
	for _, separator := range []string{",", ";", "\t", "|", "^", "~", "\x1f"} {
		for _, end := range []string{"\n", "\r\n", "\r", "\r\r\n"} {
			for _, last := range []string{"", end} {
				body := strings.ReplaceAll("Name;Price\nA;1\nB;2", ";", separator)
				wantJSON(t, doc("text/csv", strings.ReplaceAll(body, "\n", end)+last), two)
				wantJSON(t, doc("text/csv", "sep="+separator+end+strings.ReplaceAll(body, "\n", end)+last), two)
			}
		}
	}
	for body, want := range map[string]string{
		"Price, net;Name (a, b, c)\n1,50;A\n2,50;B\n": `[{"Name (a, b, c)":"A","Price, net":"1,50"},{"Name (a, b, c)":"B","Price, net":"2,50"}]`,
		"\"a,b,c\";d\n1;2\n":                          `[{"a,b,c":"1","d":"2"}]`,
		"\"a|b\";\"c\nd,,,\"\n1;2\n":                  `[{"a|b":"1","c\nd,,,":"2"}]`,
		"a,b|c|d\n1,2\n3,4\n":                         `[{"a":"1","b|c|d":"2"},{"a":"3","b|c|d":"4"}]`,
		"Sep=;\r\nName;Price\r\nA;1,50\r\n":           `[{"Name":"A","Price":"1,50"}]`,
		"\"sep=,\"\nName,Price\nA,1\n":                `[{"Name":"A","Price":"1"}]`,
		"sep=\"\n1\n":                                 `[{"sep=\"":"1"}]`,
		"sep=;;\n1;2\n":                               `[{"column_2":"2","sep=":"1"}]`,
		"a, b\n1, \"x, y\"\n":                         `[{"a":"1","b":"x, y"}]`,
		"a\tb\tc\n\t2\t3\n":                           `[{"a":"","b":"2","c":"3"}]`,
		"size;note\n5\" pipe;a, b\n6\" pipe;c, d\n":   `[{"note":"a, b","size":"5\" pipe"},{"note":"c, d","size":"6\" pipe"}]`,
		"Name\nA\nB\n":                                `[{"Name":"A"},{"Name":"B"}]`,
		"a,b\n\"x\ry\",1\n":                           `[{"a":"x\ry","b":"1"}]`,
		"a;b;c\n1;2\n3;4;5;6\n":                       `[{"a":"1","b":"2"},{"a":"3","b":"4","c":"5"}]`,
	} {
		wantJSON(t, doc("text/csv", body), want)
	}
}

func TestGuardedJSON(t *testing.T) {
	const value = `{"a":"f(1);","b":[1]}`
	for _, form := range []string{
		")]}'\n%", ")]}',\n%", ")]}'%", ")]}\n%", "])}while(1);</x>%", "for(;;);%", "for (;;); %", "while(1);%", "while (1);\n%", "while(true);%", "throw 1;\n%",
		"throw 1; < don't be evil' >\n%", "{}&&%", "{} && %", "&&&START&&&%", "callback(%);", "cb(%)", "/**/cb(%);\n", "/* no */ jQuery123_45.cb ( % ) ;\n", "a.b.c(%);", "$(%);",
		"for (;;) ; %", "]]>%", "//OK%", "/*-secure-\n%\n*/", "<!--\n%\n-->", "var data = %;", ";window.cb && window.cb(%)", "cb(200, %);", "\ufeff%", "%;", "%\x00\x00", "Warning: x in y on line 3\n%",
		"/**/ typeof cb === 'function' && cb(%);", "cb && cb(%);", " \n %", "%",
	} {
		wantJSON(t, doc("application/json", strings.Replace(form, "%", value, 1)), value)
		wantJSON(t, doc("application/json", strings.Replace(form, "%", "[1,2]", 1)), "[1,2]")
	}
	for _, body := range []string{"callback(", "f)", "for(;;);", "{}&&", "cb({} {})", "{}{}", "[1],[2]", "{} x", "[1,{},", "{\"a\":[1]", "\"a\" {}", "1 2"} {
		if v, err := doc("application/json", body).JSON(); err == nil {
			t.Errorf("%q is %v", body, v)
		}
	}
}

// Invalid lines do not lose the others, and Broken reports them.
func TestBrokenNDJSON(t *testing.T) {
	for body, want := range map[string]string{
		"{\"a\":1}\n{\"a\":2,}\n{\"a\":3}":    `[{"a":1},{"a":3}]`,
		"{\"a\":1}\r\nnot JSON\r\n\r\n2\r\n":  `[{"a":1},2]`,
		"1\n{":                                `[1]`,
		"{\"a\n1\n\"\n[\n2":                   `[1,2]`,
		"\x1e1\n\x1e{\n\x1e2\n":               `[1,2]`,
		"1 2\n{\n":                            `[1,2]`,
		"# head\n" + strings.Repeat("1\n", 3): `[1,1,1]`,
	} {
		d := doc("application/x-ndjson", body)
		wantJSON(t, d, want)
		if !strings.Contains(d.Broken(), "left out") {
			t.Errorf("%q: Broken says %q", body, d.Broken())
		}
	}
	if d := doc("application/x-ndjson", "1\n{\n\"a\":\n2}\n"); d.Broken() != "" {
		t.Errorf("values over several lines: %q", d.Broken())
	} else {
		wantJSON(t, d, `[1,{"a":2}]`)
	}
}

// Separators between lines are not errors.
func TestLinesAroundNDJSON(t *testing.T) {
	for _, body := range []string{"\x1e1\n\x1e2\n", "1,\n2,\n", "\ufeff\ufeff1\n2", "1\n2\n\x00\x00"} {
		d := doc("application/x-ndjson", body)
		if wantJSON(t, d, "[1,2]"); d.Broken() != "" {
			t.Errorf("%q: %s", body, d.Broken())
		}
	}
}

// The loss of the rows after it is reported.
func TestQuoteThatIsNotClosed(t *testing.T) {
	for body, line := range map[string]string{"a,b\n\"x,2\n3,4\n": "line 2", "a,b\n1,2\n3,\"4\n5,6\n": "line 3", "a\n\"x\ny\"\n": "", "a\n\"x\n\"\n": ""} {
		d := doc("text/csv", body)
		if _, err := d.JSON(); err != nil || !strings.Contains(d.Broken(), line) || line == "" && d.Broken() != "" {
			t.Errorf("%q: %q, %v, want %q", body, d.Broken(), err, line)
		}
	}
}

// A sitemap for jq has the content of the file, and nothing else.
func TestSitemapAsJSON(t *testing.T) {
	const head = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for text, want := range map[string]string{
		head + `<url><loc>https://h.test/?a=1&amp;b=2</loc></url></urlset>`:                                                                                                                                                               `{"entries":[{"url":"https://h.test/?a=1\u0026b=2"}],"index":false}`,
		head + `<url><loc>/a</loc><lastmod>2024-01-15</lastmod><priority>0</priority></url></urlset>`:                                                                                                                                     `{"entries":[{"modified":"2024-01-15T00:00:00Z","priority":0,"url":"/a"}],"index":false}`,
		head + `<url><loc>/a</loc><changefreq>daily</changefreq><priority>0.5</priority><link rel="alternate" href="/b"/><link rel="alternate" href="/c" hreflang="de"/></url></urlset>`:                                                  `{"entries":[{"alternates":[{"url":"/b"},{"language":"de","url":"/c"}],"changefreq":"daily","priority":0.5,"url":"/a"}],"index":false}`,
		head + `<url><loc>/a</loc><image><loc>/i</loc></image><video><title>T</title><duration>90</duration><publication_date>2024-01-15</publication_date></video><news><publication><name>N</name></publication></news></url></urlset>`: `{"entries":[{"images":[{"url":"/i"}],"news":{"publication":"N"},"url":"/a","videos":[{"published":"2024-01-15T00:00:00Z","seconds":90,"title":"T"}]}],"index":false}`,
		`<sitemapindex></sitemapindex>`: `{"entries":[],"index":true}`,
	} {
		wantJSON(t, doc("application/xml", text), want)
	}
}
