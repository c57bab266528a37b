package top

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"seine/internal/ops/steer"
	"seine/pkg/crawlspec"
)

// help describes the keys.
var help = []string{
	"up down k j         select; pgup pgdn home end too",
	"tab shift+tab       crawls, hosts, errors",
	"enter               show details of the selection; esc goes back",
	"p                   pause the selected crawl, or host",
	"r                   resume it",
	"c                   cancel it: drop queued URLs (asks first)",
	"s                   hosts: the slowest, the longest queues, the most requests",
	"/                   show only what has this in its line; esc shows all again",
	"?                   this help",
	"q ctrl+c            quit",
	"",
	"WAITING   messages that no process of the stage has been given yet",
	"HELD      those that are being worked on",
	"REDELIV.  those of them that were given out before",
	"DEAD      those that could not be handled: seine dead list",
	"ON WAY    URLs that are being fetched or parsed; of hosts, fetched",
	"ERRORS    requests that ended badly, and dead letters",
}

// key handles a key.
func (m *Model) key(k string) tea.Cmd {
	switch {
	case k == "ctrl+c":
		return tea.Quit
	case m.typing:
		m.typeFilter(k)
		return nil
	case m.confirm != nil:
		return m.answer(k)
	case m.overlay != noOverlay:
		return m.overlayKey(k)
	}
	m.result = ""
	switch k {
	case "q":
		return tea.Quit
	case "?", "h":
		m.overlay, m.scroll = helpOverlay, 0
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
	case "tab", "right", "l":
		m.panel = (m.panel + 1) % panels
	case "shift+tab", "left":
		m.panel = (m.panel + panels - 1) % panels
	case "s":
		m.order = (m.order + 1) % orders
	case "enter":
		return m.lookInto()
	case "p", "r", "c":
		return m.steer(k)
	default:
		m.move(k)
	}
	return nil
}

// typeFilter handles a key while the filter is edited.
func (m *Model) typeFilter(k string) {
	switch {
	case k == "enter":
		m.typing = false
	case k == "esc":
		m.typing, m.filter = false, ""
	case k == "backspace":
		_, size := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-size]
	case k == "ctrl+u":
		m.filter = ""
	case utf8.RuneCountInString(k) == 1 && unicode.IsPrint([]rune(k)[0]):
		m.filter += k
	}
}

// answer handles a key in response to the question whether to cancel.
func (m *Model) answer(k string) tea.Cmd {
	order := *m.confirm
	m.confirm = nil
	if k == "y" || k == "Y" {
		return m.send(order)
	}
	m.result, m.resultBad = "nothing was cancelled", false
	return nil
}

func (m *Model) overlayKey(k string) tea.Cmd {
	switch k {
	case "q", "esc", "enter", "?", "backspace", "left":
		m.overlay, m.host = noOverlay, hostView{}
	case "p", "r", "c":
		if m.overlay == detailOverlay {
			return m.steer(k)
		}
	}
	last := max(0, len(m.overlayLines())-m.page())
	m.scroll = moved(k, m.scroll, last, m.page())
	return nil
}

// page returns the number of lines of an overlay that fit the screen.
func (m *Model) page() int { return max(1, m.height-4) }

// move moves the selection.
func (m *Model) move(k string) {
	if rows := m.rows(m.panel); len(rows) > 0 {
		at := m.cursor(m.panel, rows)
		if to := moved(k, at, len(rows)-1, 10); to != at {
			m.selected[m.panel] = rows[to].key
		}
	}
}

// moved returns the new position for a key in a list that ends at last.
func moved(k string, at, last, page int) int {
	switch k {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= page
	case "pgdown":
		at += page
	case "home", "g":
		at = 0
	case "end", "G":
		at = last
	}
	return min(max(at, 0), last)
}

// lookInto opens the details of the selected row.
func (m *Model) lookInto() tea.Cmd {
	r, ok := m.selectedRow()
	if !ok {
		return nil
	}
	m.selected[m.panel] = r.key // keeps the selection when rows are added
	m.overlay, m.scroll, m.host = detailOverlay, 0, hostView{}
	if m.panel != hostsPanel {
		return nil
	}
	m.host = hostView{name: r.key}
	cluster := m.cluster
	return func() tea.Msg { return cluster.host(r.key) }
}

var states = map[string]crawlspec.RunState{"p": crawlspec.Paused, "r": crawlspec.Running, "c": crawlspec.Cancelled}

// steer sends the order of a key for the selected crawl or host.
func (m *Model) steer(k string) tea.Cmd {
	r, ok := m.selectedRow()
	if !ok || m.panel == errorsPanel {
		m.result, m.resultBad = "select a crawl or a host first", true
		return nil
	}
	s := Steer{Crawls: []string{r.key}, State: states[k]}
	if m.panel == hostsPanel {
		s.Host, s.Crawls = r.key, r.crawls
		if m.Crawl != "" {
			s.Crawls = []string{m.Crawl}
		}
	}
	switch {
	case len(s.Crawls) == 0:
		m.result, m.resultBad = "no crawl has work for "+r.key, true
		return nil
	case s.State == crawlspec.Cancelled:
		m.confirm = &s
		return nil
	}
	return m.send(s)
}

func (m *Model) send(order Steer) tea.Cmd {
	cluster := m.cluster
	return func() tea.Msg { return cluster.steer(order) }
}

// what describes the target of an order.
func (s *Steer) what() string {
	what := "crawl " + strings.Join(s.Crawls, ", ")
	if s.Host != "" {
		what += " at " + steer.Where(s.Host)
	}
	return clean(what)
}

// said describes the result of an order.
func (s *Steered) said() string {
	switch {
	case s.Err != nil:
		return clean(fmt.Sprintf("%s: %v", s.what(), s.Err))
	case s.State == crawlspec.Running:
		return s.what() + " is resumed"
	}
	return fmt.Sprintf("%s is %s", s.what(), s.State)
}
