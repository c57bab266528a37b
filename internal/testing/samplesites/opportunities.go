package samplesites

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// oppPerPage is the number of rows on a page of the listing.
const oppPerPage = 10

// oppStates has the number of opportunities of each state: none, less than a page, full pages, and
// more.
var oppStates = []struct {
	category
	count int
}{
	{category{"alabama", "Alabama"}, 13}, {category{"colorado", "Colorado"}, 20}, {category{"georgia", "Georgia"}, 7},
	{category{"new-mexico", "New Mexico"}, 31}, {category{"ohio", "Ohio"}, 10}, {category{"oregon", "Oregon"}, 0},
	{category{"vermont", "Vermont"}, 1}, {category{"wyoming", "Wyoming"}, 4},
}

// opportunity is a call for bids.
type opportunity struct {
	Number, Title, Agency string
	State                 category
	Posted, Due           time.Time
	Dollars               int // estimated; 0 if not specified
	Open                  bool
	Categories            []string
	Contact, Email, Phone string
	Documents             []attachment
	Description           string
}

type attachment struct {
	Name string
	KB   int
}

// Path returns the path of the detail page.
func (o *opportunity) Path() string { return "/opportunities/" + o.State.Slug + "/" + o.Number }

// PostedOn returns the posting date in American format.
func (o *opportunity) PostedOn() string { return o.Posted.Format("01/02/2006") }

// DueAt returns the due date and time in American format, in Eastern time.
func (o *opportunity) DueAt() string { return o.Due.Format("01/02/2006 3:04 PM") }

// Value returns the amount in American format.
func (o *opportunity) Value() string {
	if o.Dollars == 0 {
		return "Not specified"
	}
	whole := strconv.Itoa(o.Dollars)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return "$" + whole + ".00"
}

// Status returns Open or Closed.
func (o *opportunity) Status() string {
	if o.Open {
		return "Open"
	}
	return "Closed"
}

// All returns the categories in one text.
func (o *opportunity) All() string { return strings.Join(o.Categories, "; ") }

// oppList is one page of a state's listing.
type oppList struct {
	State category
	Rows  []*opportunity
	Next  int
}

func newOpportunities(seed uint64) *SampleSite {
	s := &SampleSite{Seeds: []string{"/opportunities"}, pages: map[string]page{}}
	t := templates("opportunities")
	all := oppContent(newProse(seed, "opportunities"))
	var states []category
	for _, st := range oppStates {
		states = append(states, st.category)
		s.pages["/opportunities/"+st.Slug] = page{typeHTML, func(r request) []byte {
			n, err := strconv.Atoi(r.query.Get("page"))
			if err != nil || n < 1 {
				n = 1
			}
			rows := all[st.Slug]
			from, to := min((n-1)*oppPerPage, len(rows)), min(n*oppPerPage, len(rows))
			return render(t, "list", r, oppList{st.category, rows[from:to], n + 1})
		}}
		for _, o := range all[st.Slug] {
			s.html(o.Path(), t, "detail", o)
			for i := range o.Documents {
				s.text(o.Path()+"/files/"+strconv.Itoa(i+1), "application/octet-stream", "binary")
			}
		}
	}
	s.html("/opportunities", t, "states", states)
	s.html("/help", t, "help", nil)
	s.text("/robots.txt", typeText, "User-agent: *\nDisallow: /*/files/\n")
	s.guard = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-AspNet-Version", "4.0.30319")
		w.Header().Set("Cache-Control", "private")
		return false
	}
	s.truth = func(base string) Truth { return oppTruth(base, all) }
	return s
}

func oppContent(p prose) map[string][]*opportunity {
	east := time.FixedZone("EST", -5*3600)
	all := map[string][]*opportunity{}
	number := 410000
	for _, st := range oppStates {
		for range st.count {
			number += 1 + p.IntN(40)
			o := &opportunity{
				Number: strconv.Itoa(number), Title: p.title(), Agency: "Department of " + capital(pick(p, nouns)) + "s & Works",
				State: st.category, Posted: time.Date(2026, 1, 2+p.IntN(40), 0, 0, 0, 0, time.UTC),
				Open: p.IntN(3) > 0, Contact: p.person(), Description: p.paragraph(4),
				Categories: []string{capital(pick(p, nouns[:25])), capital(pick(p, nouns[25:]))},
			}
			// In winter, so that the offset of the time zone is constant.
			o.Due = time.Date(2026, 2, 1+p.IntN(28), 9+p.IntN(9), 30*p.IntN(2), 0, 0, east)
			o.Dollars = p.IntN(4) * (1000 + p.IntN(2_000_000))
			o.Email = slug(o.Contact) + "@" + st.Slug + ".example"
			o.Phone = fmt.Sprintf("(555) 010-%04d", p.IntN(10000))
			for n := range p.IntN(4) {
				o.Documents = append(o.Documents, attachment{fmt.Sprintf("Part %d - %s.pdf", n+1, capital(pick(p, nouns))), 20 + p.IntN(900)})
			}
			all[st.Slug] = append(all[st.Slug], o)
		}
	}
	return all
}

func oppTruth(base string, all map[string][]*opportunity) Truth {
	var t Truth
	for _, st := range oppStates {
		for _, o := range all[st.Slug] {
			t.Records = append(t.Records, o.record(base))
		}
	}
	return t
}

func (o *opportunity) record(base string) Record {
	r := Record{
		"kind": "opportunity", "url": base + o.Path(), "key": o.State.Slug + "/" + o.Number, "state": o.State.Slug, "number": o.Number,
		"title": o.Title, "agency": o.Agency, "status": o.Status(), "posted": o.Posted.Format("2006-01-02"),
		"due": o.Due.Format(time.RFC3339), "description": o.Description,
		"contact": map[string]any{"name": o.Contact, "email": o.Email, "phone": o.Phone},
	}
	if o.Dollars > 0 {
		r["value"] = float64(o.Dollars)
	}
	categories, documents := []any{}, []any{}
	for _, c := range o.Categories {
		categories = append(categories, c)
	}
	for i, d := range o.Documents {
		documents = append(documents, map[string]any{
			"name": d.Name, "url": base + o.Path() + "/files/" + strconv.Itoa(i+1), "kilobytes": float64(d.KB),
		})
	}
	r["categories"], r["documents"] = categories, documents
	return r
}
