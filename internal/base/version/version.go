// Package version has the version of Seine: that of a release from the linker, else what the Go toolchain knows
// of the source.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Number is the version of this source: the last release, or the one that is being worked on.
const Number = "0.1.0"

// module is how others name this source as a dependency.
const module = "seine"

// The linker sets them (scripts/build).
var (
	release string // such as 0.1.0, or 0.1.0-dev.12.g0123456789ab
	commit  string // in full
	date    string // of the commit, RFC 3339, UTC
)

// Build is what is known of the build that runs. What is not known is empty.
type Build struct {
	Version  string // never empty
	Commit   string // in full
	Date     string // of the commit, RFC 3339, UTC
	Modified bool   // the source had changes that are in no commit
}

// Current returns the build that runs.
func Current() Build {
	if release != "" {
		return Build{Version: release, Commit: commit, Date: date, Modified: strings.HasSuffix(release, ".dirty")}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: Number}
	}
	return fromToolchain(info)
}

// fromToolchain reads what the toolchain has put down. Its commit is that of the main module, which is another one in a
// custom stage.
func fromToolchain(info *debug.BuildInfo) Build {
	b := Build{Version: Number}
	if info.Main.Path != module {
		for _, dep := range info.Deps {
			if dep.Path == module && strings.HasPrefix(dep.Version, "v") && !strings.HasPrefix(dep.Version, "v0.0.0-") {
				b.Version = strings.TrimPrefix(dep.Version, "v")
			}
		}
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the version with the commit it was built from, if known.
func String() string {
	b := Current()
	if b.Commit == "" {
		return b.Version
	}
	return b.Version + " (" + b.short() + ")"
}

// short is the beginning of the commit, as people write it.
func (b Build) short() string { return b.Commit[:min(len(b.Commit), 12)] }

// Line is what --version of a command prints: its name, the version, the commit and its date, and what it was built
// by and for.
func Line(command string) string { return Current().line(command) }

func (b Build) line(command string) string {
	from := "commit unknown"
	if b.Commit != "" {
		from = "commit " + b.short()
		if b.Date != "" {
			from += " of " + b.Date
		}
		if b.Modified {
			from += " with changes"
		}
	}
	return command + " " + b.Version + " (" + from + ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}
