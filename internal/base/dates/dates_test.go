package dates

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const second, minute, hour = 5, 4, 3
	at := func(h, m, s int) time.Time { return time.Date(2026, 1, 2, h, m, s, 0, time.UTC) }
	for text, want := range map[string]time.Time{
		"2026-01-02T03:04:05Z": at(hour, minute, second), "2026-01-02t03:04:05z": at(hour, minute, second),
		"2026-01-02T04:04:05+01:00": at(hour, minute, second), "2026-01-02T04:04:05+0100": at(hour, minute, second),
		"2026-01-02 04:04:05+01": at(hour, minute, second), "2026-01-02 10:00:00+00": at(10, 0, 0), "2026-01-02 10:00:00.000+00": at(10, 0, 0),
		"2026-01-02T03:04Z": at(hour, minute, 0), "2026-01-02 03:04:05 -0000": at(hour, minute, second),
		"20260102T030405Z": at(hour, minute, second), "20260102T030405": at(hour, minute, second), "20260102": at(0, 0, 0),
		"2026-01-02": at(0, 0, 0), "2026/1/2": at(0, 0, 0), "2.1.2026": at(0, 0, 0), "02.01.2026 03:04": at(hour, minute, 0),
		"Jan 2, 2026, 10:00:00 AM": at(10, 0, 0), "Jan 2 2026 15:04 UTC": at(15, 4, 0), "January 2nd, 2026 at 3:04 p.m.": at(15, 4, 0),
		"Jan 2, 2026 3pm": at(15, 0, 0), "Jan 2, 2026 12 AM": at(0, 0, 0), "Jan 2, 2026 12:30 PM": at(12, 30, 0), "Jan 2, 2026 8 p.m. EST": at(1, 0, 0).AddDate(0, 0, 1),
		"Fri, 02 Jan 2026 03:04:05 GMT": at(hour, minute, second), "Friday, 02-Jan-26 03:04:05 GMT": at(hour, minute, second),
		"Fri Jan  2 03:04:05 2026": at(hour, minute, second), "Fri Jan 2 03:04:05 UTC 2026": at(hour, minute, second), "Fri Jan 02 04:04:05 +0100 2026": at(hour, minute, second),
		"Fri Jan 02 2026 03:04:05 GMT+0000 (Coordinated Universal Time)": at(hour, minute, second),
		"2 Jan 26": at(0, 0, 0), "2-Jan-2026": at(0, 0, 0), "2026 January 2": at(0, 0, 0), "the 2nd of January 2026": at(0, 0, 0),
		"\u200e2 يناير 2026": at(0, 0, 0), "\u200e2026-01-02\u00a003:04\u200e": at(hour, minute, 0),
		"1 Jan 2026 19:00 PST": at(hour, 0, 0), " 2 January 2026\n": at(0, 0, 0),
	} {
		if got, ok := Parse(text, time.UTC); !ok || !got.Time.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}

