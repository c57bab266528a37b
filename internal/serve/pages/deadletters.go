package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/base/truncate"
	"seine/internal/ops/deadletters"
	"seine/internal/serve/caller"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// letterPages are the pages about dead letters.
type letterPages struct{ *server }

// deadPage is the list of dead letters.
type deadPage struct {
	Names   []string
	Stages  []choice // number of letters of each stage, of all crawls
	Total   uint64   // of all crawls and stages
	Causes  []cause  // of the selected letters, the most frequent first
	Letters []*deadletters.DeadLetter
	More    bool   // older letters than Matched may exist
	Before  string // cursor of older letters
	Matched int
	Upto    string // upper bound of the letters that a form applies to
}

// cause is the common part of the reasons of similar letters.
type cause struct {
	Stage, Reason string
	N             int
	Seq           uint64 // the newest letter
}

// deadMost bounds the letters that are grouped by cause, and those that a form applies to.
const deadMost = 500

func (lp letterPages) dead(r *http.Request) (any, error) {
	p := deadPage{Names: lp.crawlNames(r)}
	if look := lp.look(r.Context()).Overview; look != nil {
		p.Total = look.Dead
		for _, stage := range look.Stages {
			if stage.Dead > 0 {
				p.Stages = append(p.Stages, choice{strings.Fields(stage.Name)[0], int64(stage.Dead)})
			}
		}
	}
	f, before, err := deadFilter(r)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("dead %q %d", r.URL.RawQuery, before)
	found, err := asked(r.Context(), lp.server, key, fresh, func(ctx context.Context, bus *stages.Bus) (deadletters.Page, error) {
		return deadletters.Before(ctx, bus, f, before, deadMost)
	})
	if err != nil {
		return nil, err
	}
	p.Causes, p.Matched, p.More = causesOf(found.Letters), len(found.Letters), found.Next > 0
	p.Letters = found.Letters[:min(len(found.Letters), 2*perPage)]
	if p.Matched > 0 {
		p.Upto = strconv.FormatUint(found.Letters[0].Seq+1, 10)
	}
	switch {
	case len(p.Letters) < len(found.Letters):
		p.Before = strconv.FormatUint(p.Letters[len(p.Letters)-1].Seq, 10)
	case found.Next > 0:
		p.Before = strconv.FormatUint(found.Next, 10)
	}
	return p, nil
}

// deadFilter reads the filter of a request.
func deadFilter(r *http.Request) (f deadletters.Filter, before uint64, err error) {
	f, err = deadletters.Query{
		Stage: r.FormValue("stage"), Crawl: r.FormValue("crawl"), Reason: r.FormValue("reason"), Host: r.FormValue("host"), Since: r.FormValue("since"),
	}.Filter(time.Now())
	if err != nil {
		return f, 0, badInput{err}
	}
	if text := r.FormValue("before"); text != "" {
		if before, err = strconv.ParseUint(text, 10, 64); err != nil {
			return f, 0, badInput{fmt.Errorf("before %q: must be the number of a dead letter", text)}
		}
	}
	return f, before, nil
}

// causesOf groups letters by stage and cause.
func causesOf(letters []*deadletters.DeadLetter) (all []cause) {
	at := make(map[cause]int)
	for _, l := range letters {
		key := cause{Stage: l.Stage, Reason: causeOf(l.Reason)}
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key] = i
			all = append(all, cause{key.Stage, key.Reason, 0, l.Seq})
		}
		all[i].N++
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.N, a.N) })
	return all[:min(len(all), maxCauses)]
}

// maxCauses bounds the causes on a page.
const maxCauses = 12

// causeOf returns the common part of a reason: the text before numbers, quotes and URLs.
func causeOf(reason string) string {
	if i := strings.IndexAny(reason, "0123456789\"'"); i > 0 {
		reason = reason[:i]
	}
	if i := strings.Index(reason, "http"); i > 0 {
		reason = reason[:i]
	}
	return strings.TrimSpace(messages.Clip(reason))
}

// header is a header of a message.
type header struct{ Name, Text string }

// letterPage is the page of a dead letter.
type letterPage struct {
	*deadletters.DeadLetter
	Headers []header
	Text    string // shown part of the payload
	Cut     bool
}

func (p letterPage) title() string { return fmt.Sprintf("Dead letter %d", p.Seq) }

// maxPayload bounds the part of a payload that is shown, in bytes.
const maxPayload = 64 << 10

func (lp letterPages) letter(r *http.Request) (any, error) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return nil, badInput{fmt.Errorf("dead letter %q: must be a number", r.PathValue("seq"))}
	}
	l, err := asked(r.Context(), lp.server, "letter "+r.PathValue("seq"), fresh, func(ctx context.Context, bus *stages.Bus) (*deadletters.DeadLetter, error) {
		return deadletters.Get(ctx, bus, seq)
	})
	if err != nil {
		return nil, err
	}
	p := letterPage{DeadLetter: l, Cut: len(l.Message.Data) > maxPayload}
	for name, values := range l.Message.Header {
		if !strings.HasPrefix(name, "Seine-Dead-") {
			p.Headers = append(p.Headers, header{name, strings.Join(values, ", ")})
		}
	}
	slices.SortFunc(p.Headers, func(a, b header) int { return strings.Compare(a.Name, b.Name) })
	p.Text = safeprint.Lines(string(truncate.To(l.Message.Data, maxPayload)))
	if l.HasContent() && allowed(r, caller.Records) != nil {
		p.Text, p.Cut = "The payload may have records or text of pages: a token needs the scope records to see it.", false
	}
	return p, nil
}
