package main

import (
	"fmt"

	"seine/internal/testing/htmltree"
)

// compare reads every page by htmlpage and from its DOM, and prints what differs.
func compare(o options) error {
	differ := 0
	for _, dir := range o.Dirs {
		pages, err := readPages(dir)
		if err != nil {
			return err
		}
		var counts htmltree.Counts
		for _, p := range pages {
			diffs, err := htmltree.Compare(p.body, p.url, "text/html", &counts)
			if err != nil {
				return fmt.Errorf("%s: %w", p.url, err)
			}
			for _, d := range diffs {
				fmt.Printf("%s: %s\n", p.url, d)
			}
			if len(diffs) > 0 {
				differ++
			}
		}
		fmt.Printf("%s: %d pages, %d links, %.1f MB of text compared\n", dir, counts.Pages, counts.Links, float64(counts.TextBytes)/1e6)
	}
	if differ > 0 {
		return fmt.Errorf("%d pages differ from their DOM", differ)
	}
	fmt.Println("no page differs from its DOM")
	return nil
}
