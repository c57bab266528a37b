package weburl

import (
	"errors"
	"strings"
	"testing"
)

func TestCanonicalize(t *testing.T) {
	for _, group := range []struct {
		rule  string
		cases [][2]string // input, canonical form
	}{
		{"a canonical URL is returned unchanged", [][2]string{
			{"http://example.org/", "http://example.org/"},
			{"https://example.org:8443/a/b.html?x=1&y=%20", "https://example.org:8443/a/b.html?x=1&y=%20"},
			{"https://example.org/%E4%BD%A0", "https://example.org/%E4%BD%A0"},
			{"https://xn--bcher-kva.de/", "https://xn--bcher-kva.de/"},
			{"http://[2001:db8::1]:81/", "http://[2001:db8::1]:81/"},
		}},
		{"scheme and host are lower case", [][2]string{
			{"HTTP://Example.ORG/Path", "http://example.org/Path"},
			{"hTTps://A_B.Example.org/", "https://a_b.example.org/"},
		}},
		{"an empty path is the root", [][2]string{
			{"https://example.org", "https://example.org/"},
			{"https://example.org?q", "https://example.org/?q"},
			{"https://example.org#f", "https://example.org/"},
		}},
		{"the default port is dropped", [][2]string{
			{"http://example.org:80/", "http://example.org/"},
			{"https://example.org:443/", "https://example.org/"},
			{"https://example.org:/", "https://example.org/"},
			{"http://example.org:0080/", "http://example.org/"},
			{"http://example.org:443/", "http://example.org:443/"},
			{"http://example.org:65535/", "http://example.org:65535/"},
			{"http://example.org:0/", "http://example.org:0/"},
			{"http://example.org:08080", "http://example.org:8080/"},
		}},
		{"fragment, user information and empty query are dropped", [][2]string{
			{"https://example.org/a#b?c#d", "https://example.org/a"},
			{"https://example.org/a?#b", "https://example.org/a"},
			{"https://example.org/a?", "https://example.org/a"},
			{"https://example.org/a??", "https://example.org/a??"},
			{"https://user:secret@example.org/a", "https://example.org/a"},
			{"https://user@example.org:8443", "https://example.org:8443/"},
			{"https://a@b@example.org/", "https://example.org/"},
		}},
		{"dot segments are removed, RFC 3986 section 5.2.4", [][2]string{
			{"http://a/b/c/./../../g", "http://a/g"},
			{"http://a/.", "http://a/"},
			{"http://a/..", "http://a/"},
			{"http://a/../../b", "http://a/b"},
			{"http://a/b/..", "http://a/"},
			{"http://a/b/.", "http://a/b/"},
			{"http://a/b//../c", "http://a/b/c"},
			{"http://a/b/%2E%2e/c", "http://a/c"},
			{"http://a/b/.%2e?x", "http://a/?x"},
			{"http://a/.../x", "http://a/.../x"},
			{"http://a//..//..", "http://a/"},
		}},
		{"doubled slashes and parameter order stay", [][2]string{
			{"http://a//b///c?z=1&a=2&z=1", "http://a//b///c?z=1&a=2&z=1"},
		}},
		{"escapes have upper-case digits, RFC 3986 section 6.2.2.1", [][2]string{
			{"http://a/%c3%bc?%c3%bc", "http://a/%C3%BC?%C3%BC"},
			{"http://a/x%2fy", "http://a/x%2Fy"},
		}},
		{"escaped unreserved characters are decoded, RFC 3986 section 6.2.2.2", [][2]string{
			{"http://a/%7Eb%2dc%5F%41?%30%7e", "http://a/~b-c_A?0~"},
			{"http://a/%252e%252e/", "http://a/%252e%252e/"},
		}},
		{"a stray percent sign stays, and decoding never completes an escape", [][2]string{
			{"http://a/100%", "http://a/100%"},
			{"http://a/%zz%41", "http://a/%zzA"},
			{"http://a/%%32e", "http://a/%%32e"},
			{"http://a/%2%65?%%41", "http://a/%2%65?%%41"},
			{"http://a/%%7e", "http://a/%~"},
			{"http://a/100%/%41", "http://a/100%/A"},
		}},
		{"characters are encoded as the URL standard says", [][2]string{
			{"http://a/ü b\"<>`{}^|'?ü \"<>'`{}^|", "http://a/%C3%BC%20b%22%3C%3E%60%7B%7D%5E|'?%C3%BC%20%22%3C%3E%27`{}^|"},
			{"http://a/\x7f?\x7f", "http://a/%7F?%7F"},
			{"http://a/\x01?\x01x", "http://a/%01?%01x"},
			{"http://a/\xff", "http://a/%EF%BF%BD"},
			{"http://a/\uFFFD", "http://a/%EF%BF%BD"},
			{"http://a/!$&'()*+,;=:@[]|~", "http://a/!$&'()*+,;=:@[]|~"},
			{"http://a/😀", "http://a/%F0%9F%98%80"},
		}},
		{"a backslash is a slash in the path only", [][2]string{
			{`http:\\a\b\..\c?d\e`, `http://a/c?d\e`},
		}},
		{"white space around is removed, tabs and line feeds everywhere", [][2]string{
			{" \t\nhttp://a/b \r\n", "http://a/b"},
			{"ht\ntp://a\t/b\r\nc", "http://a/bc"},
			{"http://a/b #c", "http://a/b%20"},
			{"http://a/b\t#c", "http://a/b"},
			{"http://a/b?c #d", "http://a/b?c%20"},
		}},
		{"missing and extra slashes behind the scheme are repaired", [][2]string{
			{"http:a/b", "http://a/b"},
			{"https:/a/b", "https://a/b"},
			{"https:////a/b", "https://a/b"},
		}},
		{"hosts are IDNA, without the trailing dot", [][2]string{
			{"http://Bücher.DE/", "http://xn--bcher-kva.de/"},
			{"http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/"},
			{"http://ex%61mple.org/", "http://example.org/"},
			{"http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"},
			{"http://straße.de/", "http://xn--strae-oqa.de/"},
			{"http://example.org./x", "http://example.org/x"},
			{"http://example.org.:8080/", "http://example.org:8080/"},
			{"http://-a-.b--c.org/", "http://-a-.b--c.org/"},
		}},
		{"IP addresses have one spelling", [][2]string{
			{"http://192.0.2.1/", "http://192.0.2.1/"},
			{"http://192.0.2.1./", "http://192.0.2.1/"},
			{"http://0xC0.0.02.1/", "http://192.0.2.1/"},
			{"http://3221225985/", "http://192.0.2.1/"},
			{"http://127.1/", "http://127.0.0.1/"},
			{"http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"},
			{"http://[::ffff:192.0.2.1]:80/", "http://[::ffff:c000:201]/"},
		}},
	} {
		t.Run(group.rule, func(t *testing.T) {
			for _, c := range group.cases {
				got, err := Canonicalize(c[0])
				if err != nil || got != c[1] {
					t.Errorf("Canonicalize(%q) = %q, %v, want %q", c[0], got, err, c[1])
				}
				if again, err := Canonicalize(c[1]); err != nil || again != c[1] {
					t.Errorf("Canonicalize(%q) = %q, %v, want a fixed point", c[1], again, err)
				}
			}
		})
	}
}

