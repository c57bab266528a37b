package sitemap

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/dates"
	"seine/internal/base/lazyregexp"
	"seine/internal/base/truncate"
	"seine/internal/base/weburl"
)

// Limits of an entry. Google's rules for the extensions allow a page 1,000 images; the description
// of a video has up to 2,048 characters.
const (
	maxList      = 1000
	maxExtraText = 8 << 10
)

// List has the non-empty parts of an entry, at most 1,000.
type List[T comparable] []T

// UnmarshalXML implements xml.Unmarshaler.
func (l *List[T]) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	var value, zero T
	if len(*l) == maxList {
		return d.Skip()
	}
	if err := d.DecodeElement(&value, &start); err != nil {
		return err
	}
	if value != zero {
		*l = append(*l, value)
	}
	return nil
}

// Alternate is the same page in another language, such as "de-AT" or "x-default"; Language is "" if
// the file has none.
type Alternate struct {
	URL      string `json:"url"                xml:"href,attr"`
	Language string `json:"language,omitempty" xml:"hreflang,attr"`
	Rel      string `json:"-"                  xml:"rel,attr"`
}

// News is an article in the Google News extension.
type News struct {
	Publication Text `json:"publication,omitempty" xml:"publication>name"`     // name of the newspaper
	Language    Text `json:"language,omitempty"    xml:"publication>language"` // of the article
	Title       Text `json:"title,omitempty"       xml:"title"`
	Published   Time `json:"published,omitzero"    xml:"publication_date"`
	Keywords    Text `json:"keywords,omitempty"    xml:"keywords"`
}

// Image is an image on a page. Google reads only the URL now; the other fields are in many
// sitemaps.
type Image struct {
	URL     Text `json:"url,omitempty"     xml:"loc"`
	Title   Text `json:"title,omitempty"   xml:"title"`
	Caption Text `json:"caption,omitempty" xml:"caption"`
	License Text `json:"license,omitempty" xml:"license"`
}

// Video is a video on a page.
type Video struct {
	Title       Text    `json:"title,omitempty"       xml:"title"`
	Description Text    `json:"description,omitempty" xml:"description"`
	Thumbnail   Text    `json:"thumbnail,omitempty"   xml:"thumbnail_loc"` // URL of an image
	Content     Text    `json:"content,omitempty"     xml:"content_loc"`   // URL of the video itself
	Player      Text    `json:"player,omitempty"      xml:"player_loc"`    // URL of a page that plays it
	Seconds     Seconds `json:"seconds,omitempty"     xml:"duration"`
	Published   Time    `json:"published,omitzero"    xml:"publication_date"`
}

// The types of values are lenient: an invalid text leaves the zero value, or no priority.
type (
	// Text is trimmed and valid UTF-8, of bounded length.
	Text string
	// Time is a date and time. As in the W3C profile of ISO 8601, it may be only a year or month.
	Time struct{ time.Time }
	// Seconds is a duration of less than a million seconds.
	Seconds int
	// Priority is from 0 to 1, relative to other pages of the site; -1 if the file has none.
	Priority float64
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text(truncate.To(strings.ToValidUTF8(strings.TrimSpace(string(text)), "\ufffd"), maxExtraText))
	return nil
}

var shortDate = lazyregexp.New(`^[0-9]{4}(?:-[0-9]{2})?$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	written := strings.TrimSpace(string(text))
	if shortDate().MatchString(written) {
		written += "-01-01"[:len(time.DateOnly)-len(written)]
	}
	d, _ := dates.Parse(written, time.UTC)
	t.Time = d.Time
	return nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Seconds) UnmarshalText(text []byte) error {
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 0 && n < 1_000_000 {
		*s = Seconds(n)
	}
	return nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Priority) UnmarshalText(text []byte) error {
	if f, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil && f >= 0 && f <= 1 {
		*p = Priority(f)
	}
	return nil
}

// IsZero reports whether the file has no priority.
func (p Priority) IsZero() bool { return p < 0 }

var frequencies = []Text{"", "always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}

// clean drops values of an entry that the protocol does not allow.
func (e *Entry) clean() {
	e.Modified, e.LastMod = e.LastMod.Time, Time{}
	if e.ChangeFreq = Text(strings.ToLower(string(e.ChangeFreq))); !slices.Contains(frequencies, e.ChangeFreq) {
		e.ChangeFreq = ""
	}
	alternates := e.Alternates
	e.Alternates = nil
	for _, a := range alternates {
		a.URL = weburl.EscapeInvalid(strings.TrimSpace(a.URL))
		if strings.EqualFold(a.Rel, "alternate") && a.URL != "" && len(a.URL) <= maxURL {
			e.Alternates = append(e.Alternates, Alternate{URL: a.URL, Language: truncate.To(strings.TrimSpace(a.Language), maxExtraText)})
		}
	}
	if e.News != nil && *e.News == (News{}) {
		e.News = nil
	}
}
