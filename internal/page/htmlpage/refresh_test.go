package htmlpage

import "testing"

func TestRefresh(t *testing.T) {
	const none = "none"
	tests := []struct{ content, want string }{
		{"5", ""},
		{" 5 ", ""},
		{"5;", ""},
		{"", none},
		{"x", none},
		{"-1;url=a", none},
		{"5x;url=a", none},
		{"5;url=a", "a"},
		{"5,url=a", "a"},
		{"5 url=a", "a"},
		{"0.5;url=a", "a"},
		{".5;url=a", "a"},
		{"5 ; URL = a b", "a b"},
		{"5;url='a'b", "a"},
		{`5;url="a;b"`, "a;b"},
		{`5;url="a'`, "a'"},
		{"5;a", "a"},
		{"5;'a'", "a"},
		{"5; url", "url"},
		{"5; urls/a", "urls/a"},
		{"5; ur=a", "ur=a"},
		{"5;;a", ";a"},
	}
	for _, tt := range tests {
		got := none
		if ref, ok := refreshURL([]byte(tt.content)); ok {
			got = string(ref)
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.content, got, tt.want)
		}
	}
}
