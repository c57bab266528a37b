package messages

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var genMetadata = rapid.Custom(func(t *rapid.T) Metadata {
	name := rapid.StringMatching(`[a-z é漢]{1,8}`)
	m := rapid.MapOfN(name, rapid.StringN(-1, 9, 30), 0, 4).Draw(t, "metadata")
	if len(m) == 0 {
		return nil
	}
	return m
})

// names returns metadata with n names, each with a text of text bytes.
func names(n, text int) Metadata {
	m := make(Metadata)
	for i := range n {
		m[fmt.Sprintf("n%02d", i)] = strings.Repeat("x", text)
	}
	return m
}

func TestMetadataOfSeeds(t *testing.T) {
	want := Metadata{"customer": "17", "größe": "a \"b\"\n"}
	seeds, bad := DecodeSeeds([]byte(`{"url": "https://a.test/", "metadata": {"größe": "a \"b\"\n", "customer": "17"}, "inherit": true}
{"url": "https://b.test/", "metadata": {}}
{"url": "https://c.test/"}`))
	if len(bad) > 0 || len(seeds) != 3 {
		t.Fatalf("%+v, bad %v", seeds, bad)
	}
	if s := seeds[0]; !maps.Equal(s.Metadata, want) || !s.Inherit {
		t.Errorf("%+v", s)
	}
	if s := seeds[1]; s.Metadata == nil || len(s.Metadata) > 0 {
		t.Errorf("one that takes metadata away: %+v", s)
	}
	if s := seeds[2]; s.Metadata != nil {
		t.Errorf("one without: %+v", s)
	}
}

// Excessive metadata is refused at ingest, with the valid values.
func TestMetadataThatIsRefused(t *testing.T) {
	for _, tt := range []struct{ metadata, want string }{
		{`{"a": 17}`, `metadata: "a" is 17: must be a text, in quotes`},
		{`{"a": null}`, `metadata: "a" is null: must be a text`},
		{`["a"]`, `metadata: must be an object with names and texts`},
		{`"a"`, `metadata: must be an object with names and texts`},
		{`{"": "x"}`, `the name "" has 0 bytes: must be from 1 to 64`},
		{`{"` + strings.Repeat("n", 65) + `": "x"}`, `has 65 bytes: must be from 1 to 64`},
		{`{"a\nb": "x"}`, `has control characters`},
		{string(names(17, 1).AppendJSON(nil)), `17 names: at most 16`},
		{`{"ab": "` + strings.Repeat("x", 1023) + `"}`, `its names and texts have 1025 bytes: at most 1024 in all`},
		{`{}, "inherit": true`, `inherit: needs metadata`},
	} {
		seeds, bad := DecodeSeeds([]byte(`[{"url": "https://a.test/", "metadata": ` + tt.metadata + `}]`))
		if len(seeds) > 0 || len(bad) != 1 || !strings.Contains(bad[0].Err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.metadata, bad, tt.want)
		}
		for what, decode := range map[string]func() error{
			"request": func() error {
				_, err := DecodeRequest([]byte(strings.TrimSuffix(visited, "}") + `, "metadata": ` + tt.metadata + `}`))
				return err
			},
			"page": func() error {
				_, err := decodePageText([]byte(strings.TrimSuffix(visited, "}") + `, "metadata": ` + tt.metadata + `}`))
				return err
			},
			"candidates": func() error {
				_, err := DecodeCandidates([]byte(`{"v":1,"crawl":"c","source":"redirect","depth":0,"metadata":` + tt.metadata + `}`))
				return err
			},
		} {
			if err := decode(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s in a %s: %v, want %s", tt.metadata, what, err, tt.want)
			}
		}
	}
	for _, ok := range []Metadata{names(16, 60), {strings.Repeat("n", 64): strings.Repeat("x", 960)}} {
		if err := ok.Check(true); err != nil {
			t.Errorf("%d names: %v", len(ok), err)
		}
	}
}

// The source of the URLs determines where their metadata is.
func TestMetadataOfCandidates(t *testing.T) {
	for text, want := range map[string]string{
		`{"v":1,"crawl":"c","source":"seed","depth":0,"metadata":{"a":"b"}}`:                                 "the source must be link or redirect",
		`{"v":1,"crawl":"c","source":"link","depth":0,"urls":[{"u":"https://a.test/","m":{"a":"b"}}]}`:       "m of https://a.test/: the source must be seed",
		`{"v":1,"crawl":"c","source":"seed","depth":0,"urls":[{"u":"https://a.test/","m":{},"i":true}]}`:     "https://a.test/: inherit: needs metadata",
		`{"v":1,"crawl":"c","source":"seed","depth":0,"urls":[{"u":"https://a.test/","m":{"a":"b"}}]}`:       "",
		`{"v":1,"crawl":"c","source":"link","depth":0,"metadata":{"a":"b"},"inherit":true}`:                  "",
		`{"v":1,"crawl":"c","source":"redirect","depth":0,"metadata":{"a":"b"},"urls":[{"u":"https://a/"}]}`: "",
	} {
		if _, err := DecodeCandidates([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Seeds with much metadata are split into as many messages as necessary.
func TestBatchesFitAMessage(t *testing.T) {
	var urls []Candidate
	for i := range 3000 {
		c := Candidate{URL: fmt.Sprintf("https://a.test/%d", i)}
		if i%2 == 0 {
			c.Metadata = Metadata{"x": strings.Repeat("\x01", 1023)}
		}
		urls = append(urls, c)
	}
	var all []Candidate
	for _, some := range Batches(urls, 256<<10) {
		all = append(all, some...)
		m := Candidates{Crawl: "c", Source: SourceSeed, URLs: some}
		if n := len(m.Encode()); len(some) == 0 || n > 512<<10 {
			t.Errorf("a message of %d URLs has %d bytes", len(some), n)
		}
	}
	if !reflect.DeepEqual(all, urls) {
		t.Error("they are not the same")
	}
	few := Batches(make([]Candidate, 2*MaxBatchURLs+1), 256<<10)
	if len(few) != 3 || len(few[0]) != MaxBatchURLs || len(few[2]) != 1 || len(Batches(nil, 256<<10)) != 0 {
		t.Errorf("%d batches of small ones", len(few))
	}
}
