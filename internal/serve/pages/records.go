package pages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/safeprint"
	"seine/internal/base/truncate"
	"seine/internal/ops/overview"
	"seine/internal/ops/records"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// recordPages are the pages about the output and replays.
type recordPages struct{ *server }

// recordsPage shows the outputs and the newest records of a crawl.
type recordsPage struct {
	Crawl, Kind string
	Names       []string
	Outputs     []overview.Output
	Records     []recordShown
	Kinds       []choice // of the examined records
	Partial     bool
}

// recordShown is a record for display.
type recordShown struct {
	Stored           time.Time
	Kind, URL, Title string
	Text             string // indented JSON
}

const (
	recordsShown = 50
	maxRecord    = 8 << 10 // shown part of a record, in bytes
)

func (rp recordPages) records(r *http.Request) (any, error) {
	p := recordsPage{Crawl: r.FormValue("crawl"), Kind: r.FormValue("kind"), Names: rp.crawlNames(r)}
	if look := rp.look(r.Context()).Overview; look != nil {
		p.Outputs = look.Outputs
	}
	if p.Crawl == "" && len(p.Names) > 0 {
		p.Crawl = p.Names[0]
	}
	if p.Crawl == "" {
		return p, nil
	}
	if err := messages.CheckCrawl(p.Crawl); err != nil {
		return nil, badInput{err}
	}
	type end struct {
		records []records.Recent
		partial bool
	}
	found, err := asked(r.Context(), rp.server, "records "+p.Crawl, 2*fresh, func(ctx context.Context, bus *stages.Bus) (e end, err error) {
		e.records, e.partial, err = records.Newest(ctx, bus, records.Choice{Crawl: p.Crawl}, 1000)
		return e, err
	})
	if err != nil {
		return nil, err
	}
	p.Partial = found.partial
	kinds := make(map[string]int64)
	for _, record := range found.records {
		kinds[record.Kind]++
		if len(p.Records) < recordsShown && (p.Kind == "" || p.Kind == record.Kind) {
			p.Records = append(p.Records, shown(record))
		}
	}
	p.Kinds = byCount(kinds)
	return p, nil
}

// shown converts a record of the stream or of a file for display.
func shown(record records.Recent) recordShown {
	out := recordShown{Stored: record.Stored, Kind: record.Kind}
	var about struct {
		URL   string `json:"url"`
		Title string `json:"title"`
		Name  string `json:"name"`
		Meta  struct {
			URL string `json:"url"`
		} `json:"_meta"`
	}
	_ = jsontext.Unmarshal(record.Line, &about) // missing fields are not shown
	out.URL, out.Title = cmp.Or(about.URL, about.Meta.URL), cmp.Or(about.Title, about.Name)
	out.Text = pretty(record.Line, maxRecord)
	return out
}

// pretty returns indented JSON, truncated to most bytes.
func pretty(line []byte, most int) string {
	var text bytes.Buffer
	if json.Indent(&text, line, "", "  ") != nil {
		text.Reset()
		text.Write(line)
	}
	cut := truncate.To(text.String(), most)
	if len(cut) < text.Len() {
		cut += "…"
	}
	return safeprint.Lines(cut)
}
