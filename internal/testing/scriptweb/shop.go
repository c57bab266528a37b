package scriptweb

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// maxShop is the maximum number of pages of one kind.
const maxShop = 100_000

// ShopPath returns the path of a shop page with links to two kinds of pages: /static/1 and on,
// which are complete without JavaScript, and /app/1 and on, which are empty shells. Each shell
// requests one JSON document and then links to /leaf/app-N. The maximum is 100,000 of each.
func ShopPath(static, app int) string { return fmt.Sprintf("/shop/%d/%d", static, app) }

// LightPath returns the path of a page with links to n pages, /light/1 and on. One short script
// without requests renders each. The maximum is 100,000.
func LightPath(n int) string { return fmt.Sprintf("/lights/%d", n) }

// StaticText returns the unique text of the page /static/N, which needs no JavaScript.
func StaticText(n int) string { return fmt.Sprintf("static article number %d.", n) }

// AppText returns the unique text of the page /app/N, which needs JavaScript.
func AppText(n int) string { return fmt.Sprintf("rendered article number %d.", n) }

// LightText returns the unique text of the page /light/N, which needs JavaScript.
func LightText(n int) string { return fmt.Sprintf("light article number %d.", n) }

// shop serves the numbered pages. It reports whether the path is one of theirs.
func shop(rw http.ResponseWriter, kind, rest string) bool {
	numbers, ok := parseNumbers(strings.TrimPrefix(rest, "app/"))
	if !ok || (len(numbers) == 2) != (kind == "shop") {
		return false
	}
	switch n := numbers[0]; kind {
	case "shop":
		writeHTML(rw, index("Shop", links("static", n)+links("app", numbers[1])))
	case "lights":
		writeHTML(rw, index("Lights", links("light", n)))
	case "static":
		writeHTML(rw, staticPage(n))
	case "app":
		writeHTML(rw, appPage)
	case "light":
		writeHTML(rw, lightPage)
	case "api":
		asJSON(rw, map[string]string{"name": fmt.Sprintf("Item %d", n), "text": AppText(n), "href": fmt.Sprintf("/leaf/app-%d", n)})
	}
	return true
}

// parseNumbers parses one number, or two with a slash between them.
func parseNumbers(text string) (numbers []int, ok bool) {
	for part := range strings.SplitSeq(text, "/") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > maxShop || len(numbers) == 2 {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

func links(kind string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<li><a href=\"/%s/%d\">%s %d</a></li>\n", kind, i+1, kind, i+1)
	}
	return b.String()
}

func index(title, list string) string {
	return "<!doctype html>\n<html lang=\"en\">\n<title>" + title + "</title>\n<h1>" + title + "</h1>\n<ul>\n" + list + "</ul>\n"
}

// staticPage has about 4 KiB of text and a script that it does not need.
func staticPage(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<title>Article %d</title>\n<script src=\"/assets/menu.js\" defer></script>\n", n)
	fmt.Fprintf(&b, "<nav><a href=\"/static/1\">first</a></nav>\n<main>\n<h1>Article %d</h1>\n<p>This is %s</p>\n", n, StaticText(n))
	for i := range 16 {
		fmt.Fprintf(&b, "<p>Paragraph %d of article %d says how the goods of shelf %d are kept, who has made them, and which "+
			"of them are sold together. It is written by hand, and is there before any script has run: whoever reads the page "+
			"without one misses nothing.</p>\n", i+1, n, (n*31+i*7)%97)
	}
	b.WriteString("</main>\n")
	return b.String()
}

// appPage is the shell of a page that the browser renders.
const appPage = `<!doctype html>
<html lang="en">
<title>Shop</title>
<div id="root"></div>
<script src="/assets/app.js"></script>
`

// lightPage renders itself from its own path.
const lightPage = `<!doctype html>
<html lang="en">
<title>Light</title>
<div id="root"></div>
<script>
  const n = location.pathname.split('/').pop()
  let html = '<p>This is light article ' + 'number ' + n + '.</p>'
  for (let i = 1; i <= 20; i++) html += '<p>line ' + i + '</p>'
  document.getElementById('root').innerHTML = html + '<a href="/leaf/light-' + n + '">more</a>'
</script>
`
