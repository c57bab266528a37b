package feed

import (
	"slices"
	"strings"
	"testing"
)

// three is a feed of three items. The second contains the argument.
func three(second string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>T</title><item><link>/1</link></item>` +
		second + "<item><link>/3</link></item></channel></rss>"
}

// Each of these ended the reading of the feed, or lost more than its own item, when the feed was
// parsed as XML.
func TestBrokenFeedsGiveWhatIsWholeInThem(t *testing.T) {
	const item = "<item><link>/2</link></item>"
	for name, f := range map[string]struct {
		body    string
		want    string // of the URLs, below the host
		repairs bool
	}{
		"Latin-1 byte in a link":      {three("<item><link>/caf\xe9</link></item>"), "/1 /caf%E9 /3", true},
		"Latin-1 byte in a title":     {three("<item><title>caf\xe9</title><link>/2</link></item>"), "/1 /2 /3", true},
		"Latin-1 byte in an href":     {three("<item><link href='/caf\xe9'/></item>"), "/1 /caf%E9 /3", true},
		"control character":           {three("<item><title>a\x02b</title><link>/2</link></item>"), "/1 /2 /3", true},
		"-- in a comment":             {three("<!-- a -- b -->" + item), "/1 /2 /3", false},
		"XML 1.1":                     {strings.Replace(three(item), "1.0", "1.1", 1), "/1 /2 /3", false},
		"unknown encoding":            {strings.Replace(three(item), "UTF-8", "utf-eight", 1), "/1 /2 /3", false},
		"UTF-16 that is not":          {strings.Replace(three(item), "UTF-8", "UTF-16", 1), "/1 /2 /3", false},
		"bare ampersand":              {three("<item><link>/2?a=1&copy=2</link></item>"), "/1 /2?a=1&copy=2 /3", true},
		"item without end":            {three("<item><link>/2</link>"), "/1 /2 /3", true},
		"item ended twice":            {three(item + "</item>"), "/1 /2 /3", true},
		"title without end":           {three("<item><link>/2</link><title>x</item>"), "/1 /2 /3", true},
		"warning before":              {"<b>Warning</b>: x<br />" + three(item), "/1 /2 /3", false},
		"markup that crosses":         {three("<item><link>/2</link><description><b><i>x</b></i></description></item>"), "/1 /2 /3", true},
		"title that looks like HTML":  {three("<item><title>a<b></title><link>/2</link></item>"), "/1 /2 /3", true},
		"script in a description":     {three("<item><description><script>if (a<b) x()</script></description><link>/2</link></item>"), "/1 /2 /3", true},
		"entity of HTML":              {three("<item><title>caf&eacute; &nosuch;</title><link>/2</link></item>"), "/1 /2 /3", true},
		"link of something else":      {three("<item><source><x><link href='/9'/></x></source><link href='/2'/></item>"), "/1 /2 /3", false},
		"date of a feed without end":  {strings.Replace(three(item), "<item>", "<pubDate><item>", 1), "/1 /2 /3", true},
		"document type with entities": {`<!DOCTYPE rss [<!ENTITY a "b">]>` + three(item), "/1 /2 /3", false},
	} {
		got, err := Parse([]byte(f.body), "", pageURL)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var urls []string
		for _, i := range got.Items {
			urls = append(urls, strings.TrimPrefix(i.URL, "https://docs.example.org"))
			if strings.ToValidUTF8(i.Title, "") != i.Title {
				t.Errorf("%s: title %q", name, i.Title)
			}
		}
		if !slices.Equal(urls, strings.Fields(f.want)) || (got.Repairs > 0) != f.repairs {
			t.Errorf("%s: %q, %d repairs", name, urls, got.Repairs)
		}
	}
}
