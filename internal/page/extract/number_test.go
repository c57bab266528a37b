package extract

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"seine/internal/page/document"
)

func TestNumbersOfTexts(t *testing.T) {
	for _, c := range []struct {
		texts   string // with "|" between them
		want    string // "" if they are not numbers
		integer string // the same with as: integer
	}{
		// Prices without cents end in a dash after the decimal separator.
		{"1.299,-|CHF 1'299.-|1,299.–|1,299 - 1,500", "1299", "1299"},
		{"5,-", "5", "5"},
		{"€ 12.345,-- inkl. MwSt.", "12345", "12345"},
		{"12,50,-", "12.50", ""},

		{"12€50|12 € 50|12€50 le kilo|€12.50|12.50 €|12,50 €|EUR 12.50|2 x 12.50|2 × 12,50|2 x 12.50 €|2x12.50|3 for $12.50|5 pieces, 12.50 € each|12.50 – 20.00 €|12.50€-20€|$12.50 $9.99", "12.50", ""},
		{"1.299€50|1299€50|1,299.50 €|from 1,299.50|1 299,50 €", "1299.50", ""},
		{"10–20 €|10-20|10 € – 20 €|$10-$20|10 to 20 €|£10 £15|10 € 20 min", "10", "10"},
		{"2 for 5 €|3 for $5|3 for 5€|2 x 5 €|2 × €5", "5", "5"},
		{"from 1,299.00|ab 1.299,00 €|1,299.00", "1299.00", "1299"},

		{"(1,234.50)|($1,234.50)|$(1,234.50)|(1,234.50) €|(1.234,50 €)|-1,234.50|−1,234.50|1,234.50-|-$1,234.50", "-1234.50", ""},
		{"(7)|( 7 )|(7 reviews)", "7", "7"},
		{"(1,234)", "1234", "1234"},
		{"(0.00)", "0.00", "0"},

		{"١٢٫٥٠|۱۲٫۵۰|१२.५०|１２．５０|๑๒.๕๐ ฿|𝟏𝟐.𝟓𝟎", "12.50", ""},
		{"١٬٢٣٤٫٥٠|１，２３４．５０", "1234.50", ""},
		{"١٢٫٥٠٠", "12.500", ""},

		{"1.0e2", "1.0e2", "100"},
		{"3.0E5", "3.0E5", "300000"},
		{"1.5e-3", "1.5e-3", ""},
		{"0x10|0b11|0o17|12:30|16:9|1_000|1½|1 ½|3h20|1920x1080|30 x 40 cm|about 3e5|1e400|no|", "", ""},
		{"1'234.50|1’234.50 CHF|CHF 1`234.50|1´234,50|USD 1.234,50|1\u00a0234,50 €|1\u202f234,50|\u200e1,234.50|R$ 1.234,50", "1234.50", ""},
		{"1.234 €|€ 1.234|1.234 ₺|1.234,- €", "1234", "1234"},
		{"$1.234|1.234", "1.234", "1234"},
		{"iPhone 12 $999|Model 12 €999|Nr. 5: 999 €", "999", "999"},
		{"1.5k|12K views|2M|£3M|1.5 million|1,2 Mio. €|3 thousand|3万円|¥1.5万|5 тыс. руб.|2 млн|10 lakh|3 tys. zł|2 Mrd.", "", ""},
		{"12kg|50m2|12 items|RTX4090: 12|12e", "", ""},
	} {
		for text := range strings.SplitSeq(c.texts, "|") {
			want, integer := c.want, c.integer
			switch text {
			case "50m2":
				want, integer = "50", "50"
			case "12kg", "12 items", "RTX4090: 12", "12e":
				want, integer = "12", "12"
			}
			if got, ok := parseNumber(text, 0, false); string(got) != want || ok != (want != "") {
				t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
			}
			if got, ok := parseNumber(text, 0, true); ok && string(got) != integer || ok != (integer != "") {
				t.Errorf("%q as an integer: %q, %v; want %q", text, got, ok, integer)
			}
		}
	}
}

