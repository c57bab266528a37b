package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"seine/internal/base/humanize"
	"seine/internal/ops/overview"
)

// Sizes of a screen.
const (
	minWidth, minHeight = 60, 8
	low                 = 20  // lines below which there is one list and nothing else
	tall                = 34  // lines from which streams have a line each
	wide                = 130 // columns from which stages and streams stand side by side
	most                = 120 // columns of a line of figures: further apart they are hard to read
	maxWarnings         = 3
)

// View returns the lines of the screen: as many as it is high, none wider than
// it is.
func (m Model) View() []string {
	if m.width < minWidth || m.height < minHeight {
		return m.whole([]string{fmt.Sprintf("too small: %dx%d is needed", minWidth, minHeight)}, nil)
	}
	top := []string{m.title(), m.message()}
	if m.overlay != noOverlay {
		return m.whole(append(top, m.overlayView()...), []string{m.footer()})
	}
	if m.look == nil {
		return m.whole(append(top, "looking …"), []string{m.footer()})
	}
	body := m.warnings()
	if m.height >= low {
		body = append(body, m.stagesAndStreams()...)
	}
	body = append(body, m.lists(m.height-len(top)-len(body)-1)...)
	if m.stale() {
		for i, l := range body {
			body[i] = faint.of(ansi.Strip(l))
		}
	}
	return m.whole(append(top, body...), []string{m.footer()})
}

// whole fills the screen, with the last lines at its end.
func (m *Model) whole(lines, last []string) []string {
	room := max(0, m.height-len(last))
	lines = lines[:min(len(lines), room)]
	for len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(lines, last...)
	lines = lines[:min(len(lines), max(0, m.height))]
	for i, l := range lines {
		lines[i] = strings.TrimRight(ansi.Truncate(guard(l), m.width, ""), " ")
	}
	return lines
}

func (m *Model) title() string {
	left := "seine top  " + clean(m.Server)
	if m.Crawl != "" {
		left += "  crawl " + m.Crawl
	}
	right := m.now.Local().Format(time.TimeOnly)
	if m.look != nil && m.look.Dead > 0 {
		right = short(int64(m.look.Dead)) + " dead letters  " + right
	}
	return heading.of(fit(left, m.width-len(right)-1) + " " + right)
}

// message is the line for what a person must know or answer now.
func (m *Model) message() string {
	switch {
	case m.confirm != nil:
		return warn.of(m.confirm.what() + ": drop all queued URLs? y/n")
	case m.typing:
		return "show only: " + clean(m.filter) + "_"
	case m.stale() || m.lookErr != nil:
		return bad.of(m.trouble())
	case m.said != "" && m.saidBad:
		return bad.of(m.said)
	case m.said != "":
		return good.of(m.said)
	case m.filter != "":
		return "only lines with \"" + clean(m.filter) + "\"; esc shows all"
	}
	return ""
}

// trouble says why the figures are old, and since when.
func (m *Model) trouble() string {
	since := ""
	if m.look != nil {
		since = " since " + clock(m.look.At.UnixMilli())
	}
	switch {
	case m.lookErr == nil:
		return "no answer" + since + "; waiting"
	case !m.connected:
		return "connection lost" + since + "; trying again"
	}
	return clean("no answer" + since + "; trying again: " + m.lookErr.Error())
}

func (m *Model) footer() string {
	keys := m.widest(
		"? help  / filter  tab next list  enter details  p pause  r resume  c cancel  q quit",
		"? help  / filter  tab list  enter look  p pause  r resume  c cancel  q quit",
		"? help  / filter  tab list  enter look  q quit", // the help has the others
	)
	switch {
	case m.confirm != nil:
		keys = "y cancel  any other key: leave it"
	case m.typing:
		keys = "enter done  esc show all"
	case m.overlay == detailOverlay && m.panel != errorsPanel:
		keys = "esc back  up down scroll  p pause  r resume  c cancel"
	case m.overlay != noOverlay:
		keys = "esc back  up down scroll"
	}
	return faint.of(keys)
}

