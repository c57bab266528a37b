package pages

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/ops/seeds"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
)

// seedsPage is the form that feeds URLs, and what became of those that were sent.
type seedsPage struct {
	Crawl, Text, Priority string
	Names                 []string
	Refused               string
	Dry                   bool // nothing was submitted
	*api.SeedVerdicts
}

// Lines is how many seeds there were.
func (p seedsPage) Lines() int { return p.Accepted + p.Repeated + p.Excluded + p.NoURL }

func (up urlPages) seeds(r *http.Request) (any, error) {
	return seedsPage{Crawl: r.FormValue("crawl"), Names: up.crawlNames(r), Priority: "5"}, allowed(r, caller.Write)
}

// maxSeeds bounds what a form sends, in bytes; shownAgain what of it is put into the form again.
const (
	maxSeeds   = 16 << 20
	shownAgain = 256 << 10
	manyLines  = 1000 // beyond these only problems are shown
)

// feed is POST /seeds, and POST /seeds/check, which feeds nothing.
func (up urlPages) feed(w http.ResponseWriter, r *http.Request) {
	text, err := seedText(r)
	p := seedsPage{Names: up.crawlNames(r), Crawl: strings.TrimSpace(r.FormValue("crawl")), Priority: r.FormValue("priority"), Dry: strings.HasSuffix(r.URL.Path, "/check")}
	if len(text) <= shownAgain {
		p.Text = text
	}
	if err == nil && p.Crawl == "" {
		err = badInput{errors.New("name the crawl to add URLs to")}
	}
	if err == nil {
		p.SeedVerdicts = new(api.SeedVerdicts)
		err = up.carryOut(r, http.MethodPost, p.path(text), []byte(text), "text/plain", p.SeedVerdicts)
	}
	status := http.StatusOK
	if err != nil {
		p.SeedVerdicts, p.Refused, status = nil, err.Error(), statusOf(err)
	} else if !p.Dry {
		p.Text = ""
		up.Feed.Refresh()
	}
	up.render(w, r, status, "seeds", "Seeds", p)
}

// path is that of the API: verdicts of all lines are shown where they are few.
func (p seedsPage) path(text string) string {
	path, q := "/crawls/"+url.PathEscape(p.Crawl)+"/seeds", make(url.Values)
	if p.Dry {
		path += "/check"
	}
	if strings.Count(text, "\n") < manyLines {
		q.Set("verdicts", "all")
	}
	if p.Priority != "" {
		q.Set("priority", p.Priority)
	}
	return path + "?" + q.Encode()
}

// seedText is what was pasted, and what is in the file after it.
func seedText(r *http.Request) (string, error) {
	//nolint:gosec // package serve bounds the bodies of requests
	if err := r.ParseMultipartForm(maxSeeds); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", badInput{fmt.Errorf("the form cannot be read (%w): at most %s are taken at once", err, humanize.Size(maxSeeds))}
	}
	text := plainLines(r.FormValue("text"))
	file, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return text, nil
	}
	if err != nil {
		return "", badInput{err}
	}
	defer file.Close()
	more, err := io.ReadAll(io.LimitReader(file, maxSeeds))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + string(more), err
}

// verdictMarks are how verdicts are marked.
var verdictMarks = map[string]string{seeds.Accepted: "good", seeds.Repeated: "", seeds.Excluded: "warn", seeds.NoURL: "bad"}
