package structured

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

func FuzzFromHTML(f *testing.F) {
	pages, _ := filepath.Glob("testdata/*.html")
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body), "https://site.example/dir/page")
	}
	f.Add(`<a itemscope itemref="a b" id=a><b id=b itemprop=x itemscope itemref=a>`, "")
	f.Fuzz(func(t *testing.T, page, base string) {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return // too deep
		}
		d := FromHTML(root, BaseURL(root, base))
		out := d.appendJSON(nil)
		if !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		if again := FromHTML(root, BaseURL(root, base)).appendJSON(nil); !bytes.Equal(out, again) {
			t.Errorf("second reading differs:\n%s\n%s", out, again)
		}
		for _, date := range []string{d.Published, d.Modified} {
			if date != "" && normalDate(date) != date {
				t.Errorf("date %q is not normal", date)
			}
		}
		for _, o := range Objects(d.JSONLD) {
			if _, ok := o.(map[string]any); !ok {
				t.Errorf("%v is no object", o)
			}
		}
	})
}

// FuzzReadJSON compares the reader with encoding/json: an object or array that is valid there is
// returned unchanged, and all results are JSON.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e+3,"\u00e9\n",true,null,{}]}`, "/*c*/{\"a\":1,}//x\n;[2]", `<!-- {"a":1,"a":2} -->`, `["\ud83d\ude00`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := readJSON(s)
		for _, v := range values {
			again, errAgain := readJSON(string(v))
			if !json.Valid(v) || errAgain != nil || len(again) != 1 || !bytes.Equal(again[0], v) {
				t.Fatalf("%q: not stable: %s, %v", s, v, errAgain)
			}
		}
		trimmed := strings.TrimLeft(s, whitespace)
		if !json.Valid([]byte(s)) || trimmed[0] != '{' && trimmed[0] != '[' || len(s) > maxJSONDepth {
			return
		}
		if err != nil || len(values) != 1 || !sameJSON(t, s, string(values[0])) {
			t.Errorf("%q: %s, %v", s, values, err)
		}
	})
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var out [2][]byte
	for i, s := range []string{a, b} {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out[i], _ = json.Marshal(v)
	}
	return bytes.Equal(out[0], out[1])
}
