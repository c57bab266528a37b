package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"seine/internal/base/humanize"
	"seine/internal/ops/overview"
)

// display draws a Model.
type display struct{ *Model }

// Sizes of a screen.
const (
	minWidth, minHeight = 60, 8
	low                 = 20  // lines below which only one list is shown
	tall                = 34  // lines from which each stream has its own line
	wide                = 130 // columns from which stages and streams are side by side
	most                = 120 // columns of a line of figures; wider lines are hard to read
	maxWarnings         = 3
)

// lines returns the lines of the screen, exactly filling its height and within its width.
func (m Model) lines() []string {
	d := display{&m}
	if m.width < minWidth || m.height < minHeight {
		return d.whole([]string{fmt.Sprintf("too small: %dx%d is needed", minWidth, minHeight)}, nil)
	}
	top := []string{d.title(), d.message()}
	if m.overlay != noOverlay {
		return d.whole(append(top, d.overlayView()...), []string{d.footer()})
	}
	if m.look == nil {
		return d.whole(append(top, "looking …"), []string{d.footer()})
	}
	body := d.warnings()
	if m.height >= low {
		body = append(body, d.stagesAndStreams()...)
	}
	body = append(body, d.lists(m.height-len(top)-len(body)-1)...)
	if m.stale() {
		for i, l := range body {
			body[i] = faint.of(ansi.Strip(l))
		}
	}
	return d.whole(append(top, body...), []string{d.footer()})
}

// whole fills the screen, with last at the bottom.
func (s display) whole(lines, last []string) []string {
	room := max(0, s.height-len(last))
	lines = lines[:min(len(lines), room)]
	for len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(lines, last...)
	lines = lines[:min(len(lines), max(0, s.height))]
	for i, l := range lines {
		lines[i] = strings.TrimRight(ansi.Truncate(guard(l), s.width, ""), " ")
	}
	return lines
}

func (s display) title() string {
	left := "seine top  " + clean(s.Server)
	if s.Crawl != "" {
		left += "  crawl " + s.Crawl
	}
	right := s.now.Local().Format(time.TimeOnly)
	if s.look != nil && s.look.Dead > 0 {
		right = short(int64(s.look.Dead)) + " dead letters  " + right
	}
	return heading.of(fit(left, s.width-len(right)-1) + " " + right)
}

// message returns the line for the most urgent message or question.
func (s display) message() string {
	switch {
	case s.confirm != nil:
		return warn.of(s.confirm.what() + ": drop all queued URLs? y/n")
	case s.typing:
		return "show only: " + clean(s.filter) + "_"
	case s.stale() || s.lookErr != nil:
		return bad.of(s.trouble())
	case s.result != "" && s.resultBad:
		return bad.of(s.result)
	case s.result != "":
		return good.of(s.result)
	case s.filter != "":
		return "only lines with \"" + clean(s.filter) + "\"; esc shows all"
	}
	return ""
}

// trouble describes why the figures are old, and since when.
func (s display) trouble() string {
	since := ""
	if s.look != nil {
		since = " since " + clock(s.look.At.UnixMilli())
	}
	switch {
	case s.lookErr == nil:
		return "no answer" + since + "; waiting"
	case !s.connected:
		return "connection lost" + since + "; trying again"
	}
	return clean("no answer" + since + "; trying again: " + s.lookErr.Error())
}

func (s display) footer() string {
	keys := s.widest(
		"? help  / filter  tab next list  enter details  p pause  r resume  c cancel  q quit",
		"? help  / filter  tab list  enter look  p pause  r resume  c cancel  q quit",
		"? help  / filter  tab list  enter look  q quit", // the help lists the others
	)
	switch {
	case s.confirm != nil:
		keys = "y cancel  any other key: leave it"
	case s.typing:
		keys = "enter done  esc show all"
	case s.overlay == detailOverlay && s.panel != errorsPanel:
		keys = "esc back  up down scroll  p pause  r resume  c cancel"
	case s.overlay != noOverlay:
		keys = "esc back  up down scroll"
	}
	return faint.of(keys)
}

// widest returns the first text that fits, otherwise the last.
func (s display) widest(texts ...string) string {
	for _, t := range texts {
		if len(t) <= s.width {
			return t
		}
	}
	return texts[len(texts)-1]
}

