package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"seine/internal/ops/overview"
	"seine/pkg/stages/frontier/frontierapi"
)

// row is a row of a panel.
type row struct {
	key    string // unique, and stable over refreshes
	cells  []string
	style  style
	crawls []string // of a host: the crawls with work for it
	detail []string // of an error
}

// rows returns the rows of a panel that pass the filter.
func (m *Model) rows(p panel) (rows []row) {
	if m.look == nil {
		return nil
	}
	switch p {
	case crawlsPanel:
		rows = crawlRows(m.look.Crawls, m.now)
	case hostsPanel:
		rows = hostRows(m.hosts(), m.now)
	case errorsPanel:
		rows = errorRows(m.look)
	case panels:
	}
	if m.filter == "" {
		return rows
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		text := strings.Join(append([]string{r.key}, r.cells...), " ")
		return !strings.Contains(strings.ToLower(text), strings.ToLower(m.filter))
	})
}

// hosts returns the hosts in the selected order.
func (m *Model) hosts() []frontierapi.HostStatus {
	s := m.look.Hosts
	if s == nil {
		return nil
	}
	switch m.order {
	case byQueue:
		return s.Longest
	case byRequests:
		return s.Busiest
	case bySlow, orders:
	}
	return s.Slowest
}

// crawlRows lists active crawls first.
func crawlRows(crawls []overview.Crawl, now time.Time) (rows []row) {
	sorted := make([]*overview.Crawl, len(crawls))
	for i := range crawls {
		sorted[i] = &crawls[i]
	}
	slices.SortStableFunc(sorted, func(a, b *overview.Crawl) int { return cmp.Compare(rank(a), rank(b)) })
	for _, c := range sorted {
		r := row{key: c.Name, style: crawlStyle(c)}
		switch {
		case c.Unasked:
			r.cells = []string{clean(c.Name), "…"}
		case c.Problem != "":
			r.cells = []string{clean(c.Name), "no answer"}
		default:
			eta := "-"
			if !c.ETA.IsZero() {
				eta = until(c.ETA, now)
			}
			r.cells = []string{
				clean(c.Name), c.StateInWords().Word, short(c.Queued + c.Waiting), short(c.InFlight + c.Parsing), short(c.Done), short(c.Failed),
				short(c.ExcludedURLs()), fmt.Sprintf("%.1f", c.Rate), eta,
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func rank(c *overview.Crawl) int {
	switch {
	case c.Unasked:
		return 4
	case c.Problem != "":
		return 0
	case c.StateInWords().Word == string(overview.Running):
		return 1
	case c.State == overview.Paused:
		return 2
	}
	return 3
}

func crawlStyle(c *overview.Crawl) style {
	switch {
	case c.Unasked:
		return faint
	case c.Problem != "":
		return bad
	case c.State == overview.Paused:
		return warn
	case c.State == overview.Cancelled || c.End != frontierapi.NotEnded:
		return faint
	}
	return plain
}

func hostRows(hosts []frontierapi.HostStatus, now time.Time) (rows []row) {
	for i := range hosts {
		h := &hosts[i]
		r := row{key: h.Host, style: hostStyle(h)}
		for _, w := range h.Crawls {
			r.crawls = append(r.crawls, w.Crawl)
		}
		r.cells = []string{
			clean(h.Host), short(int64(h.Queued)), short(int64(h.InFlight)), short(h.Requests), short(h.Errors),
			milliseconds(h.MeanMS), milliseconds(h.DelayMS), waits(h, now),
		}
		rows = append(rows, r)
	}
	return rows
}

// waits describes what a host waits for, and for how long.
func waits(h *frontierapi.HostStatus, now time.Time) string {
	switch {
	case h.Why == "" && h.InFlight > 0:
		return frontierapi.Asked
	case h.Why == "":
		return frontierapi.Due
	case h.Why == "parked", h.Why == "given_up":
		return h.Why
	}
	return h.Why + " " + until(time.UnixMilli(h.NextMS), now)
}

func hostStyle(h *frontierapi.HostStatus) style {
	switch h.Why {
	case "breaker_open", "given_up":
		return bad
	case "backoff", "retry_after", "parked":
		return warn
	}
	return plain
}

// errorRows returns failed requests and dead letters, the newest first.
func errorRows(o *overview.Overview) (rows []row) {
	type dated struct {
		at int64
		row
	}
	var all []dated
	if o.Hosts != nil {
		for i := range o.Hosts.Troubles {
			t := &o.Hosts.Troubles[i]
			all = append(all, dated{t.AtMS, troubleRow(t)})
		}
	}
	for _, l := range o.DeadLast {
		at := time.Time(l.Time)
		all = append(all, dated{at.UnixMilli(), row{
			key: fmt.Sprintf("dead %d", l.Seq), style: bad,
			cells: []string{clock(at.UnixMilli()), "dead", clean(l.Crawl), clean(strings.TrimSpace(l.Stage + ": " + l.Reason + " " + l.URL))},
			detail: []string{
				fmt.Sprintf("dead letter %d of %s", l.Seq, l.Stage), "crawl   " + l.Crawl, "URL     " + l.URL, "why     " + l.Reason, "",
				fmt.Sprintf("seine dead show %d has all of it; seine dead redrive %d tries again", l.Seq, l.Seq),
			},
		}})
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(b.at, a.at) })
	for i := range all {
		rows = append(rows, all[i].row)
	}
	return rows
}

func troubleRow(t *frontierapi.RequestFailure) row {
	what := string(t.Class)
	if t.Status > 0 {
		what = fmt.Sprintf("%d %s", t.Status, what)
	}
	said := t.URL
	if t.Error != "" {
		said += "  " + t.Error
	}
	return row{
		key: fmt.Sprintf("%d %s %s %d", t.AtMS, t.Crawl, t.URL, t.Attempt), style: plain,
		cells: []string{clock(t.AtMS), what, clean(t.Crawl), clean(said)},
		detail: []string{
			what, "crawl   " + t.Crawl, "URL     " + t.URL, fmt.Sprintf("attempt %d, at %s", t.Attempt, clock(t.AtMS)), "error   " + t.Error, "",
			"seine explain --crawl " + t.Crawl + " '" + t.URL + "' tells the whole story",
		},
	}
}

// warnings returns the most important messages.
func warnings(o *overview.Overview) []string {
	lines := slices.Clone(o.Warnings)
	for i := range o.Alerts {
		a := &o.Alerts[i]
		lines = append(lines, clean(fmt.Sprintf("alert %s of crawl %s since %s: %s", a.Kind, a.Crawl, clock(a.Since.UnixMilli()), a.Text)))
	}
	for i := range o.Crawls {
		if c := &o.Crawls[i]; c.Problem != "" {
			lines = append(lines, clean("crawl "+c.Name+": "+c.Problem))
			break // the other crawls have the same problem
		}
	}
	return lines
}
