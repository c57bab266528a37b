package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestLineTellsWhatIsKnown(t *testing.T) {
	by := ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	const commit, date = "0123456789abcdef0123456789abcdef01234567", "2026-11-26T00:48:00Z"
	for want, b := range map[string]Build{
		"seine 0.1.0 (commit unknown":                                           {Version: "0.1.0"},
		"seine 0.1.0 (commit 0123456789ab of 2026-11-26T00:48:00Z":              {Version: "0.1.0", Commit: commit, Date: date},
		"seine 0.1.0 (commit 0123456789ab of 2026-11-26T00:48:00Z with changes": {Version: "0.1.0", Commit: commit, Date: date, Modified: true},
		"seine 0.1.0 (commit 0123456":                                           {Version: "0.1.0", Commit: "0123456"},
	} {
		if got := b.line("seine"); got != want+by {
			t.Errorf("got %q, want %q", got, want+by)
		}
	}
}

// A custom stage is a program of another repository, whose commit is not Seine's.
func TestCommitIsThatOfSeine(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-26T00:48:00Z"}, {Key: "vcs.modified", Value: "true"}}
	for name, c := range map[string]struct {
		info debug.BuildInfo
		want Build
	}{
		"a checkout":      {debug.BuildInfo{Main: debug.Module{Path: "seine"}, Settings: vcs}, Build{Number, "0123456789abcdef", "2026-11-26T00:48:00Z", true}},
		"not a checkout":  {debug.BuildInfo{Main: debug.Module{Path: "seine"}}, Build{Version: Number}},
		"another program": {debug.BuildInfo{Main: debug.Module{Path: "example.org/stage"}, Settings: vcs, Deps: []*debug.Module{{Path: "seine", Version: "v0.0.0-00010101000000-000000000000"}}}, Build{Version: Number}},
		"another program with a released Seine": {debug.BuildInfo{Main: debug.Module{Path: "example.org/stage"}, Settings: vcs,
			Deps: []*debug.Module{{Path: "seine", Version: "v0.2.0"}}}, Build{Version: "0.2.0"}},
	} {
		if got := fromToolchain(&c.info); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
