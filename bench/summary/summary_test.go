package summary

import "testing"

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3},
		{[]float64{4, 1, 3, 2}, 2.5}, {[]float64{3, 1, 2}, 2},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestSpreadOfFewRuns(t *testing.T) {
	for want, values := range map[string][]float64{"3": {3}, "2 (1–3)": {3, 1}} {
		if got := Spread("%.0f", values); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}
