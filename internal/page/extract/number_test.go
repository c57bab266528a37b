package extract

import "testing"

// Prices without cents end in a dash, behind what separates the decimals.
func TestNumberBeforeADash(t *testing.T) {
	for text, want := range map[string]string{
		"1.299,-": "1299", "CHF 1'299.-": "1299", "1,299.–": "1299", "5,-": "5", "€ 12.345,-- inkl. MwSt.": "12345", "12,50,-": "12.50",
		"1.299": "1.299", "1.299 - 1.500": "1.299", "1,299 - 1,500": "1299",
	} {
		if got, ok := parseNumber(text, 0, false); !ok || string(got) != want {
			t.Errorf("%q: %q, %v; want %s", text, got, ok, want)
		}
	}
}