// Every script with decimal digits writes numbers with them.
func TestDigitsOfAllScripts(t *testing.T) {
	for _, zero := range []rune{0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1040, 0xff10, 0x1d7ce, 0x1d7f6} {
		text := string([]rune{zero + 1, zero, '.', zero + 9, zero + 5})
		if got, ok := parseNumber(text, 0, false); !ok || got != "10.95" {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
	}
}

// A JSON number is not parsed as human text: neither a decimal separator nor thousands are guessed.
func TestTypedNumbersAreNotReadAsText(t *testing.T) {
	for _, c := range []struct {
		in              any
		number, integer string
	}{
		{json.Number("10.000"), "10.000", "10"},
		{json.Number("1.234"), "1.234", ""},
		{json.Number("4.667"), "4.667", ""},
		{json.Number("1.0e2"), "1.0e2", "100"},
		{json.Number("3.0e5"), "3.0e5", "300000"},
		{json.Number("12.5"), "12.5", ""},
		{json.Number("1250e-2"), "1250e-2", ""},
		{json.Number("1200e-2"), "1200e-2", "12"},
		{json.Number("0.0012e4"), "0.0012e4", "12"},
		{json.Number("-0.0"), "-0.0", "0"},
		{json.Number("-7"), "-7", "-7"},
		{json.Number("0e999999999"), "0e999999999", "0"},
		{json.Number("1e-999999999"), "1e-999999999", ""},
		{json.Number("1e999999999"), "", ""},
		{json.Number("12345678901234567890"), "12345678901234567890", "12345678901234567890"},
		{1.5, "1.5", ""}, {2.0, "2", "2"}, {1e21, "1e+21", "1000000000000000000000"}, {7, "7", "7"}, {big.NewInt(8), "8", "8"},
		{true, "", ""}, {map[string]any{"a": json.Number("1")}, "", ""},
	} {
		for _, decimal := range []byte{0, '.', ','} {
			if got, ok := numberOf(c.in, decimal, false); string(got) != c.number || ok != (c.number != "") {
				t.Errorf("%v with decimal %q: %q, %v; want %q", c.in, decimal, got, ok, c.number)
			}
			if got, ok := numberOf(c.in, decimal, true); ok && string(got) != c.integer || ok != (c.integer != "") {
				t.Errorf("%v as an integer with decimal %q: %q, %v; want %q", c.in, decimal, got, ok, c.integer)
			}
		}
	}
}

// Raised digits are cents, not further digits of the number.
func TestNumbersWithRaisedDigits(t *testing.T) {
	rules := golden{spec: "records:\n  - {kind: n, each: li, fields: {a: {from: text, as: number}, b: {xpath: ., as: number}, c: {css: b, get: text, as: number}}}\n"}
	for _, c := range []struct{ html, want string }{
		{"$12<sup>99</sup>", "12.99"},
		{"$12 <sup>99</sup>", "12.99"},
		{"$12<small>99</small>", "12.99"},
		{"<span>12</span><sup><i>99</i></sup> €", "12.99"},
		{"12,<sup>99</sup> €", "12.99"},
		{"$1,299<sup>99</sup>", "1299.99"},
		{"1.299<sup>99</sup> €", "1299.99"},
		{"12<sup>€99</sup>", "12.99"},
		{"$100<sup>1</sup>", "100"},
		{"100<sup>123</sup>", "100"},
		{"12.99<sup>1</sup>", "12.99"},
	} {
		r, err := rules.rules(t)
		if err != nil {
			t.Fatal(err)
		}
		doc := document.New(document.Source{
			URL: "https://x.example/", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<ul><li><b>" + c.html + "</b></ul>"),
		})
		result, _ := r.Apply(t.Context(), doc)
		if len(result.Records) != 1 {
			t.Fatalf("%s: %d records", c.html, len(result.Records))
		}
		want := `{"a":` + c.want + `,"b":` + c.want + `,"c":` + c.want + `}`
		if got := string(result.Records[0].Fields(nil)); got != want {
			t.Errorf("%s: %s, want %s", c.html, got, want)
		}
	}
}
