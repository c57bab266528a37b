package robots

import "testing"

// verdict is a path and the line that must decide it; "" when none does.
type verdict struct{ path, line string }

func wantVerdicts(t *testing.T, g *Group, verdicts ...verdict) {
	t.Helper()
	for _, v := range verdicts {
		if got := g.Rule(v.path); got != v.line {
			t.Errorf("Rule(%q) = %q, want %q", v.path, got, v.line)
		}
		wantAllowed := len(v.line) < 8 || v.line[:8] != "Disallow"
		if got := g.Allowed(v.path); got != wantAllowed {
			t.Errorf("Allowed(%q) = %v, want %v", v.path, got, wantAllowed)
		}
	}
}

// RFC 9309 section 5.1, "Simple Example".
const simpleExample = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`

func TestSection5_1(t *testing.T) {
	f := Parse([]byte(simpleExample))
	t.Run("other agents", func(t *testing.T) {
		wantVerdicts(t, f.Group("seine"),
			verdict{"/", ""},
			verdict{"/image.gif", "Disallow: *.gif$"},
			verdict{"/image.gif?size=1", ""},
			verdict{"/example/", "Disallow: /example/"},
			verdict{"/example", ""},
			verdict{"/publications/", "Allow: /publications/"},
			verdict{"/publications/image.gif", "Allow: /publications/"},
		)
	})
	t.Run("foobot", func(t *testing.T) {
		wantVerdicts(t, f.Group("foobot"),
			verdict{"/", "Disallow: /"},
			verdict{"/publications/", "Disallow: /"},
			verdict{"/example/page.html", "Allow: /example/page.html"},
			verdict{"/example/allowed.gif", "Allow: /example/allowed.gif"},
			verdict{"/example/other.gif", "Disallow: /"},
		)
	})
	for _, agent := range []string{"barbot", "bazbot"} {
		t.Run(agent, func(t *testing.T) {
			wantVerdicts(t, f.Group(agent),
				verdict{"/example/page.html", "Disallow: /example/page.html"},
				verdict{"/example/", ""},
				verdict{"/image.gif", ""},
			)
		})
	}
	t.Run("quxbot", func(t *testing.T) {
		wantVerdicts(t, f.Group("quxbot"), verdict{"/", ""}, verdict{"/example/image.gif", ""})
	})
}

// RFC 9309 section 5.2, "Longest Match".
func TestSection5_2(t *testing.T) {
	g := Parse([]byte(`User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
`)).Group("foobot")
	wantVerdicts(t, g,
		verdict{"/example/page/", "Allow: /example/page/"},
		verdict{"/example/page/allowed.gif", "Allow: /example/page/"},
		verdict{"/example/page/disallowed.gif", "Disallow: /example/page/disallowed.gif"},
	)
}

// RFC 9309 section 2.2.1: groups for one product token combine.
func TestSection2_2_1Merging(t *testing.T) {
	g := Parse([]byte(`user-agent: ExampleBot
disallow: /foo
disallow: /bar

user-agent: OtherBot
disallow: /

