package frontier

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"seine/internal/base/installation"
	"seine/internal/frontier/state"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/stages"
)

// start does the same as the command at its start: it provisions the server and opens the store,
// which the caller closes.
func (t *takeoverFixture) start(bus *stages.Bus, cfg Config) (*Frontier, error) {
	t.t.Helper()
	if err := Provision(t.t.Context(), cfg, bus); err != nil {
		return nil, err
	}
	store, err := state.OpenStore(cfg.State, 1<<20, state.SyncOS, nil, bus.Log)
	t.must(err)
	specs, stop, err := stages.FollowSpecs(t.t.Context(), bus)
	t.must(err)
	t.t.Cleanup(stop)
	f, err := New(cfg, bus, specs, store)
	if err != nil {
		t.must(store.Close())
	}
	return f, err
}

// otherServer returns a connection to another, empty server.
func (t *takeoverFixture) otherServer() *stages.Bus {
	t.t.Helper()
	bus, err := stages.Dial(natstest.Start(t.t, natstest.Listening(t.t)).ClientURL(), t.t.Name(), t.bus.Log)
	t.must(err)
	t.t.Cleanup(bus.Close)
	return bus
}

// streams returns the names of the streams of a server.
func (t *takeoverFixture) streams(bus *stages.Bus) (names []string) {
	t.t.Helper()
	for name := range bus.JS.StreamNames(t.t.Context()).Name() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A frontier whose store belongs to another installation than the server's streams starts only with
// adopt. Otherwise it creates nothing on that server.
func TestStateOfAnotherInstallation_Refused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		provisioned int // partitions of the other server, 0 if it is empty
		adopt       bool
		want        string // "" if it starts
	}{
		"empty server":                  {want: "the server has no streams of Seine"},
		"empty server, adopted":         {adopt: true},
		"other installation":            {provisioned: 2, want: "than the streams at the server"},
		"other installation, adopted":   {provisioned: 2, adopt: true},
		"other layout, adopted":         {provisioned: 4, adopt: true, want: "with 2 partitions, and the streams have 4"},
		"empty server, other layout":    {adopt: true, provisioned: -4, want: "with 2 partitions, and the streams have 4"},
		"other installation and layout": {provisioned: 4, want: "than the streams at the server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTakeoverFixture(t)
			cfg := a.config(0)
			cfg.State = t.TempDir()
			f, err := a.start(a.bus, cfg)
			a.must(err)
			a.must(f.store.Close())
			mine, other := a.bus.Layout.Installation, a.otherServer()
			theirs := cfg
			theirs.State = t.TempDir()
			switch {
			case tt.provisioned > 0:
				theirs.Partitions = tt.provisioned
				a.must(Provision(t.Context(), theirs, other))
				cfg.Partitions = tt.provisioned
			case tt.provisioned < 0:
				cfg.Partitions = -tt.provisioned
			}
			before := a.streams(other)
			cfg.Adopt = tt.adopt
			f, err = a.start(other, cfg)
			if err == nil {
				a.must(f.store.Close())
			}
			if tt.want == "" {
				if err != nil || other.Layout.Installation == mine {
					t.Fatalf("installation %s: %v", other.Layout.Installation, err)
				}
				return
			}
			if !errors.Is(err, installation.ErrOther) {
				t.Fatalf("it starts with %v, want installation.ErrOther", err)
			}
			for _, part := range []string{cfg.State, mine, tt.want, "--state"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q: %v", part, err)
				}
			}
			if tt.provisioned > 0 && !tt.adopt && !strings.Contains(err.Error(), other.Layout.Installation) {
				t.Errorf("the error does not name %s: %v", other.Layout.Installation, err)
			}
			if after := a.streams(other); !slices.Equal(after, before) {
				t.Errorf("the server has %v, had %v", after, before)
			}
		})
	}
}

// A store that was adopted belongs to the new installation from then on, and the former one is
// refused.
func TestStateThatWasAdopted_BelongsThere(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	cfg := a.config(0)
	cfg.State = t.TempDir()
	other := a.otherServer()
	for i, step := range []struct {
		bus    *stages.Bus
		adopt  bool
		starts bool
	}{
		{a.bus, false, true},
		{a.bus, true, true}, // which changes nothing
		{other, false, false},
		{other, true, true},
		{other, false, true},
		{a.bus, false, false},
		{a.bus, true, true},
		{other, false, false},
	} {
		cfg.Adopt = step.adopt
		f, err := a.start(step.bus, cfg)
		if (err == nil) != step.starts {
			t.Fatalf("step %d: %v", i, err)
		}
		if err == nil {
			a.must(f.store.Close())
		}
	}
}

// A frontier whose server loses all streams while it runs is not ready and reports why; it ends
// once the server has the streams of another installation.
func TestServerThatLosesItsStreams_FrontierStandsThenEnds(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	cfg := a.config(0)
	cfg.State = t.TempDir()
	f, err := a.start(a.bus, cfg)
	a.must(err)
	t.Cleanup(func() { a.must(f.store.Close()) })
	run := await.Start(t, f.Run)
	a.eventually("the frontier is ready", func() bool { return f.Ready() == nil })
	for _, name := range a.streams(a.bus) {
		a.must(a.bus.JS.DeleteStream(t.Context(), name))
	}
	a.eventually("readiness names the loss", func() bool {
		err := f.Ready()
		return err != nil && strings.Contains(err.Error(), a.bus.Layout.Installation) && strings.Contains(err.Error(), "restore a backup")
	})
	if got := a.streams(a.bus); len(got) > 0 {
		t.Errorf("the frontier has made %v", got)
	}
	second, err := stages.Dial(a.bus.NC.ConnectedUrl(), t.Name(), a.bus.Log)
	a.must(err)
	t.Cleanup(second.Close)
	other := cfg
	other.State = t.TempDir()
	a.must(Provision(t.Context(), other, second))
	if err := run.Wait(); !errors.Is(err, installation.ErrOther) {
		t.Errorf("it ends with %v, want installation.ErrOther", err)
	}
}
