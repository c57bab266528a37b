package robots

import (
	"testing"
	"time"
)

// fetched is when the pages of these tests were fetched.
var fetched = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

var (
	nothing  = Directives{}
	noIndex  = Directives{NoIndex: true}
	noFollow = Directives{NoFollow: true}
	neither  = Directives{NoIndex: true, NoFollow: true}
)

// TestHeaderDirectives tests the syntax of X-Robots-Tag, as parsed by the crawler "seine": one
// field value per line.
func TestHeaderDirectives(t *testing.T) {
	tests := []struct {
		rule   string
		values []string
		want   Directives
	}{
		// Google's examples, with seine for googlebot where it is the reader.
		{"noindex", []string{"noindex"}, noIndex},
		{"several directives", []string{"noindex, nofollow"}, neither},
		{"a date alone", []string{"unavailable_after: 25 Jun 2010 15:00:00 PST"}, noIndex},
		{"a directive and a date", []string{"noarchive", "unavailable_after: 25 Jun 2010 15:00:00 PST"}, noIndex},
		{"one field for each crawler", []string{"seine: nofollow", "otherbot: noindex, nofollow"}, noFollow},
		{"two crawlers in one field", []string{"BadBot: noindex, nofollow, seine: nofollow"}, noFollow},
		{"limits of previews", []string{"max-snippet:-1, max-image-preview:large, max-video-preview:-1"}, nothing},

		{"no field", nil, nothing},
		{"an empty field", []string{""}, nothing},
		{"none is both", []string{"none"}, neither},
		{"all is nothing", []string{"all"}, nothing},
		{"all takes nothing back", []string{"noindex, all, index, follow"}, noIndex},
		{"fields add up", []string{"noindex", "nofollow"}, neither},
		{"no case", []string{"NoIndex, NOFOLLOW"}, neither},
		{"no space", []string{"noindex,nofollow"}, neither},
		{"much space, empty items", []string{" \t, noindex ,, nofollow\t,"}, neither},
		{"a space for a comma", []string{"noindex nofollow"}, neither},
		{"unknown directives", []string{"noarchive, nosnippet, noai, noimageindex, nofollow"}, noFollow},
		{"part of a word", []string{"noindexed, donofollow, none-such"}, nothing},

		{"for this crawler", []string{"seine: noindex"}, noIndex},
		{"for this crawler in any case", []string{"SEINE: noindex"}, noIndex},
		{"for this crawler with a version", []string{"Seine/1.0: noindex"}, noIndex},
		{"without a space after the name", []string{"seine:noindex,nofollow"}, neither},
		{"with a space before the colon", []string{"seine : noindex"}, noIndex},
		{"for everyone by name", []string{"otherbot: nofollow, *: noindex"}, noIndex},
		{"for another crawler", []string{"otherbot: noindex, nofollow"}, nothing},
		{"for a crawler whose name begins alike", []string{"seine-news: noindex"}, nothing},
		{"for a crawler whose name begins this one's", []string{"sei: noindex"}, nothing},
		{"for a crawler whose name begins with a digit", []string{"360Spider: noindex"}, nothing},
		{"a name holds to the end of its field", []string{"otherbot: noarchive, noindex, none", "nofollow"}, noFollow},
		{"what is before any name is for all", []string{"noindex, otherbot: nofollow"}, noIndex},
		{"a later name takes over", []string{"seine: noindex, otherbot: nofollow"}, noIndex},
		{"a name may come again", []string{"seine: noindex, otherbot: noarchive, seine: nofollow"}, neither},
		{"its own and everyone's add up", []string{"noindex", "seine: nofollow"}, neither},
		{"its own cannot loosen everyone's", []string{"none", "seine: all"}, neither},
		{"a name with nothing to say", []string{"noindex, otherbot:"}, noIndex},
		{"two names in a row", []string{"otherbot: seine: noindex"}, noIndex},
		{"no name before the colon", []string{": noindex"}, noIndex},

		{"a value that reads like a directive", []string{"max-image-preview: none"}, nothing},
		{"a limit does not name a crawler", []string{"max-snippet: 20, noindex"}, noIndex},
		{"a limit without a value", []string{"max-snippet:, noindex"}, noIndex},
		{"a limit in capitals", []string{"MAX-IMAGE-PREVIEW: NONE, nofollow"}, noFollow},
		{"a limit without a comma", []string{"max-snippet: 20 noindex"}, noIndex},
		{"a limit yet unknown", []string{"max-audio-preview: none, noindex"}, noIndex},

		{"unavailable since a date", []string{"unavailable_after: 2026-11-20"}, noIndex},
		{"available until a date", []string{"unavailable_after: 2026-11-22"}, nothing},
		{"available still at the time", []string{"unavailable_after: 2026-11-21T12:00:00Z"}, nothing},
		{"unavailable a second after", []string{"unavailable_after: 2026-11-21T11:59:59Z"}, noIndex},
		{"unavailable for this crawler", []string{"seine: unavailable_after: 2020-01-01"}, noIndex},
		{"unavailable for another", []string{"otherbot: unavailable_after: 2020-01-01, noindex"}, nothing},
		{"unavailable in capitals", []string{"UNAVAILABLE_AFTER: 2020-01-01"}, noIndex},
		{"the earlier of two dates", []string{"unavailable_after: 2038-01-01, unavailable_after: 2020-01-01"}, noIndex},
		{"a date's commas and colons", []string{"unavailable_after: Wednesday, 01-Jan-38 08:49:37 GMT, nofollow"}, noFollow},
		{"another's date, then this crawler", []string{"otherbot: unavailable_after: Fri, 01 Jan 2038 08:49:37 GMT, seine: nofollow"}, noFollow},
		{"what is no date", []string{"unavailable_after: soon, nofollow"}, noFollow},
		{"nor a day", []string{"unavailable_after: monday, nofollow"}, noFollow},
		{"nor names a crawler", []string{"unavailable_after: 2038-01-01T10h:00:00, nofollow"}, noFollow},
		{"nor names one behind a comma", []string{"unavailable_after: 1 Jan 2038, 10:00:00 PST, nofollow"}, noFollow},
		{"no date at all", []string{"unavailable_after:"}, nothing},
		{"the word without a colon", []string{"unavailable_after, nofollow"}, noFollow},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := HeaderDirectives(tt.values, "Seine", fetched); got != tt.want {
				t.Errorf("%q: %+v, want %+v", tt.values, got, tt.want)
			}
		})
	}
}

