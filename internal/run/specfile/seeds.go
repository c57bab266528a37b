package specfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// readSeeds puts the URLs of files that a spec names in their place. The names are
// relative to where the spec is; one from elsewhere than a file is read as if it were in
// the working directory.
func readSeeds(name string, text []byte, spec *crawlspec.Spec) error {
	if !slices.ContainsFunc(spec.Seeds, func(s crawlspec.Seed) bool { return s.File != "" }) {
		return nil
	}
	root, _ := parse(text) // which it was before
	t := tree{deref(root)}
	var found []Problem
	all := make([]crawlspec.Seed, 0, len(spec.Seeds))
	for i := range spec.Seeds {
		seed := &spec.Seeds[i]
		if seed.File == "" {
			all = append(all, *seed)
			continue
		}
		seeds, below, err := seedsInFile(name, seed)
		if err != nil {
			at := t.find(fmt.Sprintf("seeds[%d].file", i))
			p := problemAt(at.node, at.path, err.Error())
			p.below = below
			found = append(found, p)
		}
		if !spec.Sitemaps && slices.ContainsFunc(seeds, func(s crawlspec.Seed) bool { return s.Sitemap != "" }) {
			at := t.find(fmt.Sprintf("seeds[%d].file", i))
			found = append(found, problemAt(at.node, at.path, "has sitemaps, which the crawl does not follow: write sitemaps: true"))
		}
		all = append(all, seeds...)
	}
	spec.Seeds = all
	if err := crawlspec.CheckSize(spec.Encode()); err != nil {
		at := t.find("seeds")
		found = append(found, problemAt(at.node, at.path, "with the URLs of its files "+err.Error()))
	}
	return report(name, text, found)
}

// seedsInFile reads what one entry names. Below reports each line that is no seed.
func seedsInFile(spec string, seed *crawlspec.Seed) (seeds []crawlspec.Seed, below string, err error) {
	name := seed.File
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(spec), name)
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, "", err
	}
	if len(text) > MaxSize {
		return nil, "", fmt.Errorf("%s has more than %s: add a long list of seeds with seine seed --file", name, crawlspec.Bytes(MaxSize))
	}
	seeds, bad := seed.ReadSeeds(text)
	switch {
	case len(bad) > 0:
		return nil, badSeeds(name, bad), fmt.Errorf("%s: %d entries are not seeds", name, len(bad))
	case len(seeds) == 0:
		return nil, "", fmt.Errorf("%s: contains no URL", name)
	}
	return seeds, "", nil
}

// maxBadSeeds is how many bad lines of one file are reported.
const maxBadSeeds = 10

// badSeeds returns a line for each part of a file that is no seed, as compilers do.
func badSeeds(name string, bad []messages.BadURL) string {
	var lines []string
	for _, b := range bad[:min(len(bad), maxBadSeeds)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s: %v", name, b.Line, quoted(b.Text), b.Err))
	}
	if left := len(bad) - maxBadSeeds; left > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", name, left))
	}
	return strings.Join(lines, "\n")
}