// warnings returns the warnings at the top of the screen.
func (s display) warnings() (lines []string) {
	all := warnings(s.look)
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

// stagesAndStreams places stages and streams side by side if there is room.
func (s display) stagesAndStreams() []string {
	switch {
	case s.width >= wide:
		half := s.width/2 - 1
		return append(beside(stageLines(s.look, half), streamLines(s.look, s.width-half-2), half), "")
	case s.height >= tall:
		width := min(s.width, most)
		return append(append(append(stageLines(s.look, width), ""), streamLines(s.look, width)...), "")
	}
	return append(stageLines(s.look, s.width), fewStreams(s.look, s.width)...)
}

// beside joins two blocks side by side; the first has the given width.
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
	space := width - 8 - 9 - 8 - 8 - 4 // of the bar and its percentage
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

// fewStreams puts several streams on a line, for small screens.
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

// lists distributes the remaining lines among the panels. Each gets its title and some rows; panels
// with more rows get more.
func (s display) lists(room int) (lines []string) {
	var all [panels][]row
	var has [panels]int // lines per panel
	for p := range panels {
		all[p] = s.rows(p)
	}
	if s.height < low || room < int(panels)*2 {
		return s.list(s.panel, all[s.panel], room)
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
		lines = append(lines, s.list(p, all[p], has[p])...)
	}
	return lines
}

var listColumns = [panels][]column{
	crawlsPanel: {
		{name: "CRAWLS"}, {name: "STATE", width: 13}, right("QUEUED", 6), right("ON WAY", 6), right("DONE", 6),
		right("FAILED", 6), {name: "EXCL.", width: 6, right: true, from: 80}, right("PAGES/S", 7), {name: "ETA", width: 6, right: true, from: 80},
	},
	hostsPanel: {
		{name: "HOSTS"}, right("QUEUED", 6), right("ON WAY", 6), {name: "REQ.", width: 6, right: true, from: 100},
		right("ERRORS", 6), right("MEAN", 7), {name: "DELAY", width: 7, right: true, from: 100}, {name: "WAITS FOR", width: 17},
	},
	errorsPanel: {{name: "ERRORS", width: 8}, {width: 18}, {width: 10}, {}},
}

// columns returns the visible columns of a panel and their total width.
func (s display) columns(p panel) (cols []column, width int) {
	for _, c := range listColumns[p] {
		if s.width >= c.from {
			cols = append(cols, c)
		}
	}
	if p == errorsPanel {
		return cols, s.width - 1
	}
	return cols, min(s.width-1, most)
}

// cells returns the cells of the visible columns.
func (s display) cells(p panel, all []string) (shown []string) {
	for i, cell := range all {
		if s.width >= listColumns[p][i].from {
			shown = append(shown, cell)
		}
	}
	return shown
}

// list returns a panel with a height, scrolled to the selected row.
func (s display) list(p panel, rows []row, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := []string{s.listTitle(p, rows)}
	cols, width := s.columns(p)
	at := s.cursor(p, rows)
	from := 0
	if at >= height-1 {
		from = at - (height - 2)
	}
	for i := from; i < len(rows) && len(lines) < height; i++ {
		mark, look := " ", rows[i].style
		if i == at && p == s.panel {
			mark, look = ">", chosen
		}
		lines = append(lines, look.of(mark+line(cols, s.cells(p, rows[i].cells), width)))
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

func (s display) listTitle(p panel, rows []row) string {
	cols, width := s.columns(p)
	cols[0].name += fmt.Sprintf(" (%d)", len(rows))
	switch p {
	case hostsPanel:
		cols[0].name = "HOSTS " + [...]string{"slowest", "longest queue", "most requests"}[s.order] + s.waitingHosts()
	case errorsPanel:
		cols = []column{{name: cols[0].name}}
	case crawlsPanel, panels:
	}
	mark := " "
	if p == s.panel {
		mark = "*"
	}
	return heading.of(mark + line(cols, names(cols), width))
}

// waitingHosts counts hosts by the reason why they wait, if there is room.
func (s display) waitingHosts() string {
	if s.width < wide || s.look.Hosts == nil {
		return ""
	}
	return "  (" + humanize.ByCount(s.look.Hosts.Hosts) + ")"
}
