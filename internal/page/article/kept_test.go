package article

import (
	"strings"
	"testing"
)

// Parts of the text that look like something next to it.
func TestWhatIsKept(t *testing.T) {
	paragraphs := strings.Repeat("<p>"+long+long+"</p>", 30)
	for name, c := range map[string]struct{ html, kept string }{
		"a button that opens an answer": {"<h2><button type=button>How long is delivery?</button></h2><div><p>Nine working days.</p></div>", "How long is delivery?\nNine working days."},
		"an answer to be found":         {"<h3>How long?</h3><div hidden=until-found><p>Nine working days.</p></div>", "How long?\nNine working days."},
		"an id with a number in base 16": {"<div id=container-83ad84a411><p>The mill is open on Sundays.</p></div><div id=ad33f1><p>Bring a coat.</p></div>",
			"open on Sundays.\nBring a coat."},
		"an id made from a heading": {"<section id=cookies><h2>Cookies</h2><p>The jar has those of a response.</p></section>", "Cookies\nThe jar"},
		"a method called skip":      {`<section class=detail id="skip(long)"><h3>skip</h3><div>public long skip(long n)</div></section>`, "skip\npublic long skip(long n)"},
		"a signature full of links": {"<details open><summary><section><h4>pub fn <a href=#f>from_utf8</a>(vec: <a href=v>Vec</a>) -> <a href=r>Result</a></h4></section>" +
			"</summary><p>Converts bytes to a text.</p></details>", "pub fn from_utf8(vec: Vec) -> Result"},
	} {
		got, _ := Options{}.Main(parse(t, "<main><h1>Title</h1>"+paragraphs+c.html+"</main>"))
		if !strings.Contains(got.Text, c.kept) {
			t.Errorf("%s: no %q in %s", name, c.kept, got.Text[len(got.Text)-200:])
		}
	}
	got, _ := Options{}.Main(parse(t, "<article><h1>Title</h1><p class=standfirst>Two villages were cleared.</p><figure><img src=a.jpg><figcaption>The bridge on Monday."+
		"</figcaption></figure><div class=article-body>"+paragraphs+"</div><p>Correction: the wrong village.</p></article>"))
	for _, s := range []string{"Title\nTwo villages", "The bridge on Monday.", "Correction"} {
		if !strings.Contains(got.Text, s) {
			t.Errorf("an article of a body and what is around it: no %q", s)
		}
	}
}
