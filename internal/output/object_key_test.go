package output

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func keyRecord(data string) *KeyRecord {
	return &KeyRecord{ID: "c.1", Crawl: "c", Kind: "game", Partition: 7, Stored: time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC), Data: []byte(data)}
}

func TestKey(t *testing.T) {
	data := `{"kind":"game","url":"https://www.example.org:8080/a","visit":"0123456789abcdef0123456789abcdef.2","key":"K-1","season":2026,"final":true,
		"name":"Zürich / Bern","up":"..","dir":"../../etc/passwd","hidden":".git","ours":"_commits","dot":"a.","win":"NUL.txt","com":"com7",
		"chunk":"part-003-20261121T010203Z-000000000042.jsonl","percent":"100%","back":"a\\b","zero":"a\u0000b","nfd":"Zu\u0308rich","space":" "}`
	for template, want := range map[string]string{
		"{crawl}/{kind}/{id}.json":                        "c/game/4d4e8d4b9ab0c92df9a1bb0d0a1c6ad3.json",
		"/{crawl}/{field:season}/{key}.json/":             "c/2026/K-1.json",
		"dt={date}/p{partition}/{field:final}-{key}.json": "dt=2026-11-21/p007/true-K-1.json",
		"{host}/{url_hash}":                               "www.example.org%3A8080/0123456789abcdef0123456789abcdef",
		"{visit}.json":                                    "0123456789abcdef0123456789abcdef.2.json",
		"{field:name}.json":                               "Zürich%20%2F%20Bern.json",
		"{field:up}/x":                                    "%2E%2E/x",
		"{field:dir}":                                     "%2E.%2F..%2Fetc%2Fpasswd",
		"{field:hidden}":                                  "%2Egit",
		"{field:ours}/x":                                  "%5Fcommits/x",
		"{field:dot}":                                     "a%2E",
		"{field:win}":                                     "%4EUL.txt",
		"{field:com}":                                     "%63om7",
		"{field:chunk}":                                   "%70art-003-20261121T010203Z-000000000042.jsonl",
		"{field:percent}":                                 "100%25",
		"{field:back}":                                    "a%5Cb",
		"{field:zero}":                                    "a%00b",
		"{field:nfd}":                                     "Zu%CC%88rich",
		"{field:space}":                                   "%20",
	} {
		k, err := ParseKey(template)
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		got, err := k.Path(keyRecord(data))
		if strings.Contains(template, "{id}") {
			if len(got) != len(want) || err != nil {
				t.Errorf("%s: %q, %v", template, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", template, got, err, want)
		}
	}
	k, err := ParseKey("{field:name}")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := k.FoldCase().Path(keyRecord(data)); got != "%5Aürich%20%2F%20%42ern" {
		t.Errorf("where names have no case: %q", got)
	}
}

// Different values have different names, however long both are.
func TestKeyOfLongValues(t *testing.T) {
	k, err := ParseKey("{key}.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]string)
	for _, long := range []string{strings.Repeat("a", 5000), strings.Repeat("a", 5001), strings.Repeat("ü", 2000), strings.Repeat("/", 800), strings.Repeat("a", 151), strings.Repeat("a", 150)} {
		got, err := k.Path(keyRecord(`{"key":"` + long + `"}`))
		if err != nil || len(got) > 160 || !strings.HasSuffix(got, ".json") || seen[got] != "" {
			t.Errorf("%.10s… (%d): %q, %v", long, len(long), got, err)
		}
		seen[got] = long
	}
}

func TestKeyRefusals(t *testing.T) {
	for _, template := range []string{
		"", "/", "{crawl}/all.json", "{id}/..", "../{id}", "{id}//x", "_x/{id}", ".{id}", "{id}/{nonsense}", "{field}", "{field:}", "{crawl:x}{id}", "{id}\\x", "{id} ", "{id", "{{id}}",
	} {
		if k, err := ParseKey(template); err == nil {
			t.Errorf("%q is taken for a key: %+v", template, k)
		}
	}
	for data, want := range map[string]string{
		`{}`: "has no field", `{"x":""}`: "empty", `{"x":null}`: "null", `{"x":[1]}`: "[1]", `{"x":{}}`: "{}", `no`: "not a JSON object",
	} {
		k, err := ParseKey("{field:x}")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := k.Path(keyRecord(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", data, got, err, want)
		}
	}
	k, err := ParseKey(strings.Repeat("{field:x}", 2) + "/a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Path(keyRecord(`{"x":"` + strings.Repeat("x", 149) + `"}`)); err == nil {
		t.Errorf("a name of %d bytes", len(got))
	}
}

// For any field value, the path is below the output, with as many folders as the template has, none
// of which is Seine's.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"a", "..", "/", "_commits", "\xff\xfe", "CON", "part-003-20261121T010203Z-000000000042.json", "é", "%2F"} {
		f.Add(s)
	}
	k, err := ParseKey("{crawl}/{field:x}/{field:x}.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
		got, err := k.Path(keyRecord(`{"x":"` + quoted + `"}`))
		if err != nil {
			return
		}
		parts := strings.Split(got, "/")
		if len(parts) != 3 || !filepath.IsLocal(got) {
			t.Errorf("%q: %q", s, got)
		}
		for _, p := range parts {
			if p == "" || p[0] == '.' || p[0] == '_' || strings.ContainsAny(p, "\\:*?\"<>|\x00") || len(p) > 240 || IsChunk(p) {
				t.Errorf("%q: %q", s, got)
			}
		}
	})
}
