package weburl

import "testing"

func TestViews(t *testing.T) {
	for _, c := range []struct{ url, origin, host, hostname, path string }{
		{"https://example.org/", "https://example.org", "example.org", "example.org", "/"},
		{"http://a/", "http://a", "a", "a", "/"},
		{"https://a/", "https://a", "a", "a", "/"},
		{"http://a/b//c?d=/e://f", "http://a", "a", "a", "/b//c?d=/e://f"},
		{"https://example.org:8443/x?y", "https://example.org:8443", "example.org:8443", "example.org", "/x?y"},
		{"http://192.0.2.1:81/", "http://192.0.2.1:81", "192.0.2.1:81", "192.0.2.1", "/"},
		{"http://[2001:db8::1]/x", "http://[2001:db8::1]", "[2001:db8::1]", "2001:db8::1", "/x"},
		{"http://[::1]:8080/", "http://[::1]:8080", "[::1]:8080", "::1", "/"},
	} {
		if canonical, err := Canonicalize(c.url); err != nil || canonical != c.url {
			t.Errorf("%s is not canonical", c.url)
		}
		for name, pair := range map[string][2]string{
			"Origin":   {Origin(c.url), c.origin},
			"Host":     {Host(c.url), c.host},
			"Hostname": {Hostname(c.url), c.hostname},
			"Path":     {Path(c.url), c.path},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s(%s) = %q, want %q", name, c.url, pair[0], pair[1])
			}
		}
	}
}

func TestViewsDoNotPanic(t *testing.T) {
	for _, u := range []string{"", "/", "http:", "http://", "https://", "https://]", "http://a", "no url at all"} {
		_, _, _, _ = Origin(u), Host(u), Hostname(u), Path(u)
	}
}

func TestViewsDoNotAllocate(t *testing.T) {
	u := "https://[2001:db8::1]:8443/x?y"
	allocs := testing.AllocsPerRun(100, func() {
		_, _, _, _ = Origin(u), Host(u), Hostname(u), Path(u)
	})
	if allocs != 0 {
		t.Errorf("views allocate %v times, want 0", allocs)
	}
}