// widest returns the first of some texts that has room, or else the last.
func (m *Model) widest(texts ...string) string {
	for _, t := range texts {
		if len(t) <= m.width {
			return t
		}
	}
	return texts[len(texts)-1]
}

// warnings are the lines at the top that are there only if something is wrong.
func (m *Model) warnings() (lines []string) {
	all := warnings(m.look)
	for i, w := range all {
		if i == maxWarnings-1 && len(all) > maxWarnings {
			w = fmt.Sprintf("and %d more: seine doctor lists all", len(all)-i)
		}
		if i < maxWarnings {
			lines = append(lines, warn.of("! "+w))
		}
	}
	return lines
}

// stagesAndStreams are side by side where there is room.
func (m *Model) stagesAndStreams() []string {
	switch {
	case m.width >= wide:
		half := m.width/2 - 1
		return append(beside(stageLines(m.look, half), streamLines(m.look, m.width-half-2), half), "")
	case m.height >= tall:
		width := min(m.width, most)
		return append(append(append(stageLines(m.look, width), ""), streamLines(m.look, width)...), "")
	}
	return append(stageLines(m.look, m.width), fewStreams(m.look, m.width)...)
}

// beside puts two blocks next to each other, the first so many columns wide.
func beside(left, right []string, width int) (lines []string) {
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines = append(lines, fit(l, width)+"  "+r)
	}
	return lines
}

var stageColumns = []column{
	{name: "STAGE"}, right("PROCESSES", 9), right("MSGS/S", 8), right("WAITING", 8), right("HELD", 8), right("REDELIV.", 8), right("DEAD", 6),
}

func stageLines(o *overview.Overview, width int) []string {
	lines := []string{heading.of(line(stageColumns, names(stageColumns), width))}
	for _, s := range o.Stages {
		look := plain
		if s.Instances == 0 {
			look = warn
		}
		lines = append(lines, look.of(line(stageColumns, []string{
			clean(s.Name), fmt.Sprint(s.Instances), fmt.Sprintf("%.0f", s.Rate), short(int64(s.Lag)), short(int64(s.InFlight)),
			short(int64(s.Redelivered)), short(int64(s.Dead)),
		}, width)))
	}
	return lines
}

func fullStyle(s *overview.Stream) style {
	switch {
	case s.NearlyFull():
		return bad
	case s.Full() > 0.5:
		return warn
	}
	return good
}

func streamLines(o *overview.Overview, width int) []string {
	cols := []column{{name: "STREAM", width: 8}, {name: "FULL"}, right("MESSAGES", 9), right("BYTES", 8), right("MSGS/S", 8)}
	lines := []string{heading.of(line(cols, names(cols), width))}
	space := width - 8 - 9 - 8 - 8 - 4 // of the bar, with its percent
	for i := range o.Streams {
		s := &o.Streams[i]
		part := s.Full()
		fill := fit("no limit", space)
		if s.Limit > 0 {
			fill = fullStyle(s).of(bar(part, min(space-8, 40))) + fmt.Sprintf(" %3.0f%%", 100*part)
		}
		rest := line(cols[2:], []string{short(int64(s.Messages)), humanize.Size(int64(s.Bytes)), fmt.Sprintf("%.0f", s.Rate)}, 9+1+8+1+8)
		lines = append(lines, fit(s.Name, 8)+" "+fit(fill, space)+" "+rest)
	}
	return lines
}

// fewStreams puts several streams on a line, for a small screen.
func fewStreams(o *overview.Overview, width int) (lines []string) {
	const cell = 20
	now, used := "", 0
	for i := range o.Streams {
		s := &o.Streams[i]
		part := s.Full()
		text := fit(s.Name, 7) + " " + fullStyle(s).of(bar(part, 4)) + fmt.Sprintf("%4.0f%%", 100*part)
		if s.Limit <= 0 {
			text = fit(s.Name, 7) + " " + fitRight(short(int64(s.Messages)), 5) + " msgs"
		}
		if used+cell > width {
			lines, now, used = append(lines, now), "", 0
		}
		now += fit(text, cell)
		used += cell
	}
	return append(lines, now)
}

