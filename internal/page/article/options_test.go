package article

import (
	"fmt"
	"strings"
	"testing"
)

// commented is an article with a title, a standfirst, a caption, related texts, and comments.
func commented() string {
	var b strings.Builder
	b.WriteString(`<html><head><meta property="og:type" content="article"></head><body><main><article><h1>The old mill</h1>
		<p class=lead>A standfirst about the valley and its mill, which stands there still.</p><div class=body>`)
	for range 6 {
		b.WriteString("<p>" + long + "</p>")
	}
	b.WriteString(`<figure><img src=m.jpg><figcaption>The wheel, photographed in winter</figcaption></figure><p>` + long + `</p></div>
		<p><a href=/r>Related: another mill in the next valley</a></p></article></main><ol class=comments>`)
	for n := range 3 {
		fmt.Fprintf(&b, `<li class=comment><div class=userinfo>Joined 2009</div><div class=comment-content>%s</div></li>`, post(n))
	}
	return b.String() + "</ol><footer>Imprint</footer>"
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o         Options
		has, lack []string
	}{
		"none":      {Options{}, []string{"The old mill", "standfirst", "wheel, photographed", "river"}, []string{"Post 1", "Imprint"}},
		"precision": {Options{Prefer: Precision}, []string{"river"}, []string{"The old mill", "standfirst", "photographed", "Related", "Post 1"}},
		"recall":    {Options{Prefer: Recall}, []string{"The old mill", "standfirst", "photographed", "Related", "river"}, []string{"Imprint"}},
		"comments":  {Options{Comments: true}, []string{"river", "\nComments\nPost 0", "Post 2"}, []string{"Joined", "Imprint"}},
		"both":      {Options{Comments: true, Prefer: Precision}, []string{"river", "\nComments\nPost 0"}, []string{"The old mill", "Joined"}},
	} {
		got, ok := c.o.Main(parse(t, commented()))
		for _, s := range c.has {
			if !ok || !strings.Contains(got.Text, s) {
				t.Errorf("%s: no %q in %s", name, s, got.Text)
			}
		}
		for _, s := range c.lack {
			if strings.Contains(got.Text, s) {
				t.Errorf("%s: %q in %s", name, s, got.Text)
			}
		}
		if got.Text != Text(got.Node) {
			t.Errorf("%s: the text is not that of the node", name)
		}
	}
	for name, page := range hostile {
		for p := Balanced; p <= Recall; p++ {
			if _, ok := (Options{Comments: true, Prefer: p}).Main(parse(t, page(1<<16))); !ok && name == "posts" {
				t.Errorf("%s: no content", name)
			}
		}
	}
}

// The posts of a thread occur once, with or without comments.
func TestCommentsOfAThread(t *testing.T) {
	var page strings.Builder
	page.WriteString("<h1>Title</h1>")
	for n := range 4 {
		fmt.Fprintf(&page, `<div class=comment><div class=text>%s</div></div>`, post(n))
	}
	got, _ := Options{Comments: true}.Main(parse(t, page.String()))
	for n := range 4 {
		if c := strings.Count(got.Text, fmt.Sprintf("Post %d", n)); c != 1 {
			t.Errorf("post %d is there %d times", n, c)
		}
	}
}
