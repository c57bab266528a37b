// Command parse measures the reading of HTML pages, in one process and without a crawl.
//
//	cd bench && go run ./parse compare   # links and text of every page: those in the DOM, as goquery finds them?
//	cd bench && go run ./parse cost      # a scan beside bare tokenizer passes and beside building the DOM
//
// Both read the documentation that `make sites` brings, or the HTML files under --dir. Each prints what it found, and
// fails if pages differ or a limit is missed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// options are the command line.
type options struct {
	Dirs    []string
	Rounds  int
	MaxPass float64
	MaxTree float64
}

// Where `make sites` puts the documentation.
const (
	postgres = "../.cache/sites/usr/share/doc/postgresql-doc-15/html"
	python   = "../.cache/sites/usr/share/doc/python3.11/html"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "parse bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say what to do: compare or cost")
	}
	o, err := parseOptions(args[0], args[1:])
	if err != nil {
		return err
	}
	switch args[0] {
	case "compare":
		return compare(o)
	case "cost":
		return cost(o)
	}
	return fmt.Errorf("%q is nothing to do: compare or cost", args[0])
}

func parseOptions(what string, args []string) (o options, err error) {
	f := flag.NewFlagSet("parse "+what, flag.ContinueOnError)
	dir := f.String("dir", "", "`folder` with HTML files, also in folders below (the documentation that make sites brings)")
	f.IntVar(&o.Rounds, "rounds", 15, "cost: `number` of rounds, after one to warm up")
	f.Float64Var(&o.MaxPass, "max-pass", 1.5, "cost: `ratio` to a bare pass of the golang.org/x/net/html tokenizer that fails")
	f.Float64Var(&o.MaxTree, "max-tree", 0.5, "cost: `ratio` to building the DOM that fails")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case *dir != "":
		o.Dirs = []string{*dir}
	case what == "cost":
		o.Dirs = []string{postgres}
	default:
		o.Dirs = []string{postgres, python}
	}
	if o.Rounds < 1 {
		return o, fmt.Errorf("--rounds %d: must be at least 1", o.Rounds)
	}
	return o, nil
}

// page is a file and the URL it is read as.
type page struct {
	url  string
	body []byte
}

// readPages reads the HTML files under a folder, in the order of their names.
func readPages(dir string) ([]page, error) {
	var pages []page
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".htm") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		pages = append(pages, page{url: "https://docs.example.org/" + filepath.ToSlash(name), body: body})
		return err
	})
	if err == nil && len(pages) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read pages in %s (make sites brings the documentation): %w", dir, err)
	}
	return pages, nil
}
