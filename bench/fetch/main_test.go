package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

func TestURLTellsItsIndex(t *testing.T) {
	for _, to := range []target{{port: "81"}, {port: "81", hosts: 7}, {port: "81", paths: []string{"/a.html", "/b/c.html"}}} {
		seen := make(map[string]bool)
		for i := range 100 {
			url := to.url(i)
			if canonical, err := weburl.Canonicalize(url); err != nil || canonical != url || seen[url] {
				t.Fatalf("URL %d is %s: canonical %s, %v, known %t", i, url, canonical, err, seen[url])
			}
			seen[url] = true
			if got, err := to.index(url); err != nil || got != i {
				t.Fatalf("index of %s is %d, %v; want %d", url, got, err, i)
			}
		}
		for _, bad := range []string{"", "http://127.0.0.1:81/", "http://h9.localhost:81/?n=1", "http://127.0.0.1:82/?n=0", to.url(3) + "x"} {
			if i, err := to.index(bad); err == nil {
				t.Errorf("%q is taken for URL %d", bad, i)
			}
		}
	}
}

func TestEachRequestHasOneResult(t *testing.T) {
	to := &target{port: "81"}
	c := tally{target: to, known: make([]bool, 2)}
	for _, tc := range []struct {
		name  string
		url   string
		class messages.Class
		wrong string
	}{
		{"first", to.url(0), messages.OK, ""},
		{"another", to.url(1), messages.OK, ""},
		{"again", to.url(1), messages.OK, "two results"},
		{"not asked for", to.url(2), messages.OK, "not asked for"},
		{"failed", to.url(1), messages.Timeout, "timeout"},
	} {
		err := c.add(&messages.Result{URL: tc.url, Class: tc.class})
		if (err != nil) != (tc.wrong != "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.wrong)
		}
	}
}

func TestResponseIsAPageOfItsSize(t *testing.T) {
	for _, size := range []int{smallPage, largePage} {
		head, body, ok := bytes.Cut(response(size), []byte("\r\n\r\n"))
		if !ok || len(body) != size || !bytes.Contains(head, []byte("Content-Length: "+strconv.Itoa(size))) {
			t.Errorf("%d bytes: a body of %d, under %q", size, len(body), head)
		}
	}
}

func TestHTMLFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.html", "index.html", "b/c.html", "b/index.html", "d e.html", "f.txt"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := htmlFiles(dir)
	if want := []string{"/a.html", "/b/c.html"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if _, err := htmlFiles(t.TempDir()); err == nil {
		t.Error("a folder without pages is taken")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in                  []float64
		middle, least, most float64
	}{{[]float64{3, 1, 2}, 2, 1, 3}, {[]float64{4, 1, 2, 3}, 2.5, 1, 4}, {[]float64{1}, 1, 1, 1}} {
		if middle, least, most := median(c.in); middle != c.middle || least != c.least || most != c.most {
			t.Errorf("%v: %g (%g–%g)", c.in, middle, least, most)
		}
	}
}

func TestWindow(t *testing.T) {
	at := time.Now()
	a := costs{at: at, pages: 100, fetchers: 1, nats: 1, web: 1, own: 1, all: 10}
	b := costs{at: at.Add(2 * time.Second), pages: 1100, fetchers: 1.1, nats: 1.2, web: 1.3, own: 1, all: 12.6}
	w := between(a, b)
	if w.rate() != 500 || int(w.fetchers+0.5) != 100 || int(w.nats+0.5) != 200 || int(w.web+0.5) != 300 || w.own != 0 {
		t.Errorf("%+v", w)
	}
	if w.others < 0.99 || w.others > 1.01 {
		t.Errorf("%g other cores, want 1", w.others)
	}
}

func TestOptions(t *testing.T) {
	for _, args := range []string{"-hosts 0", "-latency 0s", "-workers 0", "-seconds 0s", "-budget 0", "-rounds 0", "more"} {
		if _, err := parseOptions(measureSlow, strings.Fields(args)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
	o, err := parseOptions(measureLinear, nil)
	if err != nil || o.Workers != 100 || o.ideal(2) != 1000 || o.enough(1) < 500*25 {
		t.Errorf("%+v, %v", o, err)
	}
	if err := run(t.Context(), []string{"other"}); !errors.Is(err, errUsage) {
		t.Errorf("an unknown command: %v", err)
	}
}
