package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"seine/bench/others"
)

// describe says under which circumstances the figures were taken: what a reader needs to take them again, and nothing
// that names the machine.
func (b *runner) describe(ctx context.Context, args []string) []string {
	lines := []string{
		"`" + strings.Join(append([]string{"go run ."}, args...), " ") + "`",
		fmt.Sprintf("CPU: %s, %d cores, shared by crawler and site; %s; %s", cpuModel(), runtime.NumCPU(), system(), goVersion(ctx)),
	}
	var versions []string
	for _, e := range b.entries {
		if e.skipped == nil {
			versions = append(versions, e.version)
		}
	}
	return append(lines,
		"Versions: "+strings.Join(versions, ", "),
		fmt.Sprintf("Wall time is from a crawler's start to its end, with all it loads and writes. Peak RSS is of the largest "+
			"process and reads no lower than %.0f MB, which the bench itself reached.", megabytes(ownRSS())))
}

// commands are the command lines, with names in place of what changes from run to run.
func commands(entries []*entry) []string {
	var lines []string
	for _, e := range entries {
		if len(e.runs) == 0 {
			continue
		}
		c := e.crawler.Command(others.Job{URL: "URL", List: "LIST", Dir: "DIR", Parallel: e.parallel})
		c.Argv[0] = filepath.Base(c.Argv[0])
		lines = append(lines, fmt.Sprintf("%s: `%s`", e.crawler.Name(), strings.Join(c.Argv, " ")))
	}
	return lines
}

func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	return field(string(data), "model name", ":", runtime.GOARCH)
}

func system() string {
	data, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	return field(string(data), "PRETTY_NAME", "=", runtime.GOOS)
}

// goVersion is of the toolchain that has built the crawlers.
func goVersion(ctx context.Context) string {
	out, err := others.FirstLine(ctx, "go", "version")
	if err != nil {
		return runtime.Version()
	}
	return strings.TrimPrefix(out, "go version ")
}

// field finds "key SEP value" on a line of its own.
func field(text, key, sep, missing string) string {
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, sep)
		if ok && strings.TrimSpace(k) == key {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return missing
}