func TestCanonicalizeErrors(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("ab/", 1000)
	for _, c := range []struct {
		input string
		kind  error
		text  string // expected in the message
	}{
		{"", ErrInvalid, "empty"},
		{" \n", ErrInvalid, "empty"},
		{"example.org/x", ErrInvalid, "(did you mean https://example.org/x?)"},
		{"//example.org/x", ErrInvalid, "(did you mean https://example.org/x?)"},
		{"localhost:8080/x", ErrInvalid, "(did you mean https://localhost:8080/x?)"},
		{"example.org:8080", ErrInvalid, "(did you mean https://example.org:8080/?)"},
		{"/x", ErrInvalid, `"/x": no http:// or https:// in front`},
		{"?x", ErrInvalid, "no http:// or https:// in front"},
		{"mailto:a@example.org", ErrScheme, `"mailto:a@example.org"`},
		{"javascript:void(0)", ErrScheme, "javascript"},
		{"java\nscript:void(0)", ErrScheme, "java"},
		{"data:text/html,x", ErrScheme, "data"},
		{"tel:112", ErrScheme, "tel"},
		{"ftp://example.org/", ErrScheme, "not http or https"},
		{"httpx://example.org/", ErrScheme, "httpx"},
		{"http://", ErrInvalid, "host"},
		{"http:///", ErrInvalid, "host"},
		{"http://?x", ErrInvalid, "host"},
		{"http://./", ErrInvalid, "empty label"},
		{"http://1../", ErrInvalid, "empty label"},
		{"http://a b/", ErrInvalid, "forbidden domain code point"},
		{"http://a%2fb/", ErrInvalid, "forbidden"},
		{"http://a:65536/", ErrInvalid, "port"},
		{"http://a:1x/", ErrInvalid, "port"},
		{"http://1.2.3.256/", ErrInvalid, "IPv4"},
		{"http://1.2.3.4.5/", ErrInvalid, "IPv4"},
		{"http://a.1/", ErrInvalid, "IPv4"},
		{"http://[::1/", ErrInvalid, "IPv6"},
		{"http://[::g]/", ErrInvalid, "IPv6"},
		{"http://xn--/", ErrInvalid, ""},
		{"http://≠.de/", ErrInvalid, "ToASCII"}, // accepted at first, but its IDNA form is not
		{"http://user@/", ErrInvalid, "credentials"},
		{long, ErrTooLong, "…"},
		{long + strings.Repeat("ab/", 1000), ErrTooLong, "…"},
		{"https://example.org/" + strings.Repeat("ü", 400), ErrTooLong, "ü…"},
	} {
		got, err := Canonicalize(c.input)
		if got != "" || !errors.Is(err, c.kind) {
			t.Errorf("Canonicalize(%q) = %q, %v, want %v", c.input, got, err, c.kind)
			continue
		}
		if !strings.Contains(err.Error(), c.text) || len(err.Error()) > 400 {
			t.Errorf("Canonicalize(%q): message %q does not show %q, or is too long", c.input, err, c.text)
		}
	}
}

