package top

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"seine/pkg/stages"
)

// Options configure Run.
type Options struct {
	Crawl string        // only this crawl; "" for all
	Every time.Duration // refresh interval
}

// Run shows the screen on the terminal until the user quits or ctx is done.
func Run(ctx context.Context, bus *stages.Bus, o Options) error {
	m := newModel(bus.NC.ConnectedUrlRedacted(), o, newSource(ctx, bus, o.Crawl), time.Now())
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if os.Getenv("NO_COLOR") != "" { // with any value: no-color.org
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(m, options...).Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// nameOf returns the name of a key: its character, if it has one.
func nameOf(msg tea.KeyPressMsg) string {
	if k := msg.Key(); k.Text != "" {
		return k.Text
	}
	return msg.String()
}

// View draws the model.
func (m Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "seine top"
	return v
}
