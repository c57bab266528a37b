package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"seine/pkg/messages"
)

// web is the simulated web: page k has the new URLs from k·fresh on, and as many that earlier pages had. What URL i is
// and what page k links to is computed anew each time it is asked. In memory is only which page is of which host, 12
// bytes a page, so that a page can link to earlier ones of its own host.
type web struct {
	urls, hosts int
	fresh       int // new URLs of a page
	own         int // the first of them that lead to the page's own host
	pages       int

	host      []int32  // of each page
	nth       []int32  // how many pages of its host come before each page
	byHost    []int32  // pages, in order, grouped by host
	start     []int32  // where in byHost the pages of each host start
	partition []uint16 // of each host
}

// skew makes some hosts large, as in Zipf's law: the largest of 100,000 has 1 % of all URLs, the smallest a few.
const skew = 0.7

func newWeb(o *options) *web {
	fresh := o.Links / 2
	w := &web{urls: o.URLs, hosts: o.Hosts, fresh: fresh, own: fresh * 4 / 5, pages: (o.URLs + fresh - 1) / fresh}
	if o.Mix == mixUniform {
		w.own = 0
	}
	w.assignHosts()
	w.groupByHost()
	w.partition = make([]uint16, w.hosts)
	for h := range w.partition {
		w.partition[h] = uint16(messages.Partition(hostURL(h), o.Partitions))
	}
	return w
}

// assignHosts gives each host its pages, in an order that looks like chance.
func (w *web) assignHosts() {
	weight := func(h int) float64 { return math.Pow(float64(h+1), -skew) }
	total := 0.0
	for h := range w.hosts {
		total += weight(h)
	}
	w.host = make([]int32, 0, w.pages)
	sum := 0.0
	for h := range w.hosts {
		sum += weight(h)
		for len(w.host) < int(sum/total*float64(w.pages)) {
			w.host = append(w.host, int32(h))
		}
	}
	for len(w.host) < w.pages { // the sum may be a little short of 1
		w.host = append(w.host, 0)
	}
	for k := w.pages - 1; k > 0; k-- {
		j := chance(k, 0, 1) % uint64(k+1)
		w.host[k], w.host[j] = w.host[j], w.host[k]
	}
}

func (w *web) groupByHost() {
	w.start = make([]int32, w.hosts+1)
	for _, h := range w.host {
		w.start[h+1]++
	}
	for h := range w.hosts {
		w.start[h+1] += w.start[h]
	}
	w.byHost, w.nth = make([]int32, w.pages), make([]int32, w.pages)
	count := make([]int32, w.hosts)
	for k, h := range w.host {
		w.nth[k] = count[h]
		w.byHost[w.start[h]+count[h]] = int32(k)
		count[h]++
	}
}

// chance is a number that depends on three others and looks like chance: the output function of SplitMix64.
func chance(a, b, c int) uint64 {
	x := uint64(a)*0x9E3779B97F4A7C15 + uint64(b)*0xD1B54A32D192ED03 + uint64(c)*0x8CB92BA72F3D8DD7
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// hostOf returns the host of URL i.
func (w *web) hostOf(i int) int {
	if i%w.fresh < w.own {
		return int(w.host[i/w.fresh])
	}
	return int(chance(i, 1, 2) % uint64(w.hosts))
}

// hostURL is the root of a host. Each is a domain of its own; most hosts of the web have three labels.
func hostURL(h int) string { return "https://www.site" + strconv.Itoa(h) + ".test/" }

// topics make the URLs of a host differ in more than a number.
var topics = [...]string{"news", "sports", "science", "travel", "music", "history", "people", "garden"}

// url returns URL i, about 75 bytes, as URLs of the web have.
func (w *web) url(i int) string {
	return hostURL(w.hostOf(i)) + topics[i%len(topics)] + "/archive-" + strconv.Itoa(i%97) + "/a-simulated-article-" + strconv.Itoa(i)
}

// indexOf is the inverse of url.
func (w *web) indexOf(url string) (int, error) {
	i, err := strconv.Atoi(url[strings.LastIndexByte(url, '-')+1:])
	if err != nil || i < 0 || i >= w.urls || w.url(i) != url {
		return 0, fmt.Errorf("%s is no URL that went in", url)
	}
	return i, nil
}

// recently is how many URLs back a repeat is of, if it is one of something found lately.
const recently = 100_000

// links appends the URLs that page k links to: first the new ones, then the repeats.
func (w *web) links(k int, to []int) []int {
	first := k * w.fresh
	n := min(w.fresh, w.urls-first)
	for j := range n {
		to = append(to, first+j)
	}
	if first == 0 {
		return to
	}
	for j := range n {
		for try := range 8 { // the parser sends no link of a page twice
			if i := w.repeat(k, j, try); !slices.Contains(to, i) {
				to = append(to, i)
				break
			}
		}
	}
	return to
}

// repeat returns the j-th repeat of page k. Of those to its own host, half are of a menu, which all pages of the host
// have, the others of its earlier pages, whichever. Of those to other hosts, half were found lately.
func (w *web) repeat(k, j, try int) int {
	r := chance(k, j, 3+try)
	earlier := w.byHost[w.start[w.host[k]]:][:w.nth[k]]
	switch {
	case j < w.own && len(earlier) > 0 && j%2 == 0 && try == 0:
		return int(earlier[0])*w.fresh + j/2
	case j < w.own && len(earlier) > 0 && try < 4:
		return int(earlier[r>>16%uint64(len(earlier))])*w.fresh + int(r%uint64(w.own))
	}
	span := k * w.fresh
	if r&1 == 0 {
		span = min(span, recently)
	}
	return k*w.fresh - 1 - int(r>>1%uint64(span))
}

// depth of what page k links to. A crawl goes breadth first, so depth grows as more is found; one page in fifty is
// found late, and brings links nearer than they were known.
func (w *web) depth(k int) int {
	d := 1 + bits.Len(uint(k))/3
	if d > 1 && chance(k, 2, 0)%50 == 0 {
		d--
	}
	return d
}
