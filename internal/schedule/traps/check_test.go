package traps

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var (
	today    = time.Date(2026, time.November, 21, 6, 0, 0, 0, time.UTC)
	defaults = Limits{
		MaxURLLength: 1024, MaxPathDepth: 20, MaxRepeats: 3, CalendarAhead: 2, CalendarBack: 50,
		MaxParameterSets: 100, MaxSameShape: 1_000_000, SameContentAfter: 300,
	}
)

const site = "https://www.example.org"

func TestCheck(t *testing.T) {
	long := func(n int) string { return "/" + strings.Repeat("x", n-len(site)-1) }
	deep := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("/" + string(rune('a'+i)))
		}
		return b.String()
	}
	for _, c := range []struct {
		path string
		want Reason
	}{
		{"/", ""},
		{"", ""},
		{long(1024), ""},
		{long(1025), URLLength},
		{deep(20), ""},
		{deep(20) + "/", ""},
		{deep(21), PathDepth},
		{deep(20) + "?a/b/c", ""},

		{"/a/a/a/a", ""},
		{"/a/a/a/a/a", Repeats},
		{"/x/a/a/a/a/a/y.html", Repeats},
		{"/a/b/a/b/a/b/a/b", ""},
		{"/a/b/a/b/a/b/a/b/page.html", ""},
		{"/a/b/a/b/a/b/a/b/a/b", Repeats},
		{"/a/b/a/b/a/b/a/b/a", ""},
		{"/x/a/b/a/b/a/b/a/b/a/b/page.html", Repeats},
		{"/a/b/c/a/b/c/a/b/c/a/b/c", ""},
		{"/a/b/c/a/b/c/a/b/c/a/b/c/a/b/c", Repeats},
		{"/a/b/a/c/a/b/a/c/a/d", ""},
		{"/aa/a/aa/a/b/aa", ""},
		{"////", ""},
		{"///////", Repeats},
		{"/redirect/https://a/", ""},
	} {
		if got := Check(site+c.path, &defaults, today); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

func TestChecksAreOff(t *testing.T) {
	for _, path := range []string{
		"/" + strings.Repeat("x", 5000), strings.Repeat("/a", 100), "/2099/05/", "/1500/01/01/", "?year=2099&month=5",
	} {
		if got := Check(site+path, &Limits{}, today); got != "" {
			t.Errorf("%.40s: %q", path, got)
		}
	}
	for path, l := range map[string]Limits{
		"/calendar/2099/05/": {CalendarBack: 50}, "/calendar/1899/05/": {CalendarAhead: 2},
	} {
		if got := Check(site+path, &l, today); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// A calendar that goes back further than numbers count as years is ended by its calendar word; an
// archive of newspapers is not.
func TestCalendarThatGoesFarBack(t *testing.T) {
	l := Limits{CalendarBack: 200}
	old := today.Year() - 201
	for path, want := range map[string]Reason{
		"/calendar/%d/05": Calendar, "/calendar/%d/11/": Calendar, "/calendar/%d-05": Calendar, "/calendar/%d-05-12": Calendar,
		"/calendar/%d/may": Calendar, "/calendar/may-%d": Calendar, "/year/%d/month/5": Calendar, "?date=%d-05": Calendar,
		"/%d/05/12": "", "/%d/05/": "", "/gazette/%d-05-12": "", "/%d/may": "",
	} {
		if got := Check(site+fmt.Sprintf(path, old), &l, today); got != want {
			t.Errorf("%s of %d: %q, want %q", path, old, got, want)
		}
		if got := Check(site+fmt.Sprintf(path, old+1), &l, today); got != "" {
			t.Errorf("%s of %d: %q", path, old+1, got)
		}
	}
}

// TestCalendar tests dates that are too far away; the same forms with near years must pass.
func TestCalendar(t *testing.T) {
	for _, path := range []string{
		"/2031/05/", "/2031/05", "/2031/11/", "/calendar/2031/5", "/calendar/2031/12", "/calendar/x/2031/01/", "/2031/05/12",
		"/events/2031/11/30/", "/2031/05/12/some-title.html", "/2031/05/index.html", "/2031/05.html",
		"/2031-05-12", "/2031-05", "/2031-11", "/events-2031-05-12.html", "/2031_05_12/", "/2031.05.12",
		"/day/2031-05-12/agenda", "/calendar/week/2031-W20", "/calendar/2031-05-12T10:00", "/events/month/2031-12/",
		"/2031/may/", "/may/2031", "/May-2031", "/calendar/2031-dec.html", "/events/2031/December",
		"/calendar/20310512", "/calendar/203105", "/events/day/20310512.html", "/en/kalender/20310512/",
		"/year/2031/month/5", "/year/2031/month/12/day/3",
		"?date=2031-05", "?date=2031-05-12", "/cal?month=5&year=2031", "/cal.php?y=2031&m=5",
		"?year=2031&month=may", "?cal_year=2031&cal_month=05", "?eventYear=2031&eventMonth=11", "?m=0&y=2031", "?jahr=2031&monat=5",
		"?tribe-bar-date=2031-05-12", "?from=2031-05-12&to=2031-06-12", "?filter[start]=2031-05", "?date=20310512",
		"?month=203105", "?ym=203105", "?day=5/12/2031", "?datum=12.5.2031", "?d=1&date=05%2F12%2F2031", "?monthyear=05-2031",
		"?date=1936137600", "?startDate=2031-05-12T00:00:00Z", "?id=7&date=2031-05-12&view=day", "?year=12031&month=4",

		"/1931/05/", "/calendar/1931/11", "/1931/05/12", "/1931/05/12/", "/1931/05/list/", "/calendar/1931-05-12/month",
		"/calendar/1931-12", "?date=1931-05-12", "?year=1931&month=5", "/calendar/19310512", "/calendar/1931/may",
	} {
		if got := Check(site+path, &defaults, today); got != Calendar {
			t.Errorf("%s: %q", path, got)
		}
		near := strings.NewReplacer("12031", "2027", "2031", "2027", "1931", "2027", "1936137600", "1793750400").Replace(path)
		if got := Check(site+near, &defaults, today); got != "" {
			t.Errorf("%s: %q", near, got)
		}
	}
}

// Dates of things do not belong to a calendar. A site that does not look like a calendar counts as
// an endless one only beyond the years in which things have dates.
func TestDatesOfThings(t *testing.T) {
	for _, path := range []string{
		"/bonds/%d-02-15", "/bonds/%d/02/15", "/parts/%d-08", "/parts/%d/08", "/x/%d/5/09", "/x/%d_05_12/", "/futures/gold-%d-06-30.html", "/leases/may-%d", "/leases/may/%d",
		"?expiry=%d-01-17", "?x=%d-05-12", "?expiry_date=%d-01-17", "?maturityDate=%d-01-17", "?valid_to=%d-01-17",
		"/events/%d-06-13-world-cup-final", "/events/world-cup-%d-06-13", "/news/%d-02-15-bond-auction", "?delivery_date=%d-06-15", "?contractDate=%d-06-15",
	} {
		for year, want := range map[int]Reason{2029: "", 2035: "", 2076: "", 2156: "", 2157: Calendar} {
			if got := Check(site+fmt.Sprintf(path, year), &defaults, today); got != want {
				t.Errorf(path+": %q, want %q", year, got, want)
			}
		}
	}
}

// TestCalendarEdges tests the first and the last allowed year.
func TestCalendarEdges(t *testing.T) {
	for path, want := range map[string]Reason{
		"/2028/12/": "", "/2029/01/": Calendar, "/1976/01/": "", "/1975/09/": Calendar,
		"?year=2028&month=12": "", "?year=2029&month=1": Calendar, "?year=1976&month=1": "", "?year=1975&month=12": Calendar,
	} {
		if got := Check(site+path, &defaults, today); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestNoCalendar tests numbers that are not dates, and dates of things that do not belong to a
// calendar.
func TestNoCalendar(t *testing.T) {
	for _, path := range []string{
		// Items, pages, users, issues.
		"/item/2999", "/item/2999/3", "/item/2999/12", "/item/2050/3", "/item/2050/12", "/page/1900", "/forum/1900/5",
		"/forum/1900/10", "/thread/2100/11", "/2031", "/2031/", "/1950/info.0.json", "/users/1945/posts/5", "/issues/2040",
		"/p/20310512", "/item/203105", "/news-20310512.html", "/photo/19450508/2", "/archive/a20310512b", "/2050/13/", "/2050/00/",
		"/2050/5x/", "/2031/05x", "/events/2031", "/calendar/2031", "/calendar/event/2031", "/node/2031/revisions/5", "/2031/6",
		"/2031/05/32", "/2031-05-32", "/2031-13-01", "/2031-00", "/2031-05123", "/12031-05-12", "/a2031-05-12", "/2031-05-123",
		// Names of things.
		"/din-1946-6", "/iso-1940-1.pdf", "/model-2050-12", "/model-2100-12-b", "/ISSN/1950-1205", "/plz/1950-057", "/zip/2050-1",
		"/abs/2031.05123", "/doi/10.1000/182", "/v2031.05.1x", "/releases/1.2050.12", "/ubuntu/24.04", "/rfc/rfc2045",
		"/phone/2050-1234", "/isbn/978-3-16-148410-0", "/eli/reg/1958/1/oj", "/eli/dir/1968/10/oj", "/ukpga/1965/12",
		"/ukpga/1965/12/section/1", "/ukpga/2031/5", "/resolution/1920x1080", "/tiles/12/2048/1362.png", "/geo/1950.05,2031.12",
		// Seasons and spans.
		"/seasons/1908-09", "/season/1911-12/", "/history/1901-05", "/season/1899-00", "/history/1914-1918", "/wiki/1939-45",
		// The distant past.
		"/1969/07/21/archives/men-walk-on-moon.html", "/1915/05/07/lusitania/", "/wiki/june-1944", "/the-landings-june-1944",
		"/blog/1969-07-21-men-walk-on-moon", "/battle-of-1815-06-18.html", "/diary/1669-05-31-the-last-entry/",
		// Near dates.
		"/2026/11/", "/2027-05-12", "/2028/12/31", "/1976/01/01/", "?date=2026-11-21", "?year=1990&month=5",
		// Parameters.
		"?id=2999", "?page=1900", "?year=2031", "?year=1942", "?y=1950&x=3&m=5", "?y=1950", "?month=5", "?zip=2031-05",
		"?id=20310512", "?from=20310512", "?start=203110", "?after=20310512", "?since=203105", "?v=2031.05", "?t=1936137600",
		"?expires=4102444800", "?q=2031-05", "?year=2031&month=13", "?year=2031&month=maybe", "?price_from=1900&price_to=2050",
		"?size=2048x2048", "?year=20&month=5", "?from=1900&to=2050", "?ref=1950-12-99", "?amount=1950-1",
		"?year_from=1900&month=5",
	} {
		if got := Check(site+path, &defaults, today); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, url := range []string{"http://h:2031/05/", "http://2031.05.12.example/", "http://2031-05-12.example/"} {
		if got := Check(url, &defaults, today); got != "" {
			t.Errorf("%s: %q", url, got)
		}
	}
}

// TestCalendarsEnd walks calendars of all forms in steps of a month, and checks where the guard
// ends that.
func TestCalendarsEnd(t *testing.T) {
	for _, form := range []string{
		"/calendar/2006/01/", "/2006/01", "/2006/1/", "/events/2006/1", "/2006-01", "/x/2006-01", "/x/2006_01.html",
		"/calendar/200601", "/2006/jan/", "/january-2006/", "?year=2006&month=1", "?y=2006&m=01", "?date=2006-01",
		"?month=200601", "/year/2006/month/1", "/cal.php?d=2006-01-02", "/a/b/2006/01/02", "/a/b/2006/1/02/",
	} {
		if form == "/2006/1/" {
			continue // only a calendar word distinguishes these from other numbers; see SameContent
		}
		for _, step := range []int{1, -1} {
			months := 0
			at := time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)
			for ; Check(site+at.Format(form), &defaults, today) == ""; months++ {
				if months > 140*12 {
					break
				}
				at = at.AddDate(0, step, 0)
			}
			name := strings.Contains(strings.ToLower(form), "jan") // these do not count as calendars in the distant past
			most, least := 3, 62
			if strings.HasPrefix(form, "/x/") || strings.HasPrefix(form, "/a/b/") || form == "/cal.php?d=2006-01-02" { // nothing says that these are calendars
				most, least = 131, 131
			}
			if years := months / 12; step > 0 && years > most || step < 0 && years > least && !name {
				t.Errorf("%s by %d: allowed to %s", form, step, at.Format(time.DateOnly))
			}
		}
	}
}

// TestCalendarOfPagesThatDiffer walks the months of a calendar whose pages have different text,
// which no other guard ends.
func TestCalendarOfPagesThatDiffer(t *testing.T) {
	const enough = 5000
	walk := func(l *Limits) (pages int) {
		s := NewPatternCounter()
		for _, step := range []int{1, -1} {
			at := time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)
			for ; pages < enough; at = at.AddDate(0, step, 0) {
				url := site + at.Format("/?month=1&year=2006")
				if Check(url, l, today) != "" || s.Admit(url, l) != "" {
					break
				}
				pages++
				s.Fetched(url, uint64(pages))
			}
		}
		return pages
	}
	l := defaults
	l.CalendarBack = 200                    // as in crawlspec.DefaultTraps
	if n := walk(&l); n != (200+1+2)*12+1 { // the current month is walked twice
		t.Errorf("%d pages with the guard", n)
	}
	l.CalendarAhead, l.CalendarBack = 0, 0
	if n := walk(&l); n != enough {
		t.Errorf("%d pages without the guard", n)
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	for _, url := range checkBench {
		if n := testing.AllocsPerRun(100, func() { Check(url, &defaults, today) }); n != 0 {
			t.Errorf("%s: %.0f allocations", url, n)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, url := range checkBench {
		f.Add(url)
	}
	for _, url := range []string{"", "http://", "://", "?", "a", "http://a?2031-", "/2031/", "http://a/2031-05-1", "http://a/?=&&=", "http://a/%"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		if a, b := Check(url, &defaults, today), Check(url, &defaults, today); a != b {
			t.Errorf("%q and %q", a, b)
		}
		if a, b := keysOf(url), keysOf(url); a != b || a.coarse != coarseOf(url) {
			t.Error("keys differ")
		}
		twin, ok := SortQuery(url)
		if again, ok2 := SortQuery(twin); again != twin || ok2 != ok || len(twin) != len(url) {
			t.Errorf("twin %q, %v; of that %q, %v", twin, ok, again, ok2)
		}
		s := NewPatternCounter()
		s.Admit(url, &defaults)
		s.Fetched(url, 1)
		if got := s.Admit(url, &defaults); got != "" {
			t.Errorf("second: %q", got)
		}
	})
}

var checkBench = []string{
	site + "/docs/guide/chapter-3/index.html",
	site + "/news/2026/11/21/a-title-of-some-words-1234567.html",
	site + "/shop/item.php?id=4711&colour=red&page=2",
	site + "/p/550e8400-e29b-41d4-a716-446655440000?utm=x",
	site + "/calendar/2031-05-12?view=month&date=2031-05-12",
}

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Check(checkBench[i%len(checkBench)], &defaults, today)
	}
}
