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

// readSeeds replaces the seed files of a spec by their URLs. Their names are relative to the spec
// file; for a spec that is not in a file, to the working directory.
func readSeeds(name string, text []byte, spec *crawlspec.Spec) error {
	if !slices.ContainsFunc(spec.Seeds, func(s crawlspec.Seed) bool { return s.File != "" }) {
		return nil
	}
	root, _ := parse(text) // parsed without problems before
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

// seedsInFile reads one seed file. below lists the invalid lines.
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

// maxBadSeeds bounds the reported lines of one file.
const maxBadSeeds = 10

// badSeeds returns one line for each invalid entry of a file, in the format of compilers.
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
