package pages

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"seine/internal/run/replay"
	"seine/internal/serve/replays"
	"seine/pkg/messages"
)

// replayPage is the form for a replay of a crawl, with a preview and the list of replays.
type replayPage struct {
	Crawl string
	replays.Request
	Spec    string
	Refused string
	Would   *replay.Preview // the preview
	Items   []replayShown   `json:"items"`
	Next    string          `json:"next"`
	Unknown string          // why there is no list
}

// replayShown is a replay in the list.
type replayShown struct{ replays.Replay }

// Chosen describes the selection of messages.
func (r replayShown) Chosen() string {
	c := replay.Selection{Host: r.Host, Since: replay.TimeSpec(r.Since), Until: replay.TimeSpec(r.Until), FromSeq: r.FromSeq}
	return c.String()
}

// ToFiles reports whether records are written to files.
func (r replayShown) ToFiles() bool { return r.To != replays.ToRecords }

func (p *replayPage) title() string { return "Replay of crawl " + p.Crawl }

func (rp recordPages) replay(r *http.Request) (any, error) {
	p := &replayPage{Crawl: r.PathValue("crawl")}
	p.Of = replays.Pages
	return p, rp.listReplays(r, p)
}

// listReplays reads the replays of a crawl, which may have been deleted.
func (rp recordPages) listReplays(r *http.Request, p *replayPage) error {
	if err := messages.CheckCrawl(p.Crawl); err != nil {
		return badInput{err}
	}
	err := rp.get(r, pathOfReplays(p.Crawl), p, "limit", strconv.Itoa(perPage), "cursor", r.FormValue("before"))
	if no, ok := errors.AsType[*refusal](err); ok && no.Status == http.StatusConflict {
		p.Unknown = no.Detail
		return nil
	}
	return err
}

func pathOfReplays(crawl string) string { return "/crawls/" + url.PathEscape(crawl) + "/replays" }

// beginReplay handles POST /crawls/{crawl}/replay, and POST /crawls/{crawl}/replay/check, which
// only previews it.
func (rp recordPages) beginReplay(w http.ResponseWriter, r *http.Request) {
	p := askedReplay(r)
	body := map[string]any{"of": p.Of, "to": p.To, "host": p.Host, "since": p.Since, "until": p.Until, "folder": p.Folder, "format": p.Format}
	for name, value := range body {
		if value == "" {
			delete(body, name)
		}
	}
	if p.Spec != "" {
		body["spec"] = p.Spec
	}
	var err error
	if strings.HasSuffix(r.URL.Path, "/check") {
		p.Would = new(replay.Preview)
		err = rp.carryOutJSON(r, http.MethodPost, pathOfReplays(p.Crawl)+"/check", body, p.Would)
	} else if err = rp.carryOutJSON(r, http.MethodPost, pathOfReplays(p.Crawl), body, nil); err == nil {
		rp.done(w, r, "/crawls/"+p.Crawl+"/replay", "The replay has begun, or waits for others to end.")
		return
	}
	status := http.StatusOK
	if err != nil {
		p.Would, p.Refused, status = nil, err.Error(), statusOf(err)
	}
	if err := rp.listReplays(r, p); err != nil {
		rp.failed(w, r, err)
		return
	}
	rp.render(w, r, status, "replay", p.title(), p)
}

// askedReplay returns the replay of a form.
func askedReplay(r *http.Request) *replayPage {
	field := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	p := &replayPage{Crawl: r.PathValue("crawl"), Spec: strings.TrimSpace(plainLines(r.FormValue("spec")))}
	p.Of, p.To = replays.Source(field("of")), replays.Target(cmp.Or(field("to"), string(replays.ToFiles)))
	p.Host, p.Since, p.Until, p.Folder, p.Format = field("host"), field("since"), field("until"), field("folder"), field("format")
	return p
}

// replayVerbs are the actions on a replay, with their messages.
var replayVerbs = map[string]struct{ method, path, said string }{
	"resume": {http.MethodPost, "/resume", "The replay continues."},
	"forget": {http.MethodDelete, "", "The replay is removed; its output stays."},
}

// steerReplay handles POST /crawls/{crawl}/replay/{id}/{verb}.
func (rp recordPages) steerReplay(r *http.Request) (to, said string, err error) {
	crawl, do := r.PathValue("crawl"), replayVerbs[r.PathValue("verb")]
	if do.method == "" {
		return "", "", errNoPage
	}
	err = rp.carryOut(r, do.method, pathOfReplays(crawl)+"/"+url.PathEscape(r.PathValue("id"))+do.path, nil, "", nil)
	return "/crawls/" + crawl + "/replay", do.said, err
}
