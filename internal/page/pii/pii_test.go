package pii

import (
	"strings"
	"testing"
)

// Each text and its result; "" if there is nothing to mask.
var cases = []struct{ text, want string }{
	// E-mail.
	{"joe@example.com", "[email]"},
	{"Write to joe.bloggs+news@mail.example.co.uk.", "Write to [email]."},
	{"<a href=\"mailto:joe@example.com?subject=x\">", "<a href=\"mailto:[email]?subject=x\">"},
	{"(joe@example.com), <ann@example.org>; 'bob@example.net'", "([email]), <[email]>; '[email]'"},
	{"o'neill@example.ie", "[email]"},
	{"JOE@EXAMPLE.COM", "[email]"},
	{"jürgen@müller.example", "[email]"},
	{"почта@пример.рф", "[email]"},
	{"a@xn--mller-kva.xn--p1ai", "[email]"},
	{"a1@b2.de b3@c4.fr", "[email] [email]"},
	{"12345678901@example.com", "[email]"},
	{"email=joe@example.com&x=1", "email=[email]&x=1"},
	{"joe@example.com@example.org", "[email]@example.org"},
	{"@joe on Mastodon", ""},
	{"joe@localhost", ""},
	{"logo@2x.png", ""},
	{"icon@3x.webp and bootstrap@5.3.2", ""},
	{"3 @ 4.50 EUR", ""},
	{"joe@ example.com", ""},
	{"joe.@example.com", ""},
	{"joe@.example.com, a@b..com, a@b.c", ""},
	{"@media (min-width: 30em)", ""},
	// Phone numbers, international.
	{"+49 30 1234567", "[phone]"},
	{"Call +1 (212) 555-0123 now", "Call [phone] now"},
	{"+12125550123", "[phone]"},
	{"+44 (0)20 7946 0958", "[phone]"},
	{"+33 1 23 45 67 89.", "[phone]."},
	{"(+49) 171/1234567", "[phone]"},
	{"tel:+4915112345678", "tel:[phone]"},
	{"+81-3-1234-5678", "[phone]"},
	{"+49\u00a030\u00a01234567", "[phone]"},
	{"+7 (495) 123-45-67, +7 812 123 45 67", "[phone], [phone]"},
	{"0049 30 1234567", "[phone]"},
	// National.
	{"030/1234567", "[phone]"},
	{"030 1234567", "[phone]"},
	{"(030) 123 45 67", "[phone]"},
	{"0171-1234567", "[phone]"},
	{"01 23 45 67 89", "[phone]"},
	{"01.23.45.67.89", "[phone]"},
	{"020 7946 0958", "[phone]"},
	{"03-1234-5678", "[phone]"},
	{"(212) 555-0123", "[phone]"},
	{"212-555-0123", "[phone]"},
	{"212.555.0123", "[phone]"},
	{"1-800-555-0199", "[phone]"},
	{"1 (800) 555-0199", "[phone]"},
	{"Call 1(800)555-0199, 1-(800)-555-0199", "Call [phone], [phone]"},
	{"8 (495) 123-45-67", "[phone]"},
	{"8(4852)12-34-56; 8 (017) 123-45-67", "[phone]; [phone]"},
	{"8 800 555-35-35 or 8-495-123-45-67", "[phone] or [phone]"},
	{"0 (532) 123 45 67", "[phone]"},
	{"Tel.: 5550123", "Tel.: [phone]"},
	{"Telefon 1234567", "Telefon [phone]"},
	{"phone number: 555 0123", "phone number: [phone]"},
	{"Fax 030-12345", "Fax [phone]"},
	{"call us at 5550123", "call us at [phone]"},
	{"Тел. 123-45-67", "Тел. [phone]"},
	{"電話 03-1234-5678", "電話 [phone]"},
	{"030/1234567 or joe@example.com", "[phone] or [email]"},
	// No phone numbers.
	{"20.11.2026 and 2026-11-20, 11/20/2026", ""},
	{"01.02.2024 - 03.04.2025", ""},
	{"2026-11-20 12:30:45", ""},
	{"2026-11-20T12:30:45+01:00", ""},
	{"1,234,567.89 USD, 1.234.567,89 EUR", ""},
	{"+1.000.000 visitors, +1 000 000", ""},
	{"$ 0.99, €0,99, $0123 456 789", ""},
	{"ISBN 978-3-16-148410-0", ""},
	{"ISBN 0-306-40615-2, 0306406152", ""},
	{"ISBN: 030 6406152", ""},
	{"Order no. 0123 456 789", ""},
	{"Bestellnummer: 030 1234567", ""},
	{"id 0049 30 1234567", ""},
	{"0123456789", ""},
	{"1234567890123456", ""},
	{"go1.26.0, v1.2.3, 10.0.19041.1", ""},
	{"1 2 3 4 5 6 7 8 9 10 11 12", ""},
	{"pages 123-456, 1990-2024", ""},
	{"0x7fff5fbff8c0, 3.14159265358979", ""},
	{"550e8400-e29b-41d4-a716-446655440000", ""},
	{"/2026/11/20/0171-1234567.html", ""},
	{"#030 1234567", ""},
	{"2 + 2 = 4, C++ 11, +5 %", ""},
	{"12345 030 1234567", ""},
	{"48.8584 2.2945, +48.858370 -2.294481", ""},
	{"Nature 8 (1998) 123-134, 1 (2004) 155-0199", ""},
	{"8 (12) 34, 1 (100) 200-3000, 8 495 123 456", ""},
	// Addresses.
	{"from 192.0.2.17", "from [ip]"},
	{"http://192.0.2.17:8080/x, 198.51.100.0/24", "http://[ip]:8080/x, [ip]/24"},
	{"[192.0.2.17]", "[[ip]]"},
	{"Listen on 10.0.0.12.", "Listen on [ip]."},
	{"2001:db8::17", "[ip]"},
	{"[2001:db8:0:0:1:2:3:4]:443", "[[ip]]:443"},
	{"fe80::1ff:fe23:4567:890a.", "[ip]."},
	{"::ffff:192.0.2.17", "[ip]"},
	{"127.0.0.1, ::1, 0.0.0.0, 255.255.255.0", ""},
	{"version 1.20.3.4, v1.20.3.4, Chrome/120.0.0.0", ""},
	{"256.1.1.1, 1.2.3, 1.22.3.4.5", ""},
	{"8.5.1.1. Dates", ""},
	{"§ 12.3.4.5", ""},
	{"std::string, a::b, Bad::Face, A1::B2", ""},
	{"12:30:45, 1:2, 00:1a:2b:3c:4d:5e", ""},
	// Accounts.
	{"DE89370400440532013000", "[iban]"},
	{"IBAN: DE89 3704 0044 0532 0130 00, BIC", "IBAN: [iban], BIC"},
	{"GB82 WEST 1234 5698 7654 32", "[iban]"},
	{"FR14 2004 1010 0505 0001 3M02 606", "[iban]"},
	{"NO93 8601 1117 947", "[iban]"},
	{"de89370400440532013000, gb82 west 1234 5698 7654 32", "[iban], [iban]"},
	{"de89370400440532013001", ""},
	{"DE89-3704-0044-0532-0130-00", "[iban]"},
	{"NL91\u00a0ABNA\u00a00417\u00a01643\u00a000", "[iban]"},
	{"DE88370400440532013000", ""}, // wrong checksum
	{"DE89 3704 0044", ""},
	{"XX89370400440532013000", ""},
	{"ADE89370400440532013000", ""},
	{"DE893704004405320130001", ""},
	// Cards.
	{"4111111111111111", "[card]"},
	{"4111 1111 1111 1111 12/27", "[card] 12/27"},
	{"5555-5555-5555-4444", "[card]"},
	{"3782 822463 10005", "[card]"},
	{"378282246310005", "[card]"},
	{"30569309025904", "[card]"},
	{"6011 1111 1111 1117", "[card]"},
	{"2223003122003222, 3530111333300000", "[card], [card]"},
	{"4111111111111112", ""}, // wrong checksum
	{"9999999999999995", ""}, // of no issuer
	{"0000 0000 0000 0000", ""},
	{"4111 1111-1111 1111", ""},
	{"4111 1111 1111 1111 1111", ""},
	{"1234.4111111111111111", ""},
	{"x4111111111111111", ""},
	{"1700000000000 ms, 20261120123045", ""},
	// Nothing at all.
	{"", ""},
	{"030 1234567 - 030 7654321 / 0049 30 7654321", "[phone] - [phone] / [phone]"},
	{"It is 030 1234567. 5 people came.", "It is [phone]. 5 people came."},
	{" 03\xff\x80 03-33- 3- 03-33- 03 03-3-)05-33", " 03\xff\x80 [phone]- [phone]"},
	{"plain text", ""},
	{"[email] [phone] [ip]", ""},
	{"\xff\xfe@\xff", ""},
}

