package weburl

import (
	"errors"
	"strings"
	"testing"
)

func TestRoutes(t *testing.T) {
	base, err := NewBase("https://a.example/app?x=1#/old")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"#/items":                      "https://a.example/app?x=1#/items",
		" #/items ":                    "https://a.example/app?x=1#/items",
		"#!/items":                     "https://a.example/app?x=1#!/items",
		"#!items":                      "https://a.example/app?x=1#!items",
		"/#/items?page=2#3":            "https://a.example/#/items?page=2#3",
		"https://A.example:443/#/%7ea": "https://a.example/#/~a",
		"#/ä b\"<>`":                   "https://a.example/app?x=1#/%C3%A4%20b%22%3C%3E%60",
		"#/":                           "https://a.example/app?x=1",
		"#!":                           "https://a.example/app?x=1",
		"#!/":                          "https://a.example/app?x=1",
		"#top":                         "https://a.example/app?x=1",
		"#":                            "https://a.example/app?x=1",
		"other":                        "https://a.example/other",
	} {
		got, err := base.ResolveRoute(ref)
		if got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", ref, got, err, want)
		}
		if again, err := CanonicalizeRoute(got); again != got || err != nil {
			t.Errorf("%q is canonical, and becomes %q, %v", got, again, err)
		}
		plain, err := base.Resolve(ref)
		if err != nil || plain != CutRoute(got) || Path(got) != Path(plain) {
			t.Errorf("%q without its route: %q, want %q, %v", ref, CutRoute(got), plain, err)
		}
	}
	if _, err := base.ResolveRoute("#/" + strings.Repeat("a", MaxLength)); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

// A crawl that distinguishes pages by their routes keeps routes unchanged; for other crawls the URL
// without the route is the page.
func TestNormalizeRoutes(t *testing.T) {
	for options, cases := range map[*NormalizeOptions]map[string]string{
		{}:                   {"/#/a": "/", "/a?b#!c": "/a?b"},
		{DropTracking: true}: {"/?gclid=x#/a?gclid=x": "/"},
		{DropTracking: true, KeepRoutes: true}: {
			"/#/a": "/#/a", "/?gclid=x#/a?gclid=x": "/#/a?gclid=x", "/?gclid=x": "/",
		},
		{DropParameters: []string{"*"}, KeepRoutes: true}: {"/?a#/b": "/#/b"},
	} {
		for from, want := range cases {
			if got := NewNormalizer(*options).Normalize("https://a.example" + from); got != "https://a.example"+want {
				t.Errorf("%+v: %s becomes %s, want %s", options, from, got, want)
			}
		}
	}
	if (NormalizeOptions{}).Fingerprint() == (NormalizeOptions{KeepRoutes: true}).Fingerprint() {
		t.Error("options with and without routes have one fingerprint")
	}
}