// Forms in pages, feeds and sitemaps, by their RFC 3339 form.
func TestFormsOfDates(t *testing.T) {
	for want, texts := range map[string]string{
		"2024-01-15": `2024-01-15; 2024-1-15; 2024.01.15; 2024/01/15; 2024/1/15; 20240115; 15.01.2024; 15. 1. 2024; 2024. 1. 15.; 2024年1月15日; 2024年01月15日(月); 2024年1月15日 月曜日;
			2024년 1월 15일; 2024년 1월 15일 월요일; 2024年1月15号; January 15, 2024; Jan 15 2024; Jan. 15, 2024; JANUARY 15, 2024; 15 January 2024; 15th January 2024; 15th of January, 2024; the 15th of January 2024;
			January 15th, 2024; Monday, January 15, 2024; Mon, 15 Jan 2024; Monday 15 January 2024; Mo, 15. Januar 2024; Montag, 15. Januar 2024; 15. Jänner 2024; lundi 15 janvier 2024; 15 janv. 2024;
			15 de enero de 2024; lunes, 15 de enero de 2024; 15 gennaio 2024; 15 de janeiro de 2024; segunda-feira, 15 de janeiro de 2024; maandag 15 januari 2024; 15 stycznia 2024; 15 января 2024 г.; 15 января 2024;
			15-Jan-2024; 15-Jan-24; 15 Jan 24; 15 Jan '24; 2024 January 15; 2024-Jan-15; Jan-15-2024; (January 15, 2024); Published: January 15, 2024; Posted on Jan 15, 2024; Last updated on January 15, 2024; Updated 15 January 2024;
			15. ledna 2024; 2024. január 15.; 15. tammikuuta 2024; 15 Ocak 2024 Pazartesi; 15 ianuarie 2024; 15 січня 2024 року; 15 януари 2024 г.; 15 Ιανουαρίου 2024; 15 يناير 2024; 15 בינואר 2024; १५ जनवरी २०२४; ngày 15 tháng 1 năm 2024;
			Senin, 15 Januari 2024; 15 sty 2024; 15 stycznia 2024 r.; zo 15 jan 2024; pon., 15 sty 2024; den 15 januari 2024; il 15 gennaio 2024; Stand: 15.01.2024; 2024年1月15日（月）; ２０２４／１／１５; 15‑Jan‑2024; 2024‑01‑15; "2024-01-15"; '15 Jan 2024';
			15 Jan 2024; Veröffentlicht am 15. Januar 2024; ٢٠٢٤-٠١-١٥; ２０２４年１月１５日; 2024-01-15Z; 2024-01-15+01:00; 2024 15 January`,
		"2024-01-15T10:30:00Z": `2024-01-15T10:30:00Z; 2024-01-15T10:30:00.000Z; 2024-01-15T10:30Z; 2024-01-15T10:30; 2024-01-15 10:30; 2024-01-15 10:30:00; 2024-01-15 10:30:00 +0000 UTC; 2024-01-15T10:30:00Z+00:00; 2024-01-15 10:30:00+00; 2024-01-15T10:30:00 GMT;
			2024-01-15T10:30:00Z[UTC]; 20240115T103000Z; 20240115T1030; 20240115103000; 202401151030; 20240115 103000; 2024-1-15 10:30; 15.01.2024 10:30; 15.01.2024, 10:30 Uhr; 15.01.2024 um 10.30 Uhr; 15. Januar 2024 um 10:30;
			15 January 2024 | 10:30; 15 January 2024 - 10:30; 10:30, 15 January 2024; 10:30 15.01.2024; 15 janvier 2024 à 10h30; 15 janvier 2024 10h30; January 15, 2024 10:30 AM; January 15, 2024 at 10:30 a.m.; January 15, 2024, 10:30am; January 15, 2024 10:30 am UTC;
			Mon, 15 Jan 2024 10:30:00 GMT; Mon, 15 Jan 2024 10:30:00 +0000; Mon, 15 Jan 2024 10:30:00 Z; Monday, 15-Jan-24 10:30:00 UTC; Mon Jan 15 10:30:00 2024; Mon Jan 15 10:30:00 UTC 2024; Mon Jan 15 2024 10:30:00 GMT+0000 (Coordinated Universal Time);
			Mo, 15 Jan 2024 10:30:00; Mon, 15 January 2024 10:30:00; 2024年1月15日 10:30; 2024年1月15日 10時30分; 2024年1月15日 午前10時30分; 2024年1月15日上午10:30; 2024년 1월 15일 오전 10시 30분; 2024/01/15 10:30:00; 1705314600; 1705314600000; /Date(1705314600000)/; /Date(1705314600000+0100)/; 2024-01-15T10:30:00.0000000Z; 2024-01-15 10:30:00 UTC;
			2024-01-15 10:30; 2024-01-15 10:30:00 Z; January 15, 2024 – 10:30 AM; Jan 15, 2024 @ 10:30 AM; Mon 15 Jan 2024 10.30 GMT; 15.1.2024 klo 10.30; 15.01.2024 10.30; 15 januari 2024 kl. 10:30; 15 januari 2024 om 10:30;
			15.01.2024 в 10:30; 15 gennaio 2024 alle 10:30; Last edited on 15 January 2024, at 10:30; This page was last edited on 15 January 2024, at 10:30 (UTC).; 2024-01-15 10:30:00,000; 15/Jan/2024:10:30:00 +0000`,
		"2024-01-15T10:30:00+01:00":   `2024-01-15T10:30:00+01:00; 2024-01-15T10:30:00+0100; 2024-01-15T10:30:00+01; 2024-01-15T10:30:00+01:00[Europe/Paris]; 2024-01-15 10:30:00 +01:00; 2024-01-15 10:30:00 +0100 CET; 2024-01-15 10:30 CET; 15 Jan 2024 10:30:00 +0100; 15 Jan 2024 10:30 GMT+1; 15 Jan 2024 10:30 UTC+01:00; Mon Jan 15 2024 10:30:00 GMT+0100 (Central European Standard Time); 2024-01-15 10:30 (CET)`,
		"2024-01-15T10:30:00-05:00":   `January 15, 2024 10:30 AM ET; January 15, 2024 at 10:30 a.m. EST; Jan 15, 2024, 10:30 AM (EST); 2024-01-15T10:30:00−05:00; 2024-01-15 10:30:00-05; 10:30 AM ET, January 15, 2024`,
		"2024-01-15T10:30:00+03:00":   `15 января 2024 в 10:30 МСК`,
		"2024-07-15T10:30:00-04:00":   `July 15, 2024 10:30 AM ET; July 15, 2024 10:30 EDT`,
		"2024-01-15T15:04:00Z":        `15 Jan 2024 3:04 p.m.; 2024年1月15日 下午3:04; 15 Jan 2024 15.04 Uhr; 15 Jan 2024, 15h04`,
		"2024-01-15T15:00:00Z":        `15 Jan 2024 3pm; 15 Jan 2024, 15h; 15. Januar 2024, 15 Uhr; 15 Jan 2024 3 p.m.`,
		"2024-01-15T10:30:00.123456Z": `2024-01-15T10:30:00.123456789Z; 2024-01-15T10:30:00.1234567891234Z; 2024-01-15 10:30:00.123456789`,
		"2024-01-16T00:00:00Z":        `2024-01-15T24:00:00Z; 2024-01-16 00:00; 2024-01-15T23:59:60Z; Jan 16, 2024 12 AM`,
	} {
		for text := range strings.SplitSeq(texts, ";") {
			text = strings.TrimSpace(text)
			if got, ok := Parse(text, time.UTC); !ok || got.String() != want {
				t.Errorf("%q: %v, %v; want %s", text, got, ok, want)
			}
		}
	}
}

