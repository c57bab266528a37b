package crawlspec

import (
	"reflect"
	"strings"
	"testing"

	"seine/internal/testing/yamltest"
	"seine/pkg/messages"
)

// Seeds in a file have the metadata of the entry that names the file, unless they have their own.
func TestMetadataOfSeedsInAFile(t *testing.T) {
	entry := Seed{File: "x", Metadata: messages.Metadata{"a": "1"}, Inherit: true}
	seeds, bad := entry.ReadSeeds([]byte("https://a.test/\n{\"url\": \"https://b.test/\", \"metadata\": {\"b\": \"2\"}}\n"))
	want := []Seed{
		{URL: "https://a.test/", Metadata: messages.Metadata{"a": "1"}, Inherit: true}, {URL: "https://b.test/", Metadata: messages.Metadata{"b": "2"}},
	}
	if len(bad) > 0 || !reflect.DeepEqual(seeds, want) {
		t.Errorf("%+v, bad %v", seeds, bad)
	}
}

// A seed file can mark a URL as a sitemap.
func TestSitemapsOfSeedsInAFile(t *testing.T) {
	entry := Seed{File: "x"}
	seeds, bad := entry.ReadSeeds([]byte(`{"url": "https://a.test/urls", "sitemap": true}`))
	if want := []Seed{{Sitemap: "https://a.test/urls"}}; len(bad) > 0 || !reflect.DeepEqual(seeds, want) {
		t.Errorf("%+v, bad %v", seeds, bad)
	}
}

// A spec is stored with the metadata of its seeds. Seeds without metadata are stored in the short
// form.
func TestMetadataInASpec(t *testing.T) {
	text := `{"seeds": ["https://a.test/", {"url": "https://b.test/", "metadata": {"customer": "17"}, "inherit": true}]}`
	s, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Encode()); !strings.Contains(got, `"seeds":["https://a.test/",{"url":"https://b.test/","metadata":{"customer":"17"},"inherit":true}]`) {
		t.Errorf("it is stored as %s", got)
	}
	y := Default()
	if err := yamltest.Unmarshal([]byte("seeds:\n  - https://a.test/\n  - {url: \"https://b.test/\", metadata: {customer: 17}, inherit: true}\n"), &y); err != nil || !reflect.DeepEqual(y.Seeds, s.Seeds) {
		t.Errorf("YAML gives %+v, %v", y.Seeds, err)
	}
}

// The metadata in a spec is validated like that of any seed.
func TestMetadataOfASpecIsChecked(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"a": null}`:         `metadata: "a" is null: must be a text`,
		`{"": "x"}`:           `the name "" has 0 bytes: must be from 1 to 64`,
		`{}, "inherit": true`: `inherit: needs metadata`,
	} {
		if _, err := Decode([]byte(`{"seeds": [{"url": "https://a.test/", "metadata": ` + metadata + `}]}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", metadata, err, want)
		}
	}
}
