// Package top is a terminal screen that shows a cluster: its stages, streams, crawls, hosts and
// errors. Model is a tea.Model with everything except access to the cluster, which is in source.go:
// the view and the effect of keys are functions of it.
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
	Server string // source of the figures
	Options

	cluster       cluster
	width, height int
	now           time.Time
	looking       bool
	nextLook      time.Time
	look          *overview.Overview
	lookErr       error // of the last refresh
	connected     bool

	panel     panel
	selected  [panels]string // key of the selected row, "" for the first
	order     order
	filter    string
	typing    bool // the filter is being edited
	overlay   overlay
	scroll    int // lines of the overlay above the screen
	host      hostView
	confirm   *Steer
	result    string // result of the last order
	resultBad bool
}

// panel is a list with a selected row.
type panel int

const (
	crawlsPanel panel = iota
	hostsPanel
	errorsPanel
	panels
)

// order is the sort order of hosts.
type order int

const (
	bySlow order = iota
	byQueue
	byRequests
	orders
)

// overlay is a view that covers the lists.
type overlay int

const (
	noOverlay overlay = iota
	helpOverlay
	detailOverlay // of the selected row
)

// hostView is the detail of a host.
type hostView struct {
	name string
	*Host
	err error
}

// Host is a host in detail.
type Host struct {
	frontierapi.HostStatus
	Robots []overview.Robots
}

// newModel returns a model without data.
func newModel(server string, o Options, c cluster, now time.Time) Model {
	return Model{Server: server, Options: o, cluster: c, now: now, connected: true, width: 80, height: 24}
}

// cluster reads data for the screen and sends its orders.
type cluster interface {
	// refresh reads everything and returns Looked. If there are many crawls, those in first are
	// read, because they are visible.
	refresh(first []string) tea.Msg
	host(name string) tea.Msg  // HostLooked
	steer(order Steer) tea.Msg // Steered
}

// Messages for Update, in addition to those of bubbletea.
type (
	tick time.Time
	// Looked is the result of a refresh.
	Looked struct {
		Overview  *overview.Overview
		Err       error
		Connected bool
	}
	// HostLooked is the detail of a host.
	HostLooked struct {
		Name string
		Host *Host
		Err  error
	}
	// Steered is the result of an order.
	Steered struct {
		Steer
		Err error
	}
)

// Steer changes the state of crawls, or of one host in them.
type Steer struct {
	Crawls []string
	Host   string
	State  crawlspec.RunState
}

// Init starts the ticks.
func (m Model) Init() tea.Cmd { return func() tea.Msg { return tick(time.Now()) } }

// Update handles a message and returns the new model and the next command.
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
		m.result, m.resultBad = e.said(), e.Err != nil
		m.nextLook = m.now // refresh to show the effect
	}
	return m, cmd
}

// tick starts a refresh if it is due and the last one has ended.
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

// lateBy is the number of missed refreshes after which the figures are stale.
const lateBy = 3

// stale reports whether the figures are out of date.
func (m *Model) stale() bool {
	return m.look != nil && (m.lookErr != nil || m.now.Sub(m.look.At) > max(lateBy*m.Every, 5*time.Second))
}

// visibleCrawls returns the crawls to query if there are too many for all.
func (m *Model) visibleCrawls() (names []string) {
	rows := m.rows(crawlsPanel)
	at := m.cursor(crawlsPanel, rows)
	for i := max(0, at-m.height); i < min(len(rows), at+m.height); i++ {
		names = append(names, rows[i].key)
	}
	return names
}

// cursor returns the index of the selected row, 0 if that row is gone.
func (m *Model) cursor(p panel, rows []row) int {
	return max(0, slices.IndexFunc(rows, func(r row) bool { return r.key == m.selected[p] }))
}

// selectedRow returns the selected row of the active panel.
func (m *Model) selectedRow() (row, bool) {
	rows := m.rows(m.panel)
	if len(rows) == 0 {
		return row{}, false
	}
	return rows[m.cursor(m.panel, rows)], true
}
