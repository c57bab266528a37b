package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"seine/internal/base/humanize"
	"seine/internal/ops/overview"
	"seine/pkg/messages"
)

// overlayView returns the lines of the help or the details.
func (s display) overlayView() []string {
	lines := s.overlayLines()
	from := min(s.scroll, max(0, len(lines)-1))
	return lines[from:min(len(lines), from+s.page())]
}

func (m *Model) overlayLines() (lines []string) {
	if m.overlay == helpOverlay {
		return wrap(help, m.width)
	}
	switch m.panel {
	case hostsPanel:
		return wrap(m.hostLines(), m.width)
	case errorsPanel:
		if r, ok := m.selectedRow(); ok {
			return wrap(r.detail, m.width)
		}
	case crawlsPanel, panels:
		for i := range m.look.Crawls {
			if c := &m.look.Crawls[i]; c.Name == m.selected[crawlsPanel] {
				return wrap(crawlLines(c, m.now), m.width)
			}
		}
	}
	return []string{"it is gone"}
}

// wrap breaks long lines, at a space if possible.
func wrap(lines []string, width int) (out []string) {
	for _, l := range lines {
		for l = clean(l); ansi.StringWidth(l) > width; {
			head := ansi.Truncate(l, width, "")
			if at := strings.LastIndexByte(head, ' '); at > width/2 {
				head = head[:at]
			}
			out, l = append(out, head), indent+strings.TrimLeft(l[len(head):], " ")
		}
		out = append(out, l)
	}
	return out
}

// indent is the indentation of continued lines.
const indent = "         "

func crawlLines(c *overview.Crawl, now time.Time) []string {
	lines := []string{
		fmt.Sprintf("crawl %s: %s (revision %d of its spec)", c.Name, c.StateInWords().Word, c.Rev),
		"",
		fmt.Sprintf("pages    %s, %.1f/s, %s (%s on the wire)", humanize.Count(c.Pages), c.Rate, humanize.Size(c.BytesBody), humanize.Size(c.BytesWire)),
		fmt.Sprintf("known    %s URLs", humanize.Count(c.Known())),
		fmt.Sprintf("         %s done, %s failed", humanize.Count(c.Done), humanize.Count(c.Failed)),
		fmt.Sprintf("         %s queued, %s wait for another attempt", humanize.Count(c.Queued), humanize.Count(c.Waiting)),
		fmt.Sprintf("         %s in flight, %s being parsed", humanize.Count(c.InFlight), humanize.Count(c.Parsing)),
		"excluded " + humanize.ByCount(c.Excluded),
		"requests " + humanize.ByCount(c.Attempts),
	}
	if c.Started > 0 {
		lines = append(lines, "began    "+moment(c.Started)+", last moved "+moment(c.Changed))
	}
	if n := c.Next; n != nil && c.Pending() > 0 {
		lines = append(lines, fmt.Sprintf("waits    for %s: %s", n.Host, waits(n, now)))
	}
	if !c.ETA.IsZero() {
		lines = append(lines, "done in  "+until(c.ETA, now)+", if nothing more is found")
	}
	return lines
}

func hours(d time.Duration) string { return fmt.Sprintf("%.0f h", d.Hours()) }

func moment(ms int64) string { return time.UnixMilli(ms).Local().Format(time.DateTime) }

func (m *Model) hostLines() []string {
	lines := []string{"host " + m.host.name}
	if m.host.err != nil {
		lines = append(lines, "", "cannot look: "+m.host.err.Error())
	}
	h := m.host.Host
	if h == nil {
		return append(lines, "", "looking …")
	}
	lines = append(lines, "",
		fmt.Sprintf("queue    %s URLs, %d in flight", humanize.Count(int64(h.Queued)), h.InFlight),
		"waits    "+waits(&h.HostStatus, m.now),
		fmt.Sprintf("delay    %s between a response and the next request", milliseconds(h.DelayMS)))
	if h.SlowedMS > 0 {
		lines = append(lines, fmt.Sprintf("         slowed to %s, since it refused requests", milliseconds(h.SlowedMS)))
	}
	breaker := "closed"
	switch {
	case h.Why == "breaker_open", h.Why == "given_up":
		breaker = h.Why
	case h.Failing > 0:
		breaker = fmt.Sprintf("closed; it failed %d times in a row", h.Failing)
	}
	lines = append(lines,
		"breaker  "+breaker,
		fmt.Sprintf("so far   %s requests, %s pages, %s errors, %s, %s a request",
			humanize.Count(h.Requests), humanize.Count(h.Pages), humanize.Count(h.Errors), humanize.Size(h.Bytes), milliseconds(h.MeanMS)))
	if h.IP != "" {
		lines = append(lines, "address  "+h.IP)
	}
	for _, w := range h.Crawls {
		state := ""
		if w.Parked {
			state = ", parked: paused, cancelled, or its budget is spent"
		}
		lines = append(lines, fmt.Sprintf("crawl    %s: %s queued, %d in flight%s", w.Crawl, humanize.Count(int64(w.Queued)), w.InFlight, state))
	}
	lines = append(lines, m.robotsLines()...)
	for i := len(h.Last) - 1; i >= 0; i-- {
		a := &h.Last[i]
		lines = append(lines, fmt.Sprintf("answer   %s  %s %d, %s", clock(a.AtMS), a.Class, a.Status, milliseconds(a.TookMS)))
	}
	return lines
}

func (m *Model) robotsLines() (lines []string) {
	for _, r := range m.host.Robots {
		text := "robots   of " + r.Origin + ": "
		switch {
		case r.FetchedAt.IsZero():
			text += "is being fetched"
		case len(r.Body) == 0:
			text += fmt.Sprintf("none (status %d), asked %s ago", r.Status, m.now.Sub(r.FetchedAt).Round(time.Second))
		default:
			text += fmt.Sprintf("%s, fetched %s ago, valid for %s", humanize.Size(int64(len(r.Body))),
				m.now.Sub(r.FetchedAt).Round(time.Second), hours(messages.RobotsAge))
		}
		lines = append(lines, text)
	}
	if len(m.host.Robots) == 0 {
		lines = append(lines, "robots   not known yet")
	}
	if d := m.host.CrawlDelayMS; d > 0 {
		lines = append(lines, "         asks for "+milliseconds(d)+" between requests")
	}
	return lines
}
