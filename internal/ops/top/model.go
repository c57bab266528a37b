// Package top is a live screen of a cluster: its stages, streams, crawls and
// hosts, and what goes wrong. What it shows and what a key does is a function of
// a Model, without a terminal and without NATS (Update, View); program.go puts it
// on a terminal, and source.go reads for it.
package top

import (
	"slices"
	"time"

	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// Model is the state of the screen.
type Model struct {
	Server string // where the figures are from
	Crawl  string // the only crawl that is shown, "" for all
	Every  time.Duration

	width, height int
	now           time.Time
	looking       bool
	nextLook      time.Time
	look          *overview.Overview
	lookErr       error // of the last look
	connected     bool

	panel    panel
	selected [panels]string // key of the selected row, "" for the first
	order    order
	filter   string
	typing   bool // the filter
	overlay  overlay
	scroll   int // lines of the overlay that are above the screen
	host     hostView
	confirm  *Steer
	said     string // how the last order ended
	saidBad  bool
}

// panel is one of the lists that have a selected row.
type panel int

const (
	crawlsPanel panel = iota
	hostsPanel
	errorsPanel
	panels
)

// order is by what hosts are sorted.
type order int

const (
	bySlow order = iota
	byQueue
	byRequests
	orders
)

// overlay is what covers the lists.
type overlay int

const (
	noOverlay overlay = iota
	helpOverlay
	detailOverlay // of the selected row
)

// hostView is what is known of the host that is inspected.
type hostView struct {
	name string
	*Host
	err error
}

// Host is one host in detail.
type Host struct {
	frontierapi.HostStatus
	Robots []overview.Robots
}

// New returns a model that has seen nothing yet.
func New(server, crawl string, every time.Duration, now time.Time) Model {
	return Model{Server: server, Crawl: crawl, Every: every, now: now, connected: true, width: 80, height: 24}
}

// Events that Update knows.
type (
	// Tick says what time it is.
	Tick struct{ Now time.Time }
	// Size is that of the terminal.
	Size struct{ Width, Height int }
	// Key is what was pressed: a character, or a name such as "up" or "enter".
	Key string
	// Looked answers Refresh.
	Looked struct {
		Overview  *overview.Overview
		Err       error
		Connected bool
	}
	// HostLooked answers LoadHost.
	HostLooked struct {
		Name string
		Host *Host
		Err  error
	}
	// Steered answers Steer.
	Steered struct {
		Steer
		Err error
	}
)

// Effects that Update asks for.
type (
	// Refresh at everything. Of many crawls, First are those that are seen.
	Refresh struct{ First []string }
	// LoadHost looks at one host.
	LoadHost struct{ Name string }
	// Steer changes the state of crawls, or of what they want of a host.
	Steer struct {
		Crawls []string
		Host   string
		State  crawlspec.RunState
	}
	// Quit ends the screen.
	Quit struct{}
)

// Update returns the model after an event, and what is to be done then.
func (m Model) Update(event any) (Model, []any) {
	switch e := event.(type) {
	case Tick:
		return m.tick(e.Now)
	case Size:
		m.width, m.height = e.Width, e.Height
	case Key:
		return m.key(string(e))
	case Looked:
		m.looked(e)
	case HostLooked:
		if e.Name == m.host.name {
			m.host.err = e.Err
			if e.Host != nil {
				m.host.Host = e.Host
			}
		}
	case Steered:
		m.said, m.saidBad = e.said(), e.Err != nil
		m.nextLook = m.now // to show what has come of it
	}
	return m, nil
}

// tick looks, if it is time and the last look is over.
func (m Model) tick(now time.Time) (Model, []any) {
	m.now = now
	if m.looking || now.Before(m.nextLook) {
		return m, nil
	}
	m.looking, m.nextLook = true, now.Add(m.Every)
	todo := []any{Refresh{First: m.visibleCrawls()}}
	if m.overlay == detailOverlay && m.host.name != "" {
		todo = append(todo, LoadHost{m.host.name})
	}
	return m, todo
}

func (m *Model) looked(e Looked) {
	m.looking, m.lookErr, m.connected = false, e.Err, e.Connected
	if e.Err != nil {
		return
	}
	e.Overview.ComputeRates(m.look)
	m.look = e.Overview
}

// lateBy is how many looks may be missing before the figures count as old.
const lateBy = 3

// stale reports whether the figures are not those of now.
func (m *Model) stale() bool {
	return m.look != nil && (m.lookErr != nil || m.now.Sub(m.look.At) > max(lateBy*m.Every, 5*time.Second))
}

// visibleCrawls are the crawls to ask about if there are too many for all.
func (m *Model) visibleCrawls() (names []string) {
	rows := m.rows(crawlsPanel)
	at := m.cursor(crawlsPanel, rows)
	for i := max(0, at-m.height); i < min(len(rows), at+m.height); i++ {
		names = append(names, rows[i].key)
	}
	return names
}

// cursor is the place of the selected row; one that is gone leaves the first.
func (m *Model) cursor(p panel, rows []row) int {
	return max(0, slices.IndexFunc(rows, func(r row) bool { return r.key == m.selected[p] }))
}

// selectedRow returns the selected row of the panel that the keys are for.
func (m *Model) selectedRow() (row, bool) {
	rows := m.rows(m.panel)
	if len(rows) == 0 {
		return row{}, false
	}
	return rows[m.cursor(m.panel, rows)], true
}
