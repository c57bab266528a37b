package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	brotli "github.com/molecule-man/go-brrr"

	"seine/internal/fetch/challenge"
)

// body is a page as it is sent. It links to all pages of its host, whichever that is.
type body struct {
	coding string
	sent   []byte
	gzip   []byte // sent to those who do not accept the coding
	size   int    // decoded
}

// generated is how many different pages there are if no folder has them.
const generated = 500

// loadBodies reads the pages of a folder, or generates pages.
func loadBodies(o options) (bodies []body, err error) {
	nav := navigation(o.Pages)
	if o.Dir == "" {
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same pages in each run
		for i := range generated {
			bodies = append(bodies, encode(nav, generate(r), i))
		}
		return bodies, nil
	}
	files, err := filepath.Glob(filepath.Join(o.Dir, "*.html*"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("-dir: no *.html or *.html.gz in %s", o.Dir)
	}
	for i, file := range files {
		if len(bodies) == o.Hosts*o.Pages {
			break
		}
		text, err := readPage(file)
		if err != nil {
			return nil, fmt.Errorf("-dir: %w", err)
		}
		if challenge.InBody(text) != "" || leadsElsewhere.Match(text) {
			continue // a crawler retries a challenge for hours
		}
		bodies = append(bodies, encode(nav, text, i))
	}
	return bodies, nil
}

// leadsElsewhere matches pages whose links a crawler does not follow, or that have another base.
var leadsElsewhere = regexp.MustCompile(`(?i)<base\b|<meta[^>]*(nofollow|content=["']?none)`)

func readPage(file string) ([]byte, error) {
	text, err := os.ReadFile(file) //nolint:gosec // of the folder that the user named
	if err != nil || filepath.Ext(file) != ".gz" {
		return text, err
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return io.ReadAll(r)
}

func navigation(pages int) string {
	var b strings.Builder
	b.WriteString("<nav>")
	for p := range pages {
		fmt.Fprintf(&b, `<a href="%s%d">%[2]d</a> `, pathOfPages, p)
	}
	return b.String() + "</nav>"
}

var startOfBody = []byte("<body")

// encode puts the navigation at the start of a page's body, and compresses the page: every second one with brotli.
func encode(nav string, text []byte, i int) body {
	at := bytes.Index(text, startOfBody)
	if at >= 0 {
		at += bytes.IndexByte(text[at:], '>') + 1
	}
	at = max(at, 0)
	text = slices.Concat(text[:at], []byte(nav), text[at:])
	b := body{coding: "gzip", size: len(text)}
	b.gzip = compress(text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	b.sent = b.gzip
	if i%2 == 1 {
		b.coding = "br"
		b.sent = compress(text, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w, 5) })
	}
	return b
}

func compress(text []byte, by func(io.Writer) (io.WriteCloser, error)) []byte {
	var sent bytes.Buffer
	w, err := by(&sent)
	if err == nil {
		_, err = w.Write(text)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		panic(err) // a buffer takes all
	}
	return sent.Bytes()
}

func meanSize(bodies []body) float64 {
	sum := 0
	for _, b := range bodies {
		sum += b.size
	}
	return float64(sum) / float64(len(bodies))
}

// generate makes a page with the proportions of those of the Web Content Extraction Benchmark: a median size of 130 KB
// and a mean of 230 KB, half of it scripts and styles, 78 links to other sites, short texts in many nested elements.
func generate(r *rand.Rand) []byte {
	size := int(min(130e3*math.Exp(r.NormFloat64()*1.07), 4e6))
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>" + words(r, 6) + "</title>")
	fmt.Fprintf(&b, `<meta name="description" content="%s"><link rel="canonical" href="/0">`, words(r, 20))
	for b.Len() < size/2 {
		fmt.Fprintf(&b, `<script>window.q=window.q||[];q.push({"id":%d,"name":"%s","values":[%d,%d]});if(q.length<%d){q.sort()}</script>`,
			r.Uint32(), words(r, 12), r.Uint32(), r.Uint32(), r.IntN(1000))
	}
	b.WriteString("</head><body>")
	const links = 78
	for n, each := 0, (size-b.Len())/links; n < links; n++ {
		fmt.Fprintf(&b, `<div class="row c%d"><a href="https://www%d.example/%s/%d" class="btn link"><span>%s</span></a>`,
			r.IntN(40), r.IntN(1000), strconv.FormatUint(r.Uint64(), 36), n, words(r, 4))
		for end := b.Len() + each - 200; b.Len() < end; {
			fmt.Fprintf(&b, `<div class="col-%d" data-id="%x"><p style="margin:0">%s <b>%s</b></p><img src="/i/%x.webp" alt=""></div>`,
				r.IntN(12), r.Uint32(), words(r, 18), words(r, 2), r.Uint32())
		}
		b.WriteString("</div>\n")
	}
	b.WriteString("</body></html>")
	return b.Bytes()
}

// words returns some words of two to nine letters.
func words(r *rand.Rand, n int) string {
	b := make([]byte, 0, 8*n)
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		for range 2 + r.IntN(8) {
			b = append(b, "etaoinshrdlu"[min(r.IntN(12), r.IntN(12))])
		}
	}
	return string(b)
}
