package top

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"seine/internal/ops/steer"
	"seine/pkg/crawlspec"
)

// help says what the keys do.
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

// key does what a key asks for.
func (m Model) key(k string) (Model, []any) {
	switch {
	case k == "ctrl+c":
		return m, []any{Quit{}}
	case m.typing:
		m.typeFilter(k)
		return m, nil
	case m.confirm != nil:
		return m.answer(k)
	case m.overlay != noOverlay:
		return m.overlayKey(k)
	}
	m.said = ""
	switch k {
	case "q":
		return m, []any{Quit{}}
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
	return m, nil
}

// typeFilter takes a key for the filter.
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

// answer takes a key for the question whether to cancel.
func (m Model) answer(k string) (Model, []any) {
	order := *m.confirm
	m.confirm = nil
	if k == "y" || k == "Y" {
		return m, []any{order}
	}
	m.said, m.saidBad = "nothing was cancelled", false
	return m, nil
}

func (m Model) overlayKey(k string) (Model, []any) {
	switch k {
	case "q", "esc", "enter", "?", "backspace", "left":
		m.overlay, m.host = noOverlay, hostView{}
	case "p", "r", "c":
		if m.overlay == detailOverlay {
			return m.steer(k)
		}
	case "up", "k":
		m.scroll = max(0, m.scroll-1)
	case "down", "j":
		m.scroll++
	case "pgup":
		m.scroll = max(0, m.scroll-m.page())
	case "pgdown":
		m.scroll += m.page()
	case "home", "g":
		m.scroll = 0
	}
	m.scroll = min(m.scroll, max(0, len(m.overlayLines())-m.page()))
	return m, nil
}

// page is how many lines of an overlay fit.
func (m *Model) page() int { return max(1, m.height-4) }

// move changes the selected row.
func (m *Model) move(k string) {
	rows := m.rows(m.panel)
	if len(rows) == 0 {
		return
	}
	at := m.cursor(m.panel, rows)
	switch k {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= 10
	case "pgdown":
		at += 10
	case "home", "g":
		at = 0
	case "end", "G":
		at = len(rows) - 1
	default:
		return
	}
	m.selected[m.panel] = rows[min(max(at, 0), len(rows)-1)].key
}

// lookInto opens the detail of the selected row.
func (m Model) lookInto() (Model, []any) {
	r, ok := m.selectedRow()
	if !ok {
		return m, nil
	}
	m.selected[m.panel] = r.key // it stays the selected one while others come
	m.overlay, m.scroll, m.host = detailOverlay, 0, hostView{}
	if m.panel == hostsPanel {
		m.host = hostView{name: r.key}
		return m, []any{LoadHost{r.key}}
	}
	return m, nil
}

var states = map[string]crawlspec.RunState{"p": crawlspec.Paused, "r": crawlspec.Running, "c": crawlspec.Cancelled}

// steer gives the order of a key for the selected crawl or host.
func (m Model) steer(k string) (Model, []any) {
	r, ok := m.selectedRow()
	if !ok || m.panel == errorsPanel {
		m.said, m.saidBad = "select a crawl or a host first", true
		return m, nil
	}
	s := Steer{Crawls: []string{r.key}, State: states[k]}
	if m.panel == hostsPanel {
		s.Host, s.Crawls = r.key, r.crawls
		if m.Crawl != "" {
			s.Crawls = []string{m.Crawl}
		}
	}
	if len(s.Crawls) == 0 {
		m.said, m.saidBad = "no crawl has work for "+r.key, true
		return m, nil
	}
	if s.State == crawlspec.Cancelled {
		m.confirm = &s
		return m, nil
	}
	return m, []any{s}
}

// what names what an order is about.
func (s *Steer) what() string {
	what := "crawl " + strings.Join(s.Crawls, ", ")
	if s.Host != "" {
		what += " at " + steer.Where(s.Host)
	}
	return clean(what)
}

// said tells how an order ended.
func (s *Steered) said() string {
	switch {
	case s.Err != nil:
		return clean(fmt.Sprintf("%s: %v", s.what(), s.Err))
	case s.State == crawlspec.Running:
		return s.what() + " is resumed"
	}
	return fmt.Sprintf("%s is %s", s.what(), s.State)
}
