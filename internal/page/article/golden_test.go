package article

import (
	"flag"
	"os"
	"testing"

	"seine/internal/testing/groundtruth"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const pageURL = "https://docs.example.org/guide/4.2/page.html"

// TestGolden reads the pages in testdata. Update the expected results with -update, and review the
// difference.
func TestGolden(t *testing.T) {
	for _, p := range append(load(t, "pages"), load(t, "unseen")...) {
		t.Run(p.Name, func(t *testing.T) {
			c, ok := Options{}.Main(parse(t, p.HTML))
			if ok != (p.Keep != "") {
				t.Fatalf("main content: %t", ok)
			}
			compare(t, "testdata/golden/"+p.Name+".txt", c.Text+"\n")
			compare(t, "testdata/golden/"+p.Name+".md", Markdown(c.Node, pageURL))
		})
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", golden, got, want)
	}
}

func load(t testing.TB, folder string) []groundtruth.Page {
	t.Helper()
	pages, err := groundtruth.Load("testdata/" + folder)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// No page scores lower than before. The pages in unseen were written after the rules were final,
// and no rule was changed for them: they show what to expect of other pages. bench/article prints
// the numbers.
func TestFindsTheTruth(t *testing.T) {
	for _, c := range []struct {
		folder      string
		least, mean float64
	}{{"pages", 0.94, 0.99}, {"unseen", 0.84, 0.95}} {
		pages := load(t, c.folder)
		var sum float64
		for _, p := range pages {
			content, _ := Options{}.Main(parse(t, p.HTML))
			s := p.Score(content.Text)
			sum += s.F1()
			if s.F1() < c.least {
				wrong, missed := p.Differences(content.Text)
				t.Errorf("%s: precision %.3f, recall %.3f\ntoo much: %v\nmissing: %v", p.Name, s.Precision(), s.Recall(), wrong, missed)
			}
		}
		if mean := sum / float64(len(pages)); mean < c.mean {
			t.Errorf("%s: mean F1 %.4f", c.folder, mean)
		}
	}
}

// Another parser's result of the Markdown of a page has the words of its text.
func TestMarkdownSaysWhatThePageSays(t *testing.T) {
	for _, p := range append(load(t, "pages"), load(t, "unseen")...) {
		c, ok := Options{}.Main(parse(t, p.HTML))
		if !ok {
			continue
		}
		read := Text(render(t, Markdown(c.Node, pageURL)))
		said := groundtruth.Page{Keep: c.Text, Either: "1 2 3 ↩\ufe0e ↩\ufe0e"} // of footnotes
		if s := said.Score(read); s.Wrong > 0 || s.Recall() < 0.98 {
			wrong, missed := said.Differences(read)
			t.Errorf("%s: too much: %v; missing: %v", p.Name, wrong, missed)
		}
	}
}
