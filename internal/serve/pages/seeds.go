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

// seedsPage is the form that adds URLs, with the results.
type seedsPage struct {
	Crawl, Text, Priority string
	Names                 []string
	Refused               string
	Dry                   bool // nothing was added
	*api.SeedVerdicts
}

// Lines returns the number of seeds.
func (p seedsPage) Lines() int { return p.Accepted + p.Repeated + p.Excluded + p.NoURL }

func (up urlPages) seeds(r *http.Request) (any, error) {
	return seedsPage{Crawl: r.FormValue("crawl"), Names: up.crawlNames(r), Priority: "5"}, allowed(r, caller.Write)
}

// maxSeeds bounds the data of a form, shownAgain the part that the form shows again, both in bytes.
const (
	maxSeeds   = 16 << 20
	shownAgain = 256 << 10
	manyLines  = 1000 // number of lines beyond which only problems are shown
)

// feed handles POST /seeds, and POST /seeds/check, which adds nothing.
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

// path returns the path of the API. It requests the verdicts of all lines if there are few.
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

// seedText returns the pasted text, followed by the content of the file.
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

// verdictMarks maps verdicts to CSS classes.
var verdictMarks = map[string]string{seeds.Accepted: "good", seeds.Repeated: "", seeds.Excluded: "warn", seeds.NoURL: "bad"}
