package extract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"seine/internal/base/dates"
	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

// conversion converts texts as As says.
type conversion struct {
	as      string
	decimal byte
	layouts []string
	zone    *time.Location
}

func (c *compiler) conversion(f *crawlspec.Field, path string) conversion {
	out := conversion{as: f.As, layouts: f.Layout, zone: time.UTC}
	if f.Decimal != "" {
		out.decimal = f.Decimal[0]
	}
	if f.TimeZone != "" {
		zone, err := time.LoadLocation(f.TimeZone)
		if err != nil || f.TimeZone == "Local" {
			c.failed(path+".timezone", fmt.Errorf("%q: must be a name of the IANA time zone database, such as Europe/Berlin", f.TimeZone))
		} else {
			out.zone = zone
		}
	}
	for i, layout := range f.Layout {
		if err := checkLayout(layout); err != nil {
			at := path + ".layout"
			if len(f.Layout) > 1 {
				at = fmt.Sprintf("%s[%d]", at, i)
			}
			c.failed(at, err)
		}
	}
	return out
}

// checkLayout rejects a layout that does not distinguish days: it is in another notation, such as
// "%Y-%m-%d" or "YYYY-MM-DD".
func checkLayout(layout string) error {
	day := time.Date(2019, time.November, 23, 19, 47, 58, 0, time.UTC)
	back, err := time.Parse(layout, day.Format(layout))
	if err != nil || back.Year() != day.Year() && !strings.Contains(layout, "06") || back.Month() != day.Month() {
		return fmt.Errorf(`%q: must be a layout of Go, which writes 2 January 2006, 15:04:05, as in "02.01.2006"`, layout)
	}
	return nil
}

// value converts a value. It returns false if that is impossible.
func (c *conversion) value(r *run, v any) (any, bool) {
	if list, ok := v.([]any); ok && c.as != "" && c.as != "text" && c.as != "json" {
		return c.list(r, list)
	}
	text, isText := v.(string)
	switch c.as {
	case "":
		return v, true
	case "text":
		return textOfValue(v), true
	case "json":
		if !isText {
			return v, true
		}
		value, rest, err := document.Value([]byte(text))
		return value, err == nil && value != nil && len(bytes.Trim(rest, " \t\r\n;")) == 0
	case "number", "integer":
		return numberOf(v, c.decimal, c.as == "integer")
	case "boolean":
		if b, ok := v.(bool); ok {
			return b, true
		}
		return parseBoolean(textOfValue(v))
	case "date":
		if isNumber(v) {
			d, ok := dates.FromUnix(textOfValue(v))
			return d.String(), ok
		}
		return c.date(text)
	case "url":
		if !isText {
			return nil, false
		}
		u, err := r.doc.Resolve(text)
		return u, err == nil
	}
	return nil, false
}

// date returns a date as in RFC 3339: a date and time with its offset, or the date alone
// ("full-date") if the text has no time.
func (c *conversion) date(text string) (string, bool) {
	for _, layout := range c.layouts {
		if t, err := time.ParseInLocation(layout, text, c.zone); err == nil && len(text) <= dates.MaxText {
			clock := t.Format(layout) != t.Add(59*time.Minute+59*time.Second).Format(layout) || t.Format(layout) != t.Add(time.Hour).Format(layout)
			return dates.Date{Time: t, Clock: clock}.String(), t.Year() > 0
		}
	}
	d, ok := dates.Parse(text, c.zone)
	return d.String(), ok
}

// list converts the members of a list. It omits members that cannot be converted.
func (c *conversion) list(r *run, list []any) (any, bool) {
	out := make([]any, 0, len(list))
	for _, v := range list {
		if v, ok := c.value(r, v); ok {
			out = append(out, v)
		}
	}
	return out, len(out) > 0
}

func isNumber(v any) bool {
	switch v.(type) {
	case json.Number, int, float64, *big.Int:
		return true
	}
	return false
}

func parseBoolean(s string) (bool, bool) {
	if s = strings.TrimSpace(s); len(s) > len("false") {
		return false, false
	}
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1", "y", "t":
		return true, true
	case "false", "no", "off", "0", "n", "f":
		return false, true
	}
	return false, false
}
