// Package version returns the version of Seine: the release set by the linker, or else the version
// that the Go toolchain recorded.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Number is the version of this source: the last release, or the next one.
const Number = "0.1.0"

// module is the module path of this source.
const module = "seine"

// Set by the linker (scripts/build).
var (
	release string // such as 0.1.0, or 0.1.0-dev.12.g0123456789ab
	commit  string // in full
	date    string // of the commit, RFC 3339, UTC
)

// Build describes the running build. Unknown fields are empty.
type Build struct {
	Version  string // never empty
	Commit   string // in full
	Date     string // of the commit, RFC 3339, UTC
	Modified bool   // the source had uncommitted changes
}

// Current returns the running build.
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

// fromToolchain reads the information that the toolchain recorded. Its commit is that of the main
// module, which for a custom stage is not Seine.
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

// String returns the version with its commit, if known.
func String() string {
	b := Current()
	if b.Commit == "" {
		return b.Version
	}
	return b.Version + " (" + b.short() + ")"
}

// short returns the abbreviated commit.
func (b Build) short() string { return b.Commit[:min(len(b.Commit), 12)] }

// Line returns the output of --version of a command: its name, the version, the commit with its
// date, the toolchain and the platform.
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
