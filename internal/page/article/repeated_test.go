package article

import (
	"fmt"
	"strings"
	"testing"
)

// long is too long for a remark.
const long = "The river runs through the valley and past the old mill, where the wheel has not turned for forty years. "

// post is the text of the nth post.
func post(n int) string { return fmt.Sprintf("Post %d. %s", n, strings.Repeat(long, 2)) }

// The texts of a thread are its content, whatever the names of their elements, without what stands
// next to each.
func TestPostsOfAThread(t *testing.T) {
	const around = "<nav><a href=/>Home</a></nav><h1>Title</h1>"
	threads := map[string]string{
		"comments":        `<article class="ipsComment"><aside>Member</aside><div class="ipsContent">%s</div><p><a href=q>Quote</a></article>`,
		"posts in a list": `<ul><li id="post%[2]d"><div class="userinfo">Joined 2009</div><div class="postbody"><p>%[1]s</p></div></li></ul>`,
		"messages":        `<div class="message message--post"><div class="message-user">New member</div><div class="bbWrapper">%s</div><div class="message-signature">Be good</div></div>`,
		"cells":           `<table class="post"><tr><td class="author">Senior</td><td class="body"><div>%s</div></td></tr></table>`,
	}
	for name, form := range threads {
		t.Run(name, func(t *testing.T) {
			var page, want strings.Builder
			page.WriteString(around)
			for n := range 4 {
				page.WriteString(strings.TrimSuffix(fmt.Sprintf(form, post(n), n), fmt.Sprintf("%%!(EXTRA int=%d)", n)))
				want.WriteString("\n" + strings.TrimSpace(post(n)))
			}
			got, _ := Options{}.Main(parse(t, page.String()))
			if text := strings.TrimPrefix(got.Text, "Title"); text != want.String() {
				t.Errorf("got\n%s\nwant%s", text, want.String())
			}
		})
	}
}

// A question is kept before its answers, which have another class. A long text next to them is not.
func TestQuestionBeforeAnswers(t *testing.T) {
	var answers strings.Builder
	for n := range 4 {
		fmt.Fprintf(&answers, "<div class=answer><p>%s</p></div>", post(n))
	}
	text := strings.Repeat("How does a mill run where no river is, and how did it before the steam engine? ", 5)
	page := "<h1>Mills</h1><div class=text><p>%s</p></div>" + answers.String() + "<div class=other><p>%s</p></div>"
	got, _ := Options{}.Main(parse(t, fmt.Sprintf(page, text, strings.ReplaceAll(text, "mill", "boat"))))
	if !strings.Contains(got.Text, "a mill run") || strings.Contains(got.Text, "boat") || strings.Count(got.Text, "Post") != 4 {
		t.Errorf("got %s", got.Text)
	}
}

// A post's quote of an earlier post is left out, except with Recall. Other quotes are kept.
func TestQuotesInAThread(t *testing.T) {
	var page strings.Builder
	for n := range 4 {
		fmt.Fprintf(&page, `<div class=post><blockquote><b>Somebody said:</b><p>%s</p></blockquote><p>%s</p></div>`, post(max(0, n-1)), post(n))
	}
	page.WriteString(`<div class=post><blockquote>From a book on rivers and on the mills beside them.</blockquote><p>` + post(4) + `</p></div>`)
	for prefer, c := range map[Preference]struct{ post, said int }{Balanced: {1, 1}, Recall: {2, 4}} {
		got, _ := Options{Prefer: prefer}.Main(parse(t, page.String()))
		if n, said := strings.Count(got.Text, "Post 2."), strings.Count(got.Text, "said:"); n != c.post || said != c.said || !strings.Contains(got.Text, "From a book") {
			t.Errorf("%d: the post is there %d times, and who said it %d times, in\n%s", prefer, n, said, got.Text)
		}
	}
}

// Comments below an article are not content.
func TestCommentsBelowAnArticle(t *testing.T) {
	for name, head := range map[string]string{"said to be an article": `<meta property="og:type" content="article">`, "not said": ""} {
		var comments strings.Builder
		for n := range 6 {
			fmt.Fprintf(&comments, `<li class="comment"><div class="comment-content">%s</div></li>`, post(n))
		}
		page := "<html><head>" + head + "</head><body><main><p>" + strings.Repeat(long, 12) + "</main><ol>" + comments.String() + "</ol>"
		if got, _ := (Options{}).Main(parse(t, page)); strings.Contains(got.Text, "Post") || !strings.Contains(got.Text, "river") {
			t.Errorf("%s: %.200s", name, got.Text)
		}
	}
}

