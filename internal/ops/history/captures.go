package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/output/warc"
)

// Capture is a record of an archive, from the archive's index.
type Capture struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	// Timestamp is the time of the fetch in UTC, as 14 digits.
	Timestamp string `json:"timestamp"`
	Status    string `json:"status,omitempty"`
	MIME      string `json:"mime,omitempty"`
}

// isArchive reports whether an output is an archive, judging by its newest commit.
func (f *finder) isArchive(refs []output.Ref) (bool, error) {
	if len(refs) == 0 || f.q.TableOf != nil {
		return false, nil
	}
	c, err := f.q.Out.Read(refs[len(refs)-1])
	if err != nil {
		return false, fmt.Errorf("read commits: %w", err)
	}
	return slices.ContainsFunc(c.Files, func(file output.File) bool {
		return file.IndexOf != "" || format.IsArchive(file.Path)
	}), nil
}

// captures finds the records of the URL in an archive, using the indexes of the commits that may
// contain responses of its attempts. It reads commits from the last to the first; each holds the
// messages since the previous one.
func (f *finder) captures(refs []output.Ref) error {
	ws := merged(f.windows())
	var newer *output.Commit
	for i := len(refs) - 1; i >= 0 && len(ws) > 0; i-- {
		c, err := f.q.Out.Read(refs[i])
		if err != nil {
			return fmt.Errorf("read commits: %w", err)
		}
		if err := f.capturesOf(newer, c.Stored, ws); err != nil {
			return err
		}
		if newer = c; c.Stored.Before(ws[0].From) {
			return nil
		}
	}
	return f.capturesOf(newer, time.Time{}, ws)
}

// capturesOf searches the indexes of a commit, if its messages, stored after the given time, may
// belong to an attempt.
func (f *finder) capturesOf(c *output.Commit, after time.Time, ws []timeRange) error {
	if c == nil || !slices.ContainsFunc(ws, func(w timeRange) bool { return !c.Stored.Before(w.From) && after.Before(w.To) }) {
		return nil
	}
	for _, file := range c.Files {
		switch {
		case file.Crawl != f.Crawl:
		case ageencrypt.Is(file.Path):
			f.Sealed = true
		case file.IndexOf != "":
			if err := f.lookUp(file); err != nil {
				return fmt.Errorf("read %s: %w", file.Path, err)
			}
		}
	}
	return nil
}

// lookUp searches a sorted index for the URL.
func (f *finder) lookUp(index output.File) (err error) {
	in, err := f.q.Out.Open(index)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	want := warc.SURT(f.URL) + " "
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		if rest, ok := strings.CutPrefix(line, want); ok {
			if err := f.capture(index.IndexOf, rest); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && line[:min(len(line), len(want))] > want {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// capture parses the rest of an index line after the key.
func (f *finder) capture(file, rest string) error {
	timestamp, text, _ := strings.Cut(rest, " ")
	var e struct {
		URL    string      `json:"url"`
		MIME   string      `json:"mime"`
		Status string      `json:"status"`
		Offset json.Number `json:"offset"`
		Length json.Number `json:"length"`
	}
	if err := jsontext.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	if e.URL != f.URL { // another URL with the same sort key
		return nil
	}
	c := Capture{File: file, Timestamp: timestamp, Status: e.Status, MIME: e.MIME}
	var err error
	if c.Offset, err = e.Offset.Int64(); err == nil {
		c.Length, err = e.Length.Int64()
	}
	f.Captures = append(f.Captures, c)
	return err
}
