package warc

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IndexExt is the extension of indexes.
const IndexExt = "cdxj"

// MIMERevisit is the type that an index has for a revisit.
const MIMERevisit = "warc/revisit"

// Capture is a record in an index.
type Capture struct {
	URL    string
	Date   time.Time
	MIME   string // without parameters
	Status int
	Digest string // of the payload, as in the record
	// Method is the method of the request, and Query the encoding of its body in a key
	// (RequestQuery). Both are empty for GET.
	Method, Query string
	Extent
}

// Asked returns the URL, extended by parameters that distinguish its request from a GET of the same
// URL (https://iipc.github.io/warc-specifications/guidelines/cdx-non-get-requests/).
func (c *Capture) Asked() string {
	if c.Method == "" {
		return c.URL
	}
	url := c.URL + "?"
	if strings.Contains(c.URL, "?") {
		url = c.URL + "&"
	}
	url += "__wb_method=" + c.Method
	if c.Query != "" {
		url += "&" + c.Query
	}
	return url
}

// Index is a CDXJ index of one file. It is in memory until it is written: one line for each
// capture, with the URL's SURT, the time, and a JSON object, as for pywb and related tools
// (https://specs.webrecorder.net/cdxj/0.1.0/).
type Index struct{ lines []line }

// line is a capture with its sort key.
type line struct {
	key string
	Capture
}

// Add adds a capture.
func (x *Index) Add(c Capture) { x.lines = append(x.lines, line{SURT(c.Asked()), c}) }

// entry is the JSON of a line. Numbers are strings, as pywb's indexers write them; readers accept
// both.
type entry struct {
	URL      string `json:"url"`
	MIME     string `json:"mime,omitempty"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   string `json:"length"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
	Method   string `json:"method,omitempty"`
	Query    string `json:"requestBody,omitempty"`
}

// Write writes the index of the named file, sorted by bytes.
func (x *Index) Write(w io.Writer, filename string) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	slices.SortFunc(x.lines, compare)
	for i := range x.lines {
		l := &x.lines[i]
		_, digest, _ := strings.Cut(l.Digest, ":")
		if _, err := fmt.Fprintf(b, "%s %s ", l.key, l.timestamp()); err != nil {
			return err
		}
		err := e.Encode(entry{
			URL: l.URL, MIME: l.MIME, Status: status(l.Status), Digest: digest,
			Length: strconv.FormatInt(l.Length, 10), Offset: strconv.FormatInt(l.Offset, 10), Filename: filename,
			Method: l.Method, Query: l.Query,
		})
		if err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
	return b.Flush()
}

// compare orders lines as `LC_ALL=C sort` does.
func compare(a, b line) int {
	if c := strings.Compare(a.key+" "+a.timestamp(), b.key+" "+b.timestamp()); c != 0 {
		return c
	}
	return int(min(1, max(-1, a.Offset-b.Offset)))
}

func (l *line) timestamp() string { return l.Date.UTC().Format("20060102150405") }

func status(code int) string {
	if code == 0 {
		return ""
	}
	return strconv.Itoa(code)
}