// The entries of a list are its content, although they are links.
func TestEntriesOfAList(t *testing.T) {
	var entries strings.Builder
	for n := range 12 {
		fmt.Fprintf(&entries, `<div class="card c%d"><a href=/%[1]d>A lamp for the desk, number %[1]d</a><span>%[1]d.50 EUR</span></div>`, n)
	}
	page := "<nav><a href=/>Home</a></nav><h1>Lamps</h1><div class=grid>" + entries.String() + "</div><footer>About us</footer>"
	got, ok := Options{}.Main(parse(t, page))
	for n := range 12 {
		if want := fmt.Sprintf("number %d", n); !strings.Contains(got.Text, want) || !ok {
			t.Errorf("no %q in %s", want, got.Text)
		}
	}
	if strings.Contains(got.Text, "Home") || strings.Contains(got.Text, "About") {
		t.Errorf("the menu or the footer is in %s", got.Text)
	}
}

// A list and a text of the same size are both content.
func TestListBesideAText(t *testing.T) {
	var page strings.Builder
	page.WriteString("<nav><a href=/>Home</a></nav><h1>Lamps</h1><div class=about><p>" + long + long + long + "</p></div><div class=grid>")
	for n := range 12 {
		fmt.Fprintf(&page, `<div class=tile><a href=/%d>A lamp for the desk, number %[1]d</a><span>%[1]d.50 EUR</span></div>`, n)
	}
	got, _ := Options{}.Main(parse(t, page.String()+"</div><footer>About us</footer>"))
	if !strings.Contains(got.Text, "river") || !strings.Contains(got.Text, "number 11") || strings.Contains(got.Text, "Home") || strings.Contains(got.Text, "About") {
		t.Errorf("got %s", got.Text)
	}
}

// Text that a script shows, or browsers without scripts, is content if the page has little else.
func TestContentThatAScriptShows(t *testing.T) {
	text := strings.Repeat(long, 5)
	for name, c := range map[string]struct {
		page string
		is   bool
	}{
		"streamed":          {`<p>Loading</p><div hidden id="S:0"><main><p>` + text + "</main></div>", true},
		"hidden root":       {`<div id=root aria-hidden=true><main><p>` + text + `</main></div><div role=dialog>We use cookies.</div>`, true},
		"hidden by a style": {`<div style="visibility: hidden"><p>` + text + "</div>", true},
		"noscript":          {`<div id=app></div><noscript><div class=post><p>` + text + "</div></noscript>", true},
		"a hint":            {"<div id=app></div><noscript>Turn on scripts, please, to see this page.</noscript>", false},
		"beside a text":     {"<main><p>" + strings.Repeat("Another text that is seen by all. ", 80) + "</main><div hidden><p>" + text + "</div>", false},
	} {
		got, _ := Options{}.Main(parse(t, c.page))
		if strings.Contains(got.Text, "river") != c.is {
			t.Errorf("%s: %s", name, got.Text)
		}
		if strings.Contains(Markdown(got.Node, "https://x.example/"), "river") != c.is {
			t.Errorf("%s: the Markdown differs", name)
		}
	}
}

// A word in a class or ID does not delete the content of a page.
func TestNamesDoNotDeleteTheContent(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat(long, 4))
	const small = "<p>Copyright of the town of Basel and of others.</p>"
	for _, name := range []string{"gdpr", "comments", "cookie-policy", "related", "sidebar", "footer", "sponsored", "gutter", "sr-only", "newsletter", "share"} {
		for _, page := range []string{
			"<div class=" + name + "><p>" + text + "</div>" + small,
			"<div id=" + name + "><p>" + text + "</div>" + small,
			"<h1>A title that is a sentence</h1>" + strings.Repeat("<p class="+name+">"+long, 4) + small,
		} {
			if got, _ := (Options{}).Main(parse(t, page)); !strings.Contains(got.Text, "river") {
				t.Errorf("%s: %q", page[:40], got.Text)
			}
		}
	}
	if got, _ := (Options{}).Main(parse(t, "<form><h1>Closed on Friday</h1><p>The branch office in Basel is closed on Friday for stocktaking.</form><div>Copyright City of Basel</div>")); !strings.Contains(got.Text, "stocktaking") {
		t.Errorf("a form around the page: %q", got.Text)
	}
}
