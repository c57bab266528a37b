package pages

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"

	"seine/internal/ops/overview"
	"seine/internal/ops/records"
	"seine/pkg/messages"
)

// filesPage lists committed files, the newest first.
type filesPage struct {
	Crawl, Writer string
	Names         []string
	Outputs       []overview.Output
	Files         []records.File `json:"items"`
	Next          string         `json:"next"`
	Refused       string         // why there is no list
}

// defaultWriter is the name of a writer without a name.
const defaultWriter = "default"

func (rp recordPages) files(r *http.Request) (any, error) {
	p := &filesPage{Crawl: r.FormValue("crawl"), Writer: cmp.Or(r.FormValue("writer"), defaultWriter), Names: rp.crawlNames(r)}
	if look := rp.look(r.Context()).Overview; look != nil {
		p.Outputs = look.Outputs
	}
	return p, p.refused(rp.get(r, "/files", p, "writer", p.Writer, "limit", strconv.Itoa(perPage), "crawl", p.Crawl, "cursor", r.FormValue("before")))
}

// refused handles an error that the page shows in place of the list.
func (p *filesPage) refused(err error) error {
	if no, ok := errors.AsType[*refusal](err); ok && (no.Status == http.StatusNotFound || no.Status == http.StatusConflict) {
		p.Refused = no.Detail
		return nil
	}
	return err
}

// filePage is the beginning of a file.
type filePage struct {
	Path, Crawl, Writer string
	Records             []recordShown
	Next                string // cursor of further records
}

func (p filePage) title() string { return path.Base(p.Path) }

// perPreview is the number of records of a file on a page.
const perPreview = 20

func (rp recordPages) file(r *http.Request) (any, error) {
	p := filePage{Path: r.FormValue("path"), Crawl: r.FormValue("crawl"), Writer: r.FormValue("writer")}
	var found struct {
		Items []json.RawMessage `json:"items"`
		Next  string            `json:"next"`
	}
	err := rp.get(r, "/records", &found, "file", p.Path, "writer", cmp.Or(p.Writer, defaultWriter), "limit", strconv.Itoa(perPreview), "cursor", r.FormValue("at"))
	if err != nil {
		return nil, err
	}
	for _, line := range found.Items {
		p.Records = append(p.Records, shown(records.Recent{Kind: messages.RecordKind(nil, line), Line: line}))
	}
	p.Next = found.Next
	return p, nil
}
