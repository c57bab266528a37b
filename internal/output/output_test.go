package output

import (
	"strings"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	created := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	for want, n := range map[string]Name{
		"part-003-20261121T010203Z-000000000042":              {3, CreatedStamp(created), 0, 42, 0},
		"part-255-20261121T010203Z.2-123456789012":            {255, CreatedStamp(created), 2, 123456789012, 0},
		"part-003-20261121T010203Z-000000000042-000000000099": {3, CreatedStamp(created), 0, 42, 99},
	} {
		if n.String() != want {
			t.Errorf("%s, want %s", n, want)
		}
		if got, ext, ok := ParseName(want + ".jsonl.zst"); !ok || got != n || ext != "jsonl.zst" {
			t.Errorf("%s is read as %+v", want, got)
		}
	}
	for _, s := range []string{"", "part-003-20261121T010203Z-42.jsonl", "part-003-20261121T010203Z.0-000000000042.jsonl", "xpart-003-20261121T010203Z-000000000042.jsonl"} {
		if _, _, ok := ParseName(s); ok {
			t.Errorf("%q is taken for a name", s)
		}
	}
}

func TestPath(t *testing.T) {
	record := KeyRecord{
		Crawl: "c", Kind: "k", Partition: 7, Stored: time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("west", -2*3600)),
		Data: []byte(`{"url":"https://shop.example/a/b","run":17,"brand":"Zürich / Bern..","empty":"","list":[1],"up":"../..","CON":"con"}`),
	}
	for template, want := range map[string]Group{
		"{crawl}":                       {Crawl: "c", Dir: "c"},
		"/{crawl}/{kind}/":              {Crawl: "c", Kind: "k", Dir: "c/k"},
		"data/{crawl}-{kind}/dt={date}": {Crawl: "c", Kind: "k", Dir: "data/c-k/dt=2026-11-22"},
		"{crawl}/p{partition}":          {Crawl: "c", Dir: "c/p007"},
		"{crawl}/{host}/h={hour}":       {Crawl: "c", Dir: "c/shop.example/h=01"},
		"{crawl}/run={run}":             {Crawl: "c", Dir: "c/run=17"},
		"{crawl}/{date:Asia/Kolkata}/{hour:America/New_York}": {Crawl: "c", Dir: "c/2026-11-22/20"},
		"{crawl}/b={field:brand}":                             {Crawl: "c", Dir: "c/b=Zürich%20%2F%20Bern.%2E"},
		"{crawl}/{field:up}":                                  {Crawl: "c", Dir: "c/%2E.%2F.%2E"},
		"{crawl}/{field:CON}":                                 {Crawl: "c", Dir: "c/%63on"},
		"{crawl}/{field:empty}":                               {Crawl: "c", Dir: "c/none"},
		"{crawl}/{field:list}-{field:no}":                     {Crawl: "c", Dir: "c/none-none"},
	} {
		p, err := ParsePath(template)
		if err != nil {
			t.Errorf("%s: %v", template, err)
		} else if got := p.Group(&record); got != want {
			t.Errorf("%s: %+v, want %+v", template, got, want)
		}
	}
	long := KeyRecord{Crawl: "c", Kind: "k", Data: []byte(`{"a":"` + strings.Repeat("x", 10_000) + `"}`)}
	for template, most := range map[string]int{"{crawl}/{field:a}": 2 + maxValue, "{crawl}/{field:a}{field:a}": len("c/none-k"), "{crawl}" + strings.Repeat("/{field:a}", 9): len("c/none-k")} {
		p, err := ParsePath(template)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Group(&long).Dir; len(got) > most || !strings.HasPrefix(got, "c/") {
			t.Errorf("%s: %s of %d bytes", template, got, len(got))
		}
	}
	for _, template := range []string{
		"", "/", "{kind}", "{crawl}//x", "{crawl}/..", "../{crawl}", "_x/{crawl}", ".{crawl}", "{crawl}/{id}", "{crawl}/{field}", "{crawl}/a b", "{crawl}/{", "{crawl}\\x",
		"{crawl}/{date:}", "{crawl}/{date:Europe/Nowhere}", "{crawl}/{hour:Local}", "{crawl}/{run:UTC}",
	} {
		if _, err := ParsePath(template); err == nil {
			t.Errorf("%q is taken for a path", template)
		}
	}
}

// An index is a file without records, for a file of the same commit that has records.
func TestIndexOfAFile(t *testing.T) {
	sum := strings.Repeat("0", 64)
	chunk := File{Path: "c/a.warc.gz", Crawl: "c", Records: 1, SHA256: sum}
	index := File{Path: "c/a.cdxj", Crawl: "c", SHA256: sum, IndexOf: chunk.Path}
	full, bare, lost, itself := index, index, index, index
	full.Records, bare.IndexOf, lost.IndexOf, itself.IndexOf = 1, "", "c/b.warc.gz", index.Path
	for what, tt := range map[string]struct {
		files []File
		good  bool
	}{
		"a file and its index":             {[]File{chunk, index}, true},
		"an index before its file":         {[]File{index, chunk}, true},
		"an index with records":            {[]File{chunk, full}, false},
		"a file without records":           {[]File{chunk, bare}, false},
		"an index of a file not there":     {[]File{chunk, lost}, false},
		"an index of an index":             {[]File{chunk, itself}, false},
		"an index without any file at all": {[]File{index}, false},
	} {
		c := Commit{Created: time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC), FirstSeq: 1, LastSeq: 1, Files: tt.files}
		c.Visits = make([]byte, IdentitySize*c.Records())
		text, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeCommit(c.Name(), text)
		if (err == nil) != tt.good || err == nil && got.Records() != 1 {
			t.Errorf("%s: %v", what, err)
		}
	}
}
