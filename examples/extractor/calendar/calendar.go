package calendar

import (
	"errors"
	"strings"
	"time"
)

// MaxEvents bounds what is read from one file: a calendar of twenty years with an event for every day.
const MaxEvents = 10_000

// maxZones bounds the time zones that are looked up for one file, since each is read from disk.
const maxZones = 64

// ErrNoCalendar is returned for a file that has no calendar in it.
var ErrNoCalendar = errors.New("not an iCalendar file: BEGIN:VCALENDAR is missing (RFC 5545)")

// Calendar is a file.
type Calendar struct {
	Name, Description string
	Events            []Event
	// Cut says that there are more events than were read.
	Cut bool
}

// Event is a VEVENT. Times are RFC 3339 with the offset of their zone; "2026-11-20" for whole days; and without an offset,
// "2026-11-20T09:00:00", where the file says no zone, or one that nobody knows.
type Event struct {
	UID         string   `json:"uid"`
	Summary     string   `json:"summary"`
	Description string   `json:"description,omitempty"`
	Location    string   `json:"location,omitempty"`
	Start       string   `json:"start"`
	End         string   `json:"end,omitempty"`
	AllDay      bool     `json:"all_day"`
	Status      string   `json:"status,omitempty"` // confirmed, tentative or cancelled
	Categories  []string `json:"categories,omitempty"`
	Organizer   string   `json:"organizer,omitempty"`
	Link        string   `json:"link,omitempty"`
	Repeats     string   `json:"repeats,omitempty"` // the rule (RFC 5545 3.3.10) as it is
	// Instance says which of the events of a series this one replaces.
	Instance string `json:"instance,omitempty"`
}

// Key tells the event from all others, and is the same when the file is read again.
func (e *Event) Key() string {
	if e.Instance == "" {
		return e.UID
	}
	return e.UID + "/" + e.Instance
}

// reader is the state of reading one file.
type reader struct {
	calendar Calendar
	open     []string // the components around the line, outermost first
	event    *Event
	length   string // of the event, where it has no end
	zones    map[string]*time.Location
}

// maxDepth bounds components inside each other; files have three.
const maxDepth = 16

// Parse reads a file.
func Parse(file []byte) (*Calendar, error) {
	r := reader{zones: map[string]*time.Location{}}
	found := false
	lines(file, func(l line) bool {
		found = found || l.name == "BEGIN" && strings.EqualFold(l.value, "VCALENDAR")
		if found {
			r.line(l)
		}
		return !r.calendar.Cut
	})
	if !found {
		return nil, ErrNoCalendar
	}
	return &r.calendar, nil
}

func (r *reader) line(l line) {
	switch l.name {
	case "BEGIN":
		r.begin(strings.ToUpper(l.value))
		return
	case "END":
		r.end(strings.ToUpper(l.value))
		return
	}
	switch r.inside() {
	case "VEVENT":
		r.property(l)
	case "VCALENDAR":
		switch l.name { // NAME and DESCRIPTION are of RFC 7986, the others what came before it
		case "NAME", "X-WR-CALNAME":
			r.calendar.Name = l.text()
		case "DESCRIPTION", "X-WR-CALDESC":
			r.calendar.Description = l.text()
		}
	}
}

// inside is the innermost component around the line.
func (r *reader) inside() string {
	if len(r.open) == 0 {
		return ""
	}
	return r.open[len(r.open)-1]
}

func (r *reader) begin(component string) {
	if component == "VEVENT" {
		r.event, r.length = &Event{}, ""
	}
	if len(r.open) < maxDepth {
		r.open = append(r.open, component)
	}
}

// end closes a component, and those inside it that a careless program has left open.
func (r *reader) end(component string) {
	for i := len(r.open) - 1; i >= 0; i-- {
		if r.open[i] == component {
			r.open = r.open[:i]
			break
		}
	}
	if component == "VEVENT" && r.event != nil {
		r.finish()
	}
}

// finish takes the event, if it has what a record needs.
func (r *reader) finish() {
	e := r.event
	r.event = nil
	if e.UID == "" || e.Start == "" {
		return
	}
	if len(r.calendar.Events) == MaxEvents {
		r.calendar.Cut = true
		return
	}
	if e.End == "" {
		e.End = endOf(e.Start, r.length)
	}
	r.calendar.Events = append(r.calendar.Events, *e)
}

// property is a line of an event (RFC 5545 3.6.1).
func (r *reader) property(l line) {
	if r.event == nil {
		return
	}
	e := r.event
	switch l.name {
	case "UID":
		e.UID = l.text()
	case "SUMMARY":
		e.Summary = l.text()
	case "DESCRIPTION":
		e.Description = l.text()
	case "LOCATION":
		e.Location = l.text()
	case "DTSTART":
		e.Start = r.time(l)
		e.AllDay = len(e.Start) == len(time.DateOnly)
	case "DTEND":
		e.End = r.time(l)
	case "DURATION":
		r.length = l.value
	case "RECURRENCE-ID":
		e.Instance = r.time(l)
	case "STATUS":
		e.Status = strings.ToLower(l.value)
	case "CATEGORIES":
		e.Categories = append(e.Categories, l.texts()...)
	case "ORGANIZER":
		e.Organizer = l.parameter("CN")
	case "URL":
		e.Link = strings.TrimSpace(l.value)
	case "RRULE":
		e.Repeats = l.value
	}
}