func TestText(t *testing.T) {
	m := New(Kinds())
	for _, c := range cases {
		want := c.want
		if want == "" {
			want = c.text
		}
		got := m.Text(c.text)
		if got != want {
			t.Errorf("%q: %q, want %q", c.text, got, want)
		}
		if again := m.Text(got); again != got {
			t.Errorf("%q: masked again %q", got, again)
		}
	}
}

// Only the requested kinds are masked.
func TestKinds(t *testing.T) {
	const text = "joe@example.com, +49 30 1234567, 192.0.2.17, DE89370400440532013000, 4111111111111111"
	for _, k := range Kinds() {
		got := New([]Kind{k}).Text(text)
		if strings.Count(got, "[") != 1 || !strings.Contains(got, "["+string(k)+"]") {
			t.Errorf("%s: %q", k, got)
		}
	}
	if got := New(nil).Text(text); got != text {
		t.Errorf("no kinds: %q", got)
	}
}

// A text without anything to mask is not copied.
func TestNothingFoundCostsNothing(t *testing.T) {
	m := New(Kinds())
	text := strings.Repeat("On 20 November 2026, 1,234 people came: it was 12:30. ", 50)
	if n := testing.AllocsPerRun(20, func() { m.Text(text) }); n > 0 {
		t.Errorf("%v allocations for %d bytes", n, len(text))
	}
}

