package specfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"seine/pkg/crawlspec"
)

// readSeeds puts the URLs of files that a spec names in their place. The names are
// relative to where the spec is; one from elsewhere than a file is read as if it were in
// the working directory.
func readSeeds(name string, text []byte, spec *crawlspec.Spec) error {
	if !slices.ContainsFunc(spec.Seeds, func(s crawlspec.Seed) bool { return s.File != "" }) {
		return nil
	}
	root, _ := parse(text) // which it was before
	t := &tree{root: deref(root), left: make(map[string][]int)}
	var found []Problem
	all := make([]crawlspec.Seed, 0, len(spec.Seeds))
	for i := range spec.Seeds {
		seed := &spec.Seeds[i]
		if seed.File == "" {
			all = append(all, *seed)
			continue
		}
		seeds, err := seedsInFile(name, seed)
		if err != nil {
			at := t.find(fmt.Sprintf("seeds[%d].file", i))
			found = append(found, problemAt(at.node, at.path, err.Error()))
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

// seedsInFile reads what one entry names.
func seedsInFile(spec string, seed *crawlspec.Seed) ([]crawlspec.Seed, error) {
	name := seed.File
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(spec), name)
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s has more than %s: feed a long list of seeds with seine seed --file", name, crawlspec.Bytes(MaxSize))
	}
	seeds, bad := seed.ReadSeeds(text)
	switch {
	case len(bad) > 0:
		return nil, fmt.Errorf("%s: %s is no seed: %w%s", name, quoted(bad[0].Text), bad[0].Err, more(len(bad)-1))
	case len(seeds) == 0:
		return nil, fmt.Errorf("%s: there is no URL in it", name)
	}
	return seeds, nil
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}
