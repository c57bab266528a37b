package humanize

import "testing"

func TestFigures(t *testing.T) {
	for _, tt := range [][2]string{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1234567), "-1,234,567"}, {Count(-123), "-123"},
		{Size(0), "0 B"}, {Size(999), "999 B"}, {Size(1000), "1 kB"}, {Size(999_499), "999 kB"}, {Size(999_500), "1 MB"}, {Size(15e17), "1.5e+03 PB"},
		{Plural(1, "page"), "1 page"}, {Plural(0, "page"), "0 pages"}, {Plural(uint64(2000), "page"), "2,000 pages"},
		{ByCount(map[string]int64{"b": 2, "a": 2, "c": 1000}), "1,000 c, 2 a, 2 b"}, {ByCount(map[string]int64{}), ""},
	} {
		if tt[0] != tt[1] {
			t.Errorf("%q, want %q", tt[0], tt[1])
		}
	}
}
