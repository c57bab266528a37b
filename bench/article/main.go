// Command article measures how well, and how fast, package article finds the main content of pages: precision, recall
// and F1 of its words against texts that were marked by hand, per page and over all, beside two libraries that do the
// same.
//
//	article                        the pages of the package's testdata, of which each stands for a shape of page: those
//	                               that the rules were made by, and those written when they were final
//	article -docs DIR [-docs DIR]  real documentation: of DocBook (PostgreSQL) or Sphinx (Python), as their packages in
//	                               Debian install it; what is to be kept is said by the generator's own markup
//	article -texts DIR             the texts of compressed pages (*.html.gz), as an object of JSON by the names of the
//	                               files, for evaluate.py of the benchmark WCXB; with -zyte for that of Zyte's, with
//	                               -precision as prefer: precision makes them
//	article -cost                  time and memory for pages made to be costly, Markdown of a library included
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/page/article"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "article:", err)
		os.Exit(1)
	}
}

type folders []string

func (f *folders) String() string     { return strings.Join(*f, " ") }
func (f *folders) Set(v string) error { *f = append(*f, v); return nil }

func run(args []string) error {
	flags := flag.NewFlagSet("article", flag.ContinueOnError)
	pages := flags.String("pages", "../internal/page/article/testdata", "folder of folders of pages and their truth")
	var docs folders
	flags.Var(&docs, "docs", "folder of documentation instead; may be given again")
	cost := flags.Bool("cost", false, "measure costly pages instead")
	texts := flags.String("texts", "", "folder of compressed pages, whose texts are printed instead")
	zyte := flags.Bool("zyte", false, "print them for Zyte's article-extraction-benchmark")
	precision := flags.Bool("precision", false, "print them as prefer: precision makes them")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errors.New("usage: article [-pages DIR | -docs DIR... | -texts DIR [-zyte] [-precision] | -cost]")
	}
	switch {
	case *texts != "":
		options := article.Options{}
		if *precision {
			options.Prefer = article.Precision
		}
		return writeTexts(os.Stdout, *texts, *zyte, options)
	case *cost:
		return measureCost(os.Stdout)
	case len(docs) > 0:
		return measureDocs(os.Stdout, docs)
	}
	for _, folder := range []string{"pages", "unseen"} {
		fmt.Printf("== %s\n", folder)
		if err := measurePages(os.Stdout, filepath.Join(*pages, folder)); err != nil {
			return err
		}
	}
	return nil
}