// TestMetaDirectives tests the differences of a meta element: its name is the crawler's, so its
// content names none.
func TestMetaDirectives(t *testing.T) {
	tests := []struct {
		rule, content string
		want          Directives
	}{
		{"the same directives", "noindex, nofollow", neither},
		{"the same dates", "unavailable_after: 2020-09-21", noIndex},
		{"no crawler is named", "otherbot: noindex", noIndex},
		{"on several lines", "noindex,\r\n\tnofollow", neither},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := MetaDirectives(tt.content, fetched); got != tt.want {
				t.Errorf("%q: %+v, want %+v", tt.content, got, tt.want)
			}
		})
	}
}

// A crawler without a name obeys directives for all crawlers, and none for others.
func TestHeaderDirectivesForNobody(t *testing.T) {
	if got := HeaderDirectives([]string{"nofollow, 360: noindex, 360Spider: noindex, otherbot: noindex"}, "", fetched); got != neither {
		t.Errorf("%+v, want noindex of 360, which is no name, and nofollow", got)
	}
}

func TestDates(t *testing.T) {
	utc := func(hour, minute, second int) time.Time {
		return time.Date(2010, time.June, 25, hour, minute, second, 0, time.UTC)
	}
	tests := []struct {
		text string
		want time.Time
	}{
		{"2010-06-25", utc(0, 0, 0)},
		{"2010-06-25T15:00", utc(15, 0, 0)},
		{"2010-06-25T15:00:30", utc(15, 0, 30)},
		{"2010-06-25T15:00:30Z", utc(15, 0, 30)},
		{"2010-06-25t15:00:30z", utc(15, 0, 30)},
		{"2010-06-25T15:00:30.0Z", utc(15, 0, 30)},
		{"2010-06-25T15:00:30+02:00", utc(13, 0, 30)},
		{"2010-06-25T15:00+0200", utc(13, 0, 0)},
		{"2010-06-25 15:00:30", utc(15, 0, 30)},
		{"25 Jun 2010", utc(0, 0, 0)},
		{"25 jun 2010 15:00:30 gmt", utc(15, 0, 30)},
		{"25 Jun 2010 15:00:00 PST", utc(23, 0, 0)},
		{"25-Jun-2010 15:00:00 EST", utc(20, 0, 0)},
		{"25 Jun 10 15:00 EDT", utc(19, 0, 0)},
		{"Fri, 25 Jun 2010 15:00:30 +0200", utc(13, 0, 30)},
		{"Friday, 25-Jun-10 15:00:30 GMT", utc(15, 0, 30)},
		{"25 Jun 2010 15:00:00 XYZ", time.Time{}},
		{"31 Jun 2010", time.Time{}},
		{"25/06/2010", time.Time{}},
		{"Jun 25 2010", utc(0, 0, 0)},
		{"25th June 2010 3 pm", utc(15, 0, 0)},
		{"PST", time.Time{}},
		{"", time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			for _, rest := range []string{"", ", nofollow"} {
				content, far := "unavailable_after: "+tt.text+rest, time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC)
				want := Directives{NoFollow: rest != ""}
				if got := MetaDirectives(content, tt.want); got != want {
					t.Errorf("%s: at that time %+v, want %+v", content, got, want)
				}
				if want.NoIndex = !tt.want.IsZero(); MetaDirectives(content, far) != want || want.NoIndex && MetaDirectives(content, tt.want.Add(time.Second)) != want {
					t.Errorf("%s: later %+v, want %+v", content, MetaDirectives(content, far), want)
				}
			}
		})
	}
}
