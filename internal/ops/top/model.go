// Package top is a live screen of a cluster: its stages, streams, crawls and
// hosts, and what goes wrong. Model is a tea.Model, which is all of the screen but the cluster:
// what it shows and what a key does is a function of it. source.go reads for it.
package top

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// Model is the state of the screen.
type Model struct {
	Server string // where the figures are from
	Options

	cluster       cluster
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

// newModel returns a model that has seen nothing yet.
func newModel(server string, o Options, c cluster, now time.Time) Model {
	return Model{Server: server, Options: o, cluster: c, now: now, connected: true, width: 80, height: 24}
}

// cluster reads for the screen, and gives its orders.
type cluster interface {
	// refresh reads everything: Looked. Of many crawls, first are those that are seen.
	refresh(first []string) tea.Msg
	host(name string) tea.Msg  // HostLooked
	steer(order Steer) tea.Msg // Steered
}

// Messages that Update knows, beside those of bubbletea.
type (
	tick time.Time
	// Looked is what a refresh read.
	Looked struct {
		Overview  *overview.Overview
		Err       error
		Connected bool
	}
	// HostLooked is what is known of a host.
	HostLooked struct {
		Name string
		Host *Host
		Err  error
	}
	// Steered says that an order was carried out, or why not.
	Steered struct {
		Steer
		Err error
	}
)

// Steer changes the state of crawls, or of what they want of a host.
type Steer struct {
	Crawls []string
	Host   string
	State  crawlspec.RunState
}

// Init begins the ticking.
func (m Model) Init() tea.Cmd { return func() tea.Msg { return tick(time.Now()) } }

// Update returns the model after a message, and what is to be done then.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch e := msg.(type) {
	case tick:
		next := tea.Tick(min(m.Every, time.Second), func(t time.Time) tea.Msg { return tick(t) })
		cmd = tea.Batch(next, m.tick(time.Time(e)))
	case tea.WindowSizeMsg:
		m.width, m.height = e.Width, e.Height
	case tea.KeyPressMsg:
		cmd = m.key(nameOf(e))
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
	return m, cmd
}

// tick looks, if it is time and the last look is over.
func (m *Model) tick(now time.Time) tea.Cmd {
	m.now = now
	if m.looking || now.Before(m.nextLook) {
		return nil
	}
	m.looking, m.nextLook = true, now.Add(m.Every)
	cluster, first, host := m.cluster, m.visibleCrawls(), m.host.name
	look := func() tea.Msg { return cluster.refresh(first) }
	if m.overlay != detailOverlay || host == "" {
		return look
	}
	return tea.Batch(look, func() tea.Msg { return cluster.host(host) })
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
