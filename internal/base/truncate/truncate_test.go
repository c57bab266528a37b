package truncate

import "testing"

func TestToKeepsCharactersWhole(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aé", 3, "aé"}, {"aé", 2, "a"}, {"é", 1, ""}, {"\xff\x80", 1, ""}, {"\x80\x80", 1, ""}, {"", 0, ""}} {
		if got := To(tt.s, tt.n); got != tt.want {
			t.Errorf("%q at %d: %q, want %q", tt.s, tt.n, got, tt.want)
		}
		if got := To([]byte(tt.s), tt.n); string(got) != tt.want {
			t.Errorf("bytes %q at %d: %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