// FuzzParse parses any text: the String of a parsed date parses to the same date.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"2024-01-15T10:30:00Z", "Mon, 15 Jan 2024 10:30:00 +0100 (CET)", "2024年1月15日 下午3:04", "1705314600", "Jan 15, 10h30 2024", "00000000+0000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := Parse(text, time.UTC)
		if !ok {
			return
		}
		if again, ok := Parse(d.String(), time.UTC); !ok || again.String() != d.String() {
			t.Errorf("%q is %s, which is %s, %v", text, d, again, ok)
		}
	})
}

func TestTimeOfDayIsToldApart(t *testing.T) {
	for text, want := range map[string]bool{"2026-01-02": false, "2 Jan 2026": false, "2026-01-02T00:00:00Z": true, "Jan 2 2026 12 AM": true} {
		if got, ok := Parse(text, time.UTC); !ok || got.Clock != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
}

func TestZoneGivenIsThatOfTextsWithoutOne(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	for _, text := range []string{"2026-01-02 04:00", "2026-01-02 03:00Z"} {
		if got, ok := Parse(text, berlin); !ok || !got.Time.Equal(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestNoDate(t *testing.T) {
	for _, text := range []string{
		"", "yesterday", "1/2/2026", "2026-13-01", "31 Jun 2026", "2026-01-02 25:00", "2026-01-02 03:60", "Jan 2 2026 13:00 PM", "12:30",
		"2 Jan 2026 03:04 XYZ", "2026", "2026-01", "2026-01-02 and more", "2026-01-02 03:04 2026-01-02", strings.Repeat("1", MaxText+1),
		"Jan 2, 2026 - Jan 3, 2026", "2-3 Jan 2026", "Jan 2, 2026 10:00-12:00", "2026-01-02 10:00 - 12:00", "Jan 2026", "2 Jan", "2026-01-02T10:00:00Z-05:00", "2026-01-02 10:00 +25:00",
		"2015-10-08T07:18:53.846344Z 2015-06-15T15:33:55.288302Z", "۱۴۰۲/۱۰/۲۵", "๒๕๖๗-๐๑-๑๕", "令和6年1月15日", "113年1月15日", "2026年1月", "15 minutes", "2 hours ago", "{{ page.date }}", "10:30:00", "12/25/2026", "25-12-2026", "1.2.3", "24.01.15",
		"15 January – 20 January 2024", "January 15 – 20, 2024", "15–20 January 2024", "2024-01-15 – 2024-01-20", "2024-01-15 10:30 – 12:00", "15 มกราคม 2567", "15 Jan 2024 10.75", "gestern", "вчера", "昨日", "il y a 2 jours", "vor 2 Tagen", "until 15 Jan 2024", "v1.2.2024",
		"may 10 2024 people", "12.50", "192.168.2.1", "ab 15.01.2024", "1705314600+0100", "/Date(1705314600000", "/Date(soon)/",
		"2026 1 2", "2026-01/02", "$2026-01-02", "2026-01-02 10:30 foo", "Jan 32 2026", "2026-02-29",
	} {
		if got, ok := Parse(text, time.UTC); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{"2026-01-02T03:04:05Z", "Fri, 02 Jan 2026 03:04:05 GMT", "no date at all, but some words"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				Parse(text, time.UTC)
			}
		})
	}
}
