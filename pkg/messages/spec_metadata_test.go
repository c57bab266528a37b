package messages

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Seeds in a file have the metadata of the entry that names it, unless they have their own.
func TestMetadataOfSeedsInAFile(t *testing.T) {
	entry := SpecSeed{File: "x", Metadata: Metadata{"a": "1"}, Inherit: true}
	seeds, bad := entry.ReadSeeds([]byte("https://a.test/\n{\"url\": \"https://b.test/\", \"metadata\": {\"b\": \"2\"}}\n"))
	want := []SpecSeed{
		{URL: "https://a.test/", Metadata: Metadata{"a": "1"}, Inherit: true}, {URL: "https://b.test/", Metadata: Metadata{"b": "2"}},
	}
	if len(bad) > 0 || !reflect.DeepEqual(seeds, want) {
		t.Errorf("%+v, bad %v", seeds, bad)
	}
}

// A spec is stored with the metadata of its seeds, and in short where there is none.
func TestMetadataInASpec(t *testing.T) {
	text := `{"seeds": ["https://a.test/", {"url": "https://b.test/", "metadata": {"customer": "17"}, "inherit": true}]}`
	s, err := DecodeSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Encode()); !strings.Contains(got, `"seeds":["https://a.test/",{"url":"https://b.test/","metadata":{"customer":"17"},"inherit":true}]`) {
		t.Errorf("it is stored as %s", got)
	}
	y := DefaultSpec()
	if err := yaml.Load([]byte("seeds:\n  - https://a.test/\n  - {url: \"https://b.test/\", metadata: {customer: 17}, inherit: true}\n"), &y); err != nil || !reflect.DeepEqual(y.Seeds, s.Seeds) {
		t.Errorf("YAML gives %+v, %v", y.Seeds, err)
	}
}

// What no seed may have as metadata, one of a spec may not either.
func TestMetadataOfASpecIsChecked(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"a": null}`:         `metadata: "a" is null: must be a text`,
		`{"": "x"}`:           `the name "" has 0 bytes: must be from 1 to 64`,
		`{}, "inherit": true`: `inherit: there is no metadata beside it`,
	} {
		if _, err := DecodeSpec([]byte(`{"seeds": [{"url": "https://a.test/", "metadata": ` + metadata + `}]}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", metadata, err, want)
		}
	}
}