user-agent: examplebot
disallow: /baz
`)).Group("ExampleBot")
	wantVerdicts(t, g,
		verdict{"/foo", "Disallow: /foo"},
		verdict{"/bar", "Disallow: /bar"},
		verdict{"/baz", "Disallow: /baz"},
		verdict{"/qux", ""},
	)
}

// RFC 9309 section 2.2.1: product tokens compare whole, without case.
func TestSection2_2_1ProductToken(t *testing.T) {
	tests := []struct {
		line, product string
		match         bool
	}{
		{"ExampleBot", "ExampleBot", true},
		{"EXAMPLEBOT", "examplebot", true},
		{"ExampleBot/2.1", "examplebot", true},
		{"ExampleBot images", "examplebot", true},
		{"ExampleBot", "ExampleBot/0.1 (+https://example.org/bot)", true},
		{"Example_Bot-News", "example_bot-news", true},
		{"g", "googlebot", false},
		{"googlebot", "g", false},
		{"Googlebot", "Googlebot-News", false},
		{"Googlebot-News", "Googlebot", false},
		{"Mozilla/5.0 (compatible; ExampleBot)", "examplebot", false},
		{"360Spider", "spider", false},
		{"", "examplebot", false},
		{"*bot", "examplebot", false},
		{"*", "examplebot", true},
		{"* # everyone", "examplebot", true},
		{"* everyone", "examplebot", true},
	}
	for _, tt := range tests {
		g := Parse([]byte("User-agent: " + tt.line + "\nDisallow: /x")).Group(tt.product)
		if got := !g.Allowed("/x"); got != tt.match {
			t.Errorf("User-agent: %s names %q: %v, want %v", tt.line, tt.product, got, tt.match)
		}
	}
}

// RFC 9309 section 2.2.1: a crawler with a group of its own ignores "*".
func TestSection2_2_1OwnGroupReplacesStar(t *testing.T) {
	f := Parse([]byte("User-agent: *\nDisallow: /\n\nUser-agent: seine\nDisallow:\n"))
	wantVerdicts(t, f.Group("seine"), verdict{"/x", ""})
	wantVerdicts(t, f.Group("other"), verdict{"/x", "Disallow: /"})
}

// RFC 9309 section 2.2.2: the table of paths and what they match.
func TestSection2_2_2Encoding(t *testing.T) {
	tests := []struct {
		pattern, path string
		match         bool
	}{
		{"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
		{"/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", true},
		{"/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true},
		{"/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http://foo.bar", true},
		{"/foo/bar?baz=http%3a%2f%2ffoo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true},
		{"/foo/bar/ツ", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%E3%83%84", "/foo/bar/ツ", true},
		{"/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
		{"/foo/bar/baz", "/foo/bar/%62%61%7A", true},

		{"/%7Ejoe", "/~joe", true},
		{"/~joe", "/%7ejoe", true},
		{"/a%2fb", "/a%2Fb", true},
		{"/a%2fb", "/a/b", false},
		{"/a/b", "/a%2Fb", false},
		{"/a%3Fb", "/a?b", false},
		{"/a?b=%26", "/a?b=&", false},
		{"/a b", "/a%20b", true},
		{"/100%", "/100%25", true},
		{"/%zz", "/%25zz", true},
		{"/\xe9", "/%E9", true},
		{"/*=http%3A", "/r?u=http%3A%2F%2Fx", true},
		{"/*http://", "/r?u=http%3A%2F%2Fx", true},
		{"/*?f[x]", "/p?f%5Bx%5D=1", true},
	}
	for _, tt := range tests {
		if got := !disallowing(tt.pattern).Allowed(tt.path); got != tt.match {
			t.Errorf("%q matches %q: %v, want %v", tt.pattern, tt.path, got, tt.match)
		}
	}
}

// RFC 9309 section 2.2.2: the most octets win, Allow wins between equals, no
// match allows. The Allow line is tried before and after the Disallow line.
func TestSection2_2_2Precedence(t *testing.T) {
	tests := []struct {
		allow, disallow, path string
		allowed               bool
	}{
		{"/p", "/", "/page", true},
		{"/folder", "/folder", "/folder/page", true},
		{"/page", "/*.htm", "/page.htm", false},
		{"/page", "/*.ph", "/page.php", true},
		{"/$", "/", "/", true},
		{"/$", "/", "/page.htm", false},
		{"/a", "/a*", "/ab", false},
		{"/x", "/y", "/z", true},
		{"", "/a", "/a", false},
		{"/a", "", "/a", true},
		{"", "", "/a", true},
		{"/a?u=%2F", "/a?u=/", "/a?u=/", true},
		{"/\xe3\x83\x84", "/%E3%83%84", "/ツ", true},
	}
	for _, tt := range tests {
		for _, text := range []string{
			"User-agent: *\nAllow: " + tt.allow + "\nDisallow: " + tt.disallow,
			"User-agent: *\nDisallow: " + tt.disallow + "\nAllow: " + tt.allow,
		} {
			if got := Parse([]byte(text)).Group("seine").Allowed(tt.path); got != tt.allowed {
				t.Errorf("%q: Allowed(%q) = %v, want %v", text, tt.path, got, tt.allowed)
			}
		}
	}
}

// RFC 9309 section 2.2.2: the path of robots.txt itself is implicitly allowed.
func TestSection2_2_2RobotsTxt(t *testing.T) {
	wantVerdicts(t, DisallowAll().Group("seine"),
		verdict{"/robots.txt", ""},
		verdict{"/robots%2Etxt", ""},
		verdict{"/robots.txt2", "Disallow: /"},
		verdict{"/a/robots.txt", "Disallow: /"},
		verdict{"/", "Disallow: /"},
		verdict{"", "Disallow: /"},
		verdict{"?q", "Disallow: /"},
	)
	wantVerdicts(t, AllowAll().Group("seine"), verdict{"/", ""}, verdict{"/x", ""})
}

// RFC 9309 section 2.2.3: special characters.
func TestSection2_2_3(t *testing.T) {
	tests := []struct {
		pattern, path string
		match         bool
	}{
		{"/this/path/exactly$", "/this/path/exactly", true},
		{"/this/path/exactly$", "/this/path/exactly/not", false},
		{"/this/*/exactly", "/this/path/exactly", true},
		{"/this/*/exactly", "/this//exactly", true},
		{"/this/*/exactly", "/this/exactly", false},
		{"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
		{"/path/file-with-a-%2A.html", "/path/file-with-a-b.html", false},
		{"/path/file-with-a-*.html", "/path/file-with-a-*.html", true},
		{"/path/foo-%24", "/path/foo-$", true},
		{"/path/foo-%24", "/path/foo-", false},
		{"/path/foo-$", "/path/foo-", true},
		{"/path/foo-$", "/path/foo-$", false},
		{"/a$b", "/a$b", true},
		{"/a$$", "/a$", true},
		{"/a%23b", "/a%23b", true},
		{"/a#b", "/a", true},
		{"*", "/anything", true},
		{"*$", "/anything", true},
		{"/*/", "/a", false},
		{"/**/b", "/a/b", true},
		{"/a*b$", "/a-b-b", true},
		{"/a*b$", "/a-b-c", false},
		{"/a*a$", "/a", false},
		{"/*a*a*a*b", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
		{"private", "/private", false},
		{"https://example.org/x", "/x", false},
		{"$", "/", false},
	}
	for _, tt := range tests {
		if got := !disallowing(tt.pattern).Allowed(tt.path); got != tt.match {
			t.Errorf("%q matches %q: %v, want %v", tt.pattern, tt.path, got, tt.match)
		}
	}
}

// RFC 9309 section 2.2.4: other records do not end a group.
func TestSection2_2_4(t *testing.T) {
	f := Parse([]byte(`User-agent: a
Sitemap: https://example.org/one.xml
User-agent: b
Crawl-delay: 5
Host: example.org
User-agent: c
Disallow: /x
Sitemap: https://example.org/two.xml
Disallow: /y
`))
	for _, agent := range []string{"a", "b", "c"} {
		wantVerdicts(t, f.Group(agent), verdict{"/x", "Disallow: /x"}, verdict{"/y", "Disallow: /y"})
	}
	wantStrings(t, f.Sitemaps(), "https://example.org/one.xml", "https://example.org/two.xml")
}

func disallowing(pattern string) *Group {
	return Parse([]byte("User-agent: *\nDisallow: " + pattern)).Group("seine")
}

func wantStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