// A text of twice the length takes about twice the work, whatever its content.
func FuzzText(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text)
	}
	all := New(Kinds())
	f.Fuzz(func(t *testing.T, s string) {
		got := all.Text(s)
		if again := all.Text(got); again != got {
			t.Errorf("%q becomes %q, and then %q", s, got, again)
		}
		if strings.ContainsAny(s, "@0123456789") || got == s {
			return
		}
		t.Errorf("%q: masked %q", s, got)
	})
}

func BenchmarkText(b *testing.B) {
	m := New(Kinds())
	for name, text := range map[string]string{
		"Prose":   "The crawler reads a page once, takes its links and its text, and sends both on to whoever wants them; 3 of 4 do. ",
		"Numbers": "2026-11-20 12:30:45 1234.56 78.90 item 4711-0815 +5 % 20.11.2026; ",
		"Found":   "joe@example.com, +49 30 1234567, 192.0.2.17, DE89370400440532013000, 4111111111111111; ",
		"Digits":  "0",
		"Groups":  "0 ",
		"At":      "a@",
		"Colons":  "1:",
		"Plus":    "+1 2 3 4 ",
		"Letters": "a",
	} {
		b.Run(name, func(b *testing.B) {
			s := strings.Repeat(text, 100_000/len(text))
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				m.Text(s)
			}
		})
	}
}
