package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"seine/bench/proc"
	"seine/internal/testing/scriptweb"
	"seine/pkg/messages"
)

// reportKinds prints the time of each kind in Seine beside that of a person's script, and the sums over pages that both have found.
func reportKinds(w io.Writer, pages []scriptweb.Page, shown [2][]shownKind) {
	fmt.Fprint(w, "\n| kind | pages | Seine s | found | person s | found | ratio |\n|---|---:|---:|---:|---:|---:|---:|\n")
	var all kindSum
	for _, name := range kindNames {
		var of kindSum
		for i := range pages {
			if pages[i].Name == name {
				of.add(shown[0][i], shown[1][i])
				all.add(shown[0][i], shown[1][i])
			}
		}
		of.write(w, name)
	}
	all.write(w, "all")
	fmt.Fprintf(w, "\nPages that both have found: %.1f s in Seine, %.1f s by scripts, ratio %.2f.\n",
		all.both[0].Seconds(), all.both[1].Seconds(), all.both[0].Seconds()/all.both[1].Seconds())
}

// kindSum sums up the pages of a kind.
type kindSum struct {
	pages      int
	found      [2]int
	took, both [2]time.Duration
}

func (k *kindSum) add(shown ...shownKind) {
	k.pages++
	for i, s := range shown {
		k.took[i] += s.took
		if s.found {
			k.found[i]++
		}
		if shown[0].found && shown[1].found {
			k.both[i] += s.took
		}
	}
}

func (k *kindSum) write(w io.Writer, name string) {
	fmt.Fprintf(w, "| %s | %d | %.1f | %d | %.1f | %d | %.2f |\n", name, k.pages, k.took[0].Seconds(), k.found[0],
		k.took[1].Seconds(), k.found[1], k.took[0].Seconds()/k.took[1].Seconds())
}

// crawlKinds crawls all pages in one go, and says which have no record, or one without their text.
func (o *options) crawlKinds(ctx context.Context, work string, web *scriptweb.Web, pages []scriptweb.Page) error {
	bin, err := proc.Commands(ctx, work, o.Bin, one)
	if err != nil {
		return err
	}
	spec := strings.Builder{}
	spec.WriteString("max_depth: 0\nallow_private: true\nrobots: ignore\ndelay: 0s\nper_host: 4\n" + alikeAllowed)
	spec.WriteString("normalize: {hash_routes: true}\nrender: {mode: always, actions: [{scroll: 50}, {click: button.more, times: 10}]}\nseeds:\n")
	for i := range pages {
		fmt.Fprintf(&spec, "  - %q\n", web.URL(pages[i].Path))
	}
	file, out := filepath.Join(work, "kinds.yaml"), filepath.Join(work, "kinds-out")
	if err := os.WriteFile(file, []byte(spec.String()), 0o600); err != nil {
		return fmt.Errorf("write the spec: %w", err)
	}
	began := time.Now()
	_, err = proc.Run(ctx, filepath.Join(bin, one), "crawl", "--spec", file, "--data", filepath.Join(work, "kinds-data"), "--out", out,
		"--browser-tabs", fmt.Sprint(o.Tabs), "--fields", "url,text", "--quiet")
	if err != nil {
		return err
	}
	took := time.Since(began)
	text, err := exec.CommandContext(ctx, filepath.Join(bin, one), "cat", out).Output() //nolint:gosec // a command of this tree
	if err != nil {
		return fmt.Errorf("read the records: %w", err)
	}
	records := make(map[string]string)
	for line := range bytes.Lines(text) {
		var r messages.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("read the records: %w", err)
		}
		records[r.URL] = r.Text
	}
	missing := 0
	for i := range pages {
		text, ok := records[web.URL(pages[i].Path)]
		if !ok {
			missing++
			fmt.Printf("no record of %s\n", pages[i].Path)
		} else if lacks(text, &pages[i]) != "" {
			fmt.Printf("the record of %s lacks %q\n", pages[i].Path, lacks(text, &pages[i]))
		}
	}
	fmt.Printf("One crawl: %d records of %d pages in %.0f s.\n", len(pages)-missing, len(pages), took.Seconds())
	return nil
}