func TestMaxLength(t *testing.T) {
	const prefix = "https://example.org/"
	fits := prefix + strings.Repeat("a", MaxLength-len(prefix))
	if got, err := Canonicalize(fits + "#fragment" + fits + fits); err != nil || got != fits {
		t.Errorf("URL of MaxLength bytes: got %d bytes, %v", len(got), err)
	}
	if _, err := Canonicalize(fits + "a"); !errors.Is(err, ErrTooLong) {
		t.Errorf("URL of MaxLength+1 bytes: %v, want ErrTooLong", err)
	}
	if _, err := Canonicalize(fits + "\\"); !errors.Is(err, ErrTooLong) {
		t.Errorf("URL of MaxLength+1 bytes, slow path: %v, want ErrTooLong", err)
	}
}

func TestSeedsHaveNoCredentials(t *testing.T) {
	t.Parallel()
	for raw, refused := range map[string]bool{
		"https://user:secret@example.org/a": true, "http://user@example.org": true, " http:user@example.org ": true, `http:\\u:p@h?x`: true,
		"https://example.org/@a": false, "https://example.org?mail=a@b.test": false, "https://example.org/#!a@b": false, "https://example.org#a@b": false, "https://example.org/": false,
	} {
		if u, err := CanonicalizeSeed(raw); errors.Is(err, ErrCredentials) != refused || (u == "") != refused {
			t.Errorf("%q: %q, %v", raw, u, err)
		}
	}
}
