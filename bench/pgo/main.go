// Command pgo merges CPU profiles of crawls into the one that the compiler optimises Seine by (-pgo, internal/release/cpu.pgo),
// without the paths of the machine that they were taken on:
//
//	cd bench && go run ./pgo -out ../internal/release/cpu.pgo A.prof B.prof
//
// `make profile` takes the profiles, too.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/google/pprof/profile"
)

func main() {
	out := flag.String("out", "", "`file` to write")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pgo:", err)
		os.Exit(1)
	}
}

func run(out string, files []string) error {
	var all []*profile.Profile
	for _, name := range files {
		p, err := read(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, p)
	}
	merged, err := profile.Merge(all)
	if err != nil {
		return fmt.Errorf("merge profiles: %w", err)
	}
	merged.FilterSamplesByName(nil, spoiled, nil, nil)
	f, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("create the merged profile: %w", err)
	}
	if err := merged.Write(f); err != nil {
		return fmt.Errorf("write the merged profile: %w", err)
	}
	return f.Close()
}

// spoiled are functions that the profile makes slower: sha256.New is no longer inlined into Sum256, which then allocates
// three times in each call.
var spoiled = regexp.MustCompile(`sha256\.New$`)

// read reads a profile. The compiler looks at functions, lines and weights alone.
func read(name string) (*profile.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	for _, m := range p.Mapping {
		m.File, m.BuildID = "", ""
	}
	for _, function := range p.Function {
		function.Filename = ""
	}
	return p, nil
}
