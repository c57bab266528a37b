// Package summary tells what several rounds of a benchmark have shown.
package summary

import (
	"fmt"
	"slices"
)

// Median is the mean of the two in the middle for an even number of values, and 0 for none.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Spread writes the median of one value or more, and with it the least and the most, if there are several.
func Spread(format string, values []float64) string {
	text := fmt.Sprintf(format, Median(values))
	if len(values) == 1 {
		return text
	}
	return text + fmt.Sprintf(" ("+format+"–"+format+")", slices.Min(values), slices.Max(values))
}
