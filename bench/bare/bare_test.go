package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/testing/testweb"
)

func TestCollectFindsEveryPage(t *testing.T) {
	web := testweb.New(testweb.Config{
		Seed: 3, PagesPerHost: 60, PageBytes: 2048, RobotsTxt: testweb.RobotsMissing, RedirectRate: 0.2, MissingRate: 0.1,
	})
	server := testweb.Run(t, web)

	var sum totals
	if err := collect(t.Context(), "http://"+server.Addr()+"/", limits{4, 1000}, &sum); err != nil {
		t.Fatal(err)
	}
	for _, path := range web.Pages(0) {
		if web.Count(0, path) == 0 {
			t.Errorf("%s was not asked for", path)
		}
	}
	if sum.titles.Load() != sum.pages.Load() {
		t.Errorf("pages without title: %s", sum.String())
	}
	if err := collect(t.Context(), "http://"+server.Addr()+"/", limits{4, 10}, &sum); err == nil {
		t.Error("the limit did not stop it")
	}
}

func TestFetchListAsksForEachOnce(t *testing.T) {
	web := testweb.New(testweb.Config{Seed: 3, PagesPerHost: 40, PageBytes: 2048})
	server := testweb.Run(t, web)
	var list strings.Builder
	for page := range 40 {
		list.WriteString("http://" + server.Addr() + web.Path(0, page) + "\n")
	}
	name := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(name, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	var sum totals
	if err := fetchList(t.Context(), name, 4, &sum); err != nil {
		t.Fatal(err)
	}
	if got := len(web.Requests()); got != 40 || sum.pages.Load() != 40 {
		t.Errorf("%d requests, %s", got, sum.String())
	}

	web.SetStatus(0, 503, "")
	if err := fetchList(t.Context(), name, 4, &sum); err == nil {
		t.Error("a page that fails is no error")
	}
}

func TestPageTargets(t *testing.T) {
	const body = `<title> A &amp; B </title><base href="/d/"><a href=" x#f">x</a><a name=n><AREA href='?q=1&amp;r=2'>
<iframe src=//h:1/y></iframe><a href="http://other/">o</a><a href="mailto:a@b">m</a><!-- <a href=no> --><a href="http://h:1/é">`
	p := &page{url: mustParse(t, "http://h:1/a/b")}
	if err := p.read(strings.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	want := []string{"http://h:1/d/x", "http://h:1/d/?q=1&r=2", "http://h:1/y", "http://h:1/%C3%A9"}
	if got := p.targets(); p.title != "A & B" || !slices.Equal(got, want) {
		t.Errorf("title %q, targets %q", p.title, got)
	}
}

func TestRunRefusesBadUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"fetch"}, {"other", "x"}, {"fetch", "-n", "0", "x"}} {
		if run(context.Background(), args) == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
