package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/ops/seeds"
	"seine/internal/run/crawl"
)

func TestSeedsFromLinesAndJSON(t *testing.T) {
	const a, b = `{"url":"https://a.test/"}` + "\n", `{"url":"https://b.test/","priority":0}` + "\n"
	for name, c := range map[string]struct {
		in, want string
		bad      int
		err      string // part of it
	}{
		"lines":            {in: "https://a.test/\r\n\n# not\nhttps://A.test\n", want: a + a},
		"no newline":       {in: "https://a.test/", want: a},
		"JSON lines":       {in: "\"https://a.test/\"\n{\"url\": \"https://b.test/\", \"priority\": 0}\n", want: a + b},
		"array":            {in: "\ufeff \n[\n \"https://a.test/\",\n {\"url\": \"https://b.test/\",\n \"priority\": 0}\n]\n", want: a + b},
		"arrays":           {in: `["https://a.test/"] []` + "\n" + `["https://a.test/"]`, want: a + a},
		"bad lines":        {in: "ftp://x/\nhttps://a.test/\nnonsense\n", want: a, bad: 2},
		"bad items":        {in: `["ftp://x/", 7, "https://a.test/", {"link": "https://a.test/"}]`, want: a, bad: 3},
		"array cut short":  {in: `["https://a.test/", `, want: a, err: "no JSON array of seeds"},
		"not JSON":         {in: `[https://a.test/]`, err: "no JSON array of seeds"},
		"after the array":  {in: `["https://a.test/"] 7`, want: a, err: "outside of the array"},
		"one endless line": {in: strings.Repeat("x", seeds.MaxLine+1), err: "line 1 is longer than 1MiB"},
		"metadata": {
			in:   `{"url": "https://a.test/", "metadata": {"customer": "17"}, "inherit": true}` + "\n" + `{"url": "https://b.test/", "metadata": {"customer": 17}}`,
			want: `{"url":"https://a.test/","metadata":{"customer":"17"},"inherit":true}` + "\n", bad: 1,
		},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSeedPublisher(t.Context(), nil, "c", nil)
			err := f.lines("stdin", strings.NewReader(c.in))
			if f.Pending() != c.want || f.bad.count != c.bad {
				t.Errorf("it takes %q and %d bad ones, want %q and %d", f.Pending(), f.bad, c.want, c.bad)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("it says %v, want %q", err, c.err)
			}
		})
	}
}

func TestLinesThatAreNoURLsArePassedOver(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.test/\nnonsense\n\n# no\nhttps://b.test\n": "https://a.test/ https://b.test/",
		"https://a.test/":                    "https://a.test/",
		"nonsense\nftp://a.test/\n":          "standard input: 2 lines are not URLs",
		strings.Repeat("x", seeds.MaxLine+1): "line 1 is longer than 1MiB",
		`{"url": "https://a.test/", "priority": 0}` + "\nhttps://b.test\n": "https://a.test/ https://b.test/",
		` ["https://a.test/", {"url": "https://b.test"}]`:                  "https://a.test/ https://b.test/",
		"": "standard input: contains no URL",
	} {
		seeds, err := seedLines(strings.NewReader(in), new(complaints))
		all := crawl.URLsOf(seeds)
		if err != nil {
			all = append(all, err.Error())
		}
		if got := strings.Join(all, " "); !strings.Contains(got, want) {
			t.Errorf("%.40q gives %q, want %q", in, got, want)
		}
	}
}