// lists shares the lines that are left between the panels: each has its title
// and some rows, those that have more to show more of them.
func (m *Model) lists(room int) (lines []string) {
	var all [panels][]row
	var has [panels]int // lines
	for p := range panels {
		all[p] = m.rows(p)
	}
	if m.height < low || room < int(panels)*2 {
		return m.list(m.panel, all[m.panel], room)
	}
	left := room
	for p := range panels {
		has[p] = 2
		left -= 2
	}
	for given := true; left > 0 && given; {
		given = false
		for p := range panels {
			if left > 0 && has[p] < len(all[p])+2 { // with an empty line below
				has[p]++
				left--
				given = true
			}
		}
	}
	has[errorsPanel] += left
	for p := range panels {
		lines = append(lines, m.list(p, all[p], has[p])...)
	}
	return lines
}

var listColumns = [panels][]column{
	crawlsPanel: {
		{name: "CRAWLS"}, {name: "STATE", width: 11}, right("QUEUED", 6), right("ON WAY", 6), right("DONE", 6),
		right("FAILED", 6), {name: "EXCL.", width: 6, right: true, from: 80}, right("PAGES/S", 7), {name: "ETA", width: 6, right: true, from: 80},
	},
	hostsPanel: {
		{name: "HOSTS"}, right("QUEUED", 6), right("ON WAY", 6), {name: "REQ.", width: 6, right: true, from: 100},
		right("ERRORS", 6), right("MEAN", 7), {name: "DELAY", width: 7, right: true, from: 100}, {name: "WAITS FOR", width: 17},
	},
	errorsPanel: {{name: "ERRORS", width: 8}, {width: 18}, {width: 10}, {}},
}

// columns returns those of a panel that are shown, and how wide they are together.
func (m *Model) columns(p panel) (cols []column, width int) {
	for _, c := range listColumns[p] {
		if m.width >= c.from {
			cols = append(cols, c)
		}
	}
	if p == errorsPanel {
		return cols, m.width - 1
	}
	return cols, min(m.width-1, most)
}

// cells leaves out those of columns that are not shown.
func (m *Model) cells(p panel, all []string) (shown []string) {
	for i, cell := range all {
		if m.width >= listColumns[p][i].from {
			shown = append(shown, cell)
		}
	}
	return shown
}

// list shows a panel in so many lines, with the selected row among them.
func (m *Model) list(p panel, rows []row, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := []string{m.listTitle(p, rows)}
	cols, width := m.columns(p)
	at := m.cursor(p, rows)
	from := 0
	if at >= height-1 {
		from = at - (height - 2)
	}
	for i := from; i < len(rows) && len(lines) < height; i++ {
		mark, look := " ", rows[i].style
		if i == at && p == m.panel {
			mark, look = ">", chosen
		}
		lines = append(lines, look.of(mark+line(cols, m.cells(p, rows[i].cells), width)))
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

func (m *Model) listTitle(p panel, rows []row) string {
	cols, width := m.columns(p)
	cols[0].name += fmt.Sprintf(" (%d)", len(rows))
	switch p {
	case hostsPanel:
		cols[0].name = "HOSTS " + [...]string{"slowest", "longest queue", "most requests"}[m.order] + m.waitingHosts()
	case errorsPanel:
		cols = []column{{name: cols[0].name}}
	case crawlsPanel, panels:
	}
	mark := " "
	if p == m.panel {
		mark = "*"
	}
	return heading.of(mark + line(cols, names(cols), width))
}

// waitingHosts says how many hosts wait for what, where there is room.
func (m *Model) waitingHosts() string {
	if m.width < wide || m.look.Hosts == nil {
		return ""
	}
	return "  (" + humanize.ByCount(m.look.Hosts.Hosts) + ")"
}
