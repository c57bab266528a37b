package pages

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/browser"
)

var pictures = flag.String("pictures", "", "write pictures of the pages into this folder")

// Bounds of pictures, in bytes.
const (
	maxPicture  = 50 << 10
	maxPictures = 2 << 20 // total
)

// TestPictures writes pictures of all pages, light and dark, wide and narrow, if -pictures DIR is
// set.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures")
	}
	c, seed := shop(t)
	c.dead(12)
	_, slow := site(t, 3000)
	c.add("sample", "delay: 0s\nmax_pages: 20\n", seed+"/")
	c.add("news", "delay: 30ms\n", slow+"/")
	for _, verb := range []string{"pause", "resume"} { // to fill the audit log
		resp, err := http.PostForm(c.url+"/crawls/shop/"+verb, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	c.replay("shop", url.Values{"of": {"pages"}, "folder": {"again"}})
	c.until("/files?crawl=shop", ".jsonl.zst")
	await.Eventually(t, "have something to draw", func() bool { _, done := c.state("news"); return done > 500 })
	tab, total := c.tab(), 0
	tab.Allow("404")
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"wide", 1280, 800}, {"narrow", 390, 844}} {
		tab.Size(size.width, size.height)
		for _, dark := range []bool{false, true} {
			tab.Dark(dark)
			for name, path := range c.pictured(seed) {
				tab.Go(c.url + path)
				file := fmt.Sprintf("%s-%s-%s.png", name, size.name, map[bool]string{true: "dark", false: "light"}[dark])
				total += take(t, tab, file)
			}
		}
	}
	if total > maxPictures {
		t.Errorf("%d bytes of pictures, at most %d are wanted", total, maxPictures)
	}
}

// pictured returns the pages with pictures.
func (c *fixture) pictured(seed string) map[string]string {
	at, _ := url.Parse(seed)
	_, files := c.get("/files?crawl=shop")
	file := regexp.MustCompile(`/files/view\?[^"]*`).FindString(files)
	return map[string]string{
		"overview": "/", "crawls": "/crawls", "crawl": "/crawls/news", "spec": "/crawls/shop/spec", "exclude": "/crawls/news/exclude?pattern=*.html", "replay": "/crawls/shop/replay",
		"new": "/new", "search": "/search?q=s", "seeds": "/seeds?crawl=shop", "hosts": "/hosts", "host": "/hosts/" + at.Host, "errors": "/errors", "errors-class": "/errors?crawl=shop&class=gone",
		"explain": "/explain?crawl=shop&url=" + url.QueryEscape(seed+"/"), "dead": "/dead", "letter": "/dead/1", "records": "/records?crawl=shop",
		"files": "/files", "file": html.UnescapeString(file), "processes": "/processes", "audit": "/audit", "settings": "/settings", "login": "/login", "not-found": "/no/such/page",
	}
}

// neutral stops the live updates of a page and replaces the details of this machine.
const neutral = `for (const part of document.querySelectorAll("[data-live][id]")) part.removeAttribute("id");
for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();)
	walk.currentNode.data = walk.currentNode.data.replaceAll(%q, "crawler-1").replace(/\/[^ ]*TestPictures\d*\/\d+/g, "/srv/seine")`

// take writes a picture of a page, after its charts are drawn, and returns its size.
func take(t *testing.T, tab *browser.Tab, name string) int {
	t.Helper()
	tab.Holds(`[...document.querySelectorAll(".plot")].every(plot => plot.querySelector("canvas") || plot.textContent !== "")`)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	tab.Eval(fmt.Sprintf(neutral, host), nil)
	small, err := withPalette(tab.Screenshot(false))
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name), small, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(small) > maxPicture {
		t.Errorf("%s has %d bytes, at most %d are wanted", name, len(small), maxPicture)
	}
	return len(small)
}

func distance(a, b color.RGBA) int {
	between := func(x, y uint8) int { return max(int(x), int(y)) - min(int(x), int(y)) }
	return between(a.R, b.R) + between(a.G, b.G) + between(a.B, b.B)
}

// withPalette compresses a picture: it keeps the most frequent colours and a few of each other
// kind.
func withPalette(picture []byte) ([]byte, error) {
	whole, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	counts := make(map[color.RGBA]int)
	b := whole.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			counts[color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA)]++
		}
	}
	var palette color.Palette
	for _, c := range slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return cmp.Compare(counts[b], counts[a]) }) {
		near := slices.ContainsFunc(palette, func(p color.Color) bool { return distance(p.(color.RGBA), c) < 32 })
		if len(palette) < 12 || !near && len(palette) < 64 { // the most frequent ones, and others unlike those chosen
			palette = append(palette, c)
		}
	}
	nearest := make(map[color.RGBA]uint8, len(counts))
	for c := range counts {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			small.SetColorIndex(x, y, nearest[color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA)])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}
