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

// Options are what Run shows.
type Options struct {
	Crawl string        // only this one; "" for all
	Every time.Duration // between two looks
}

// lookTime bounds one look.
const lookTime = 15 * time.Second

// Run shows the screen on the terminal until the user quits or ctx is done.
func Run(ctx context.Context, bus *stages.Bus, o Options) error {
	p := &program{
		ctx: ctx, source: newSource(bus, o.Crawl),
		model: New(bus.NC.ConnectedUrlRedacted(), o.Crawl, o.Every, time.Now()),
	}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if os.Getenv("NO_COLOR") != "" { // whatever its value: no-color.org
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(p, options...).Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// program puts a Model on a terminal.
type program struct {
	ctx    context.Context
	source *source
	model  Model
}

// Init begins the ticking.
func (p *program) Init() tea.Cmd { return func() tea.Msg { return Tick{time.Now()} } }

// Update hands the model what happened.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var event any
	var next tea.Cmd
	switch msg := msg.(type) {
	case Tick:
		event = msg
		next = tea.Tick(min(p.model.Every, time.Second), func(t time.Time) tea.Msg { return Tick{t} })
	case tea.WindowSizeMsg:
		event = Size{msg.Width, msg.Height}
	case tea.KeyPressMsg:
		event = key(msg)
	case tea.PasteMsg:
		return p, nil
	default:
		event = msg
	}
	var effects []any
	p.model, effects = p.model.Update(event)
	commands := []tea.Cmd{next}
	for _, e := range effects {
		commands = append(commands, p.do(e))
	}
	return p, tea.Batch(commands...)
}

// key names a key as Model knows it: by the character that it writes, if any.
func key(msg tea.KeyPressMsg) Key {
	if k := msg.Key(); k.Text != "" {
		return Key(k.Text)
	}
	return Key(msg.String())
}

// do returns the command for an effect.
func (p *program) do(effect any) tea.Cmd {
	if _, ok := effect.(Quit); ok {
		return tea.Quit
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, lookTime)
		defer cancel()
		switch e := effect.(type) {
		case Refresh:
			return p.source.refresh(ctx, e.First)
		case LoadHost:
			return p.source.host(ctx, e.Name)
		case Steer:
			return p.source.steer(ctx, e)
		}
		return nil
	}
}

// View draws the model.
func (p *program) View() tea.View {
	v := tea.NewView(strings.Join(p.model.View(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "seine top"
	return v
}