// Crawling a list with an invalid line crawls the other lines, and ends like seine seed.
func TestCrawlOfAListWithABadLine(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	for name, c := range map[string]struct {
		list, summary, complaint string
		code                     int
	}{
		"good":     {site + "/p/1\n", "1 record in 1 file", "", exitOK},
		"bad":      {site + "/p/1\nnonsense\n", "1 record in 1 file", "line 2: \"nonsense\"", exitUsage},
		"none":     {"nonsense\n", "", "line 1: \"nonsense\"", exitUsage},
		"empty":    {"", "", "standard input: contains no URL", exitUsage},
		"comments": {"# no\n\n", "", "standard input: contains no URL", exitUsage},
		"no pages": {site + "/missing\nnonsense\n", "nothing in", "line 2: \"nonsense\"", exitFailed},
	} {
		file := filepath.Join(dir, "urls.txt")
		if err := os.WriteFile(file, []byte(c.list), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		old := os.Stdin
		os.Stdin = in
		data := filepath.Join(dir, name)
		code, out, stderr := seine(t, "crawl", "-", "--data", data, "--out", data+"-out", "--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet")
		os.Stdin = old
		_ = in.Close()
		if code != c.code || !strings.Contains(out, c.summary) || !strings.Contains(stderr, c.complaint) {
			t.Errorf("%s: exit code %d, want %d; %s%s", name, code, c.code, out, stderr)
		}
	}
}

// A list without URLs is an error that names it, alone or beside other lists, which are added.
func TestSeedOfAnEmptyListIsAnError(t *testing.T) {
	url := hostileCluster(t)
	some, empty := write(t, "some.txt", "https://a.test/\n"), write(t, "empty.txt", "# nothing\n\n")
	site := write(t, "empty.xml", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`)
	for args, parts := range map[string][]string{
		"--file " + empty:                     {empty + ": contains no URL"},
		"--sitemap " + site:                   {site + ": contains no URL"},
		"--file " + some + " --file " + empty: {"1 URL was added to crawl c\n", empty + ": contains no URL"},
		"--file " + empty + " https://b.test": {"1 URL was added to crawl c\n", empty + ": contains no URL"},
	} {
		code, stdout, stderr := seine(t, append([]string{"seed", "--nats", url, "--crawl", "c"}, strings.Fields(args)...)...)
		if code != exitUsage || strings.Contains(stdout, "0 URLs") {
			t.Errorf("seine seed %s ends with %d: %s%s", args, code, stdout, stderr)
		}
		says(t, "seine seed "+args, stdout+stderr, parts...)
	}
}

func TestSeedsFromASitemapFile(t *testing.T) {
	const xml = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.test/</loc></url>` +
		`<url><loc> https://b.test/ </loc><priority>1.0</priority></url></urlset>`
	zipped := filepath.Join(t.TempDir(), "sitemap.xml.gz")
	out, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(out)
	if _, err := z.Write([]byte(xml)); err != nil || z.Close() != nil || out.Close() != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"XML": write(t, "sitemap.xml", xml), "gzip": zipped,
		"cut short": write(t, "cut.xml", xml[:len(xml)-3]),
	} {
		t.Run(name, func(t *testing.T) {
			f := newSeedPublisher(t.Context(), nil, "c", nil)
			if err := f.sitemap(path); err != nil {
				t.Fatal(err)
			}
			if want := `{"url":"https://a.test/"}` + "\n" + `{"url":"https://b.test/","priority":0}` + "\n"; f.Pending() != want {
				t.Errorf("it takes %q, want %q", f.Pending(), want)
			}
		})
	}
	f := newSeedPublisher(t.Context(), nil, "c", nil)
	if err := f.sitemap(write(t, "urls.txt", "https://a.test/\nhttps://b.test/\n")); err != nil || strings.Count(f.Pending(), "\n") != 2 {
		t.Errorf("a list of URLs: %v, %q", err, f.Pending())
	}
	index := newSeedPublisher(t.Context(), nil, "c", nil)
	if site, err := readSitemap(write(t, "index.xml", "<sitemapindex><sitemap><loc>https://a.test/urls</loc></sitemap></sitemapindex>")); err != nil || index.entries("", site) != nil ||
		index.Pending() != `{"url":"https://a.test/urls","sitemap":true}`+"\n" {
		t.Errorf("an index: %v, %q", err, index.Pending())
	}
	for name, path := range map[string]string{
		"no such file": filepath.Join(t.TempDir(), "none"), "no sitemap": write(t, "page.html", productPage), "empty": write(t, "empty", ""),
		"relative": write(t, "rel.txt", "/a\n/b\n"),
	} {
		if err := f.sitemap(path); err == nil || !strings.Contains(err.Error(), "--sitemap") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeedRefusesWhatItCannotMean(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--class", "timeout", "https://a.test/"}, {"--failures-of", "c", "--class", "bad_luck"}, {"--priority", "10", "https://a.test/"},
		{"--crawl", "no such name", "https://a.test/"},
	} {
		if code, _, stderr := seine(t, append([]string{"seed"}, args...)...); code != exitUsage || stderr == "" {
			t.Errorf("seed %q ends with %d and says %q", args, code, stderr)
		}
	}
}
