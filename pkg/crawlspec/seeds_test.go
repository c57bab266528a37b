package crawlspec

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"seine/internal/testing/yamltest"
)

func TestSeedsOfASpec(t *testing.T) {
	first := 0
	want := []Seed{{URL: "https://a.test/"}, {URL: "https://b.test/", Priority: &first}, {Sitemap: "https://a.test/sitemap.xml"}}
	text := `{"sitemaps": true, "seeds": ["https://a.test/", {"url": "https://b.test/", "priority": 0}, {"sitemap": "https://a.test/sitemap.xml"}]}`
	s, err := Decode([]byte(text))
	if err != nil || !reflect.DeepEqual(s.Seeds, want) {
		t.Fatalf("%+v, %v", s, err)
	}
	if !bytes.Contains(s.Encode(), []byte(`"seeds":["https://a.test/",{"url":"https://b.test/","priority":0},{"sitemap":`)) {
		t.Errorf("it is stored as %s", s.Encode())
	}
	again, err := Decode(s.Encode())
	if err != nil || !reflect.DeepEqual(again.Seeds, want) {
		t.Errorf("%+v, %v", again, err)
	}
	y := Default()
	if err := yamltest.Unmarshal([]byte(text), &y); err != nil || !reflect.DeepEqual(y.Seeds, want) {
		t.Errorf("%+v, %v", y.Seeds, err)
	}
}

func TestWrongSeedsOfASpec(t *testing.T) {
	for seeds, want := range map[string]string{
		`["no url"]`:                                   "seeds[0].url: invalid URL",
		`["https://a.test/", {}]`:                      "seeds[1]: write one of url, sitemap and file",
		`[{"url": "https://a.test/", "file": "x"}]`:    "write one of",
		`[{"url": "https://a.test/", "priority": 10}]`: "priority: 10: must be from 0 (first) to 9",
		`[{"file": "urls.txt"}]`:                       "read by the command that applies the spec",
	} {
		if _, err := Decode([]byte(`{"seeds": ` + seeds + `}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", seeds, err, want)
		}
	}
}

func TestSpecThatIsTooLargeToBeStored(t *testing.T) {
	s := Default()
	for range MaxSize / 1000 {
		s.Seeds = append(s.Seeds, Seed{URL: "https://a.test/" + strings.Repeat("x", 1000)})
	}
	if err := CheckSize(s.Encode()); err == nil || !strings.Contains(err.Error(), "seine seed --file") {
		t.Error(err)
	}
}
