package seeds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/frontier/state"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Values of Verdict.Verdict.
const (
	Accepted = "accepted" // the crawl accepts it
	Repeated = "repeated" // a repeat within the text
	Excluded = "excluded" // a rule of the spec excludes it, even as a seed
	NoURL    = "no_url"   // it is not a URL
)

// Verdict is the result for one seed.
type Verdict struct {
	Line    int    `json:"line"` // in the text, from 1
	Text    string `json:"text,omitempty"`
	URL     string `json:"url,omitempty"` // canonical
	Verdict string `json:"verdict" enum:"accepted,repeated,excluded,no_url"`
	Reason  string `json:"reason,omitempty"`
}

// Judge evaluates each line of a text as a seed of a crawl.
type Judge struct {
	// Take is called for each accepted seed; nil to only evaluate.
	Take func(messages.Seed) error
	// Report is called for each verdict, in order.
	Report func(Verdict)

	preview *state.ScopePreview
	urls    *weburl.Normalizer
	seen    map[string]bool
}

// NewJudge returns a Judge for a crawl with a valid spec.
func NewJudge(spec *crawlspec.Spec) (*Judge, error) {
	preview, err := state.NewScopePreview(spec, "https://example.org/", time.Now())
	if err != nil {
		return nil, fmt.Errorf("judge seeds: %w", err)
	}
	return &Judge{preview: preview, urls: spec.Normalizer(), seen: make(map[string]bool)}, nil
}

// MaxLines bounds the lines of one text.
const MaxLines = 100_000

// Read evaluates a text with one seed per line: a URL, or JSON as on the stream of seeds; # begins
// a comment. For a text that is too long it returns a *FormatError, after the preceding lines are
// evaluated and taken.
func (j *Judge) Read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxLine)
	n := 0
	for lines.Scan() {
		if n++; n > MaxLines {
			return &FormatError{fmt.Errorf("there are more than %d lines: send them in parts", MaxLines)}
		}
		if err := j.line(n, strings.TrimSpace(lines.Text())); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &FormatError{fmt.Errorf("line %d is longer than %s: send a URL a line", n+1, crawlspec.Bytes(MaxLine))}
	}
	return lines.Err()
}

func (j *Judge) line(n int, text string) error {
	text = strings.TrimPrefix(text, "\ufeff")
	if text == "" || text[0] == '#' {
		return nil
	}
	good, bad := messages.DecodeSeeds([]byte(text))
	for _, b := range bad {
		j.Report(Verdict{Line: n, Text: messages.Clip(b.Text), Verdict: NoURL, Reason: messages.Clip(b.Err.Error())})
	}
	for _, s := range good {
		v := j.judge(s.URL)
		if v.Line = n; v.Verdict == Accepted && j.Take != nil {
			if err := j.Take(s); err != nil {
				return err
			}
		}
		j.Report(v)
	}
	return nil
}

func (j *Judge) judge(url string) Verdict {
	v := Verdict{URL: j.urls.Normalize(url), Verdict: Accepted}
	if v.Reason = j.preview.EvaluateSeed(v.URL); v.Reason != "" {
		v.Verdict = Excluded
	}
	if j.seen[v.URL] {
		v.Verdict, v.Reason = Repeated, ""
	}
	j.seen[v.URL] = true
	return v
}
