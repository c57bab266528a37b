package ascii

import "testing"

func TestCaseOfASCIIAlone(t *testing.T) {
	for _, tt := range []struct {
		b, lower   string
		is, prefix bool
	}{
		{"UTF-8", "utf-8", true, true},
		{"UTF-8 ", "utf-8", false, true},
		{"utf", "utf-8", false, false},
		{"", "", true, true},
		{"x", "", false, true},
		{"@[`{", "@[`{", true, true},
		{"`", "@", false, false},
		{"\u212a", "k", false, false}, // the Kelvin sign, which Unicode folds to k
		{"É", "é", false, false},
	} {
		if is, prefix := Is([]byte(tt.b), tt.lower), HasPrefix([]byte(tt.b), tt.lower); is != tt.is || prefix != tt.prefix {
			t.Errorf("%q and %q: %t, %t", tt.b, tt.lower, is, prefix)
		}
	}
}
