package samplesites

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
)

// Sizes of the newspaper.
const (
	newsArticles   = 42
	newsPerSection = 5 // teasers on a page of a section
)

var newsSections = []category{{"politics", "Politics"}, {"economy", "Economy"}, {"culture", "Culture"}}

// article is an article of the newspaper.
type article struct {
	ID          int
	Title, Lead string
	Author      string
	Section     category
	Tags        []string
	Published   time.Time
	Modified    time.Time
	Blocks      []block // the last one links to another article
	paragraphs  []string
	Related     []*article
	// Hidden articles are linked from no page: half of them are in the feed, half in the sitemap.
	Hidden bool
}

// Path returns the path of the article's page.
func (a *article) Path() string {
	return fmt.Sprintf("/%s/%s-%d.html", a.Published.Format("2006/01/02"), slug(a.Title), a.ID)
}

// Markup returns the HTML of the article's body.
func (a *article) Markup() template.HTML { return markup(a.Blocks) }

// Date returns the time of publication in RFC 3339 format.
func (a *article) Date() string { return a.Published.Format(time.RFC3339) }

// Update returns the time of the last change in RFC 3339 format.
func (a *article) Update() string { return a.Modified.Format(time.RFC3339) }

// Day returns the date of publication for readers.
func (a *article) Day() string { return a.Published.Format("2 January 2006") }

// Email returns the date of publication as RSS requires it (RFC 822).
func (a *article) Email() string { return a.Published.Format(time.RFC1123Z) }

// Image returns the path of the picture at the top.
func (a *article) Image() string { return fmt.Sprintf("/media/%d-1200x630.jpg", a.ID) }

// Byline returns the path of the author's page.
func (a *article) Byline() string { return "/authors/" + slug(a.Author) }

// Template returns the name of the article's template: "graph" has JSON-LD, "old" marks the byline.
func (a *article) Template() string {
	return []string{"graph", "old"}[a.ID%2]
}

// Graph returns the JSON-LD of an article as a common plug-in writes it: one graph with internal
// references.
func (a *article) Graph(base string) template.JS {
	page := base + a.Path()
	return mustJS(map[string]any{"@context": "https://schema.org", "@graph": []any{
		map[string]any{"@type": "WebSite", "@id": base + "/#website", "name": "The Daily Bridge", "url": base + "/"},
		map[string]any{
			"@type": "NewsArticle", "@id": page + "#article", "headline": a.Title, "datePublished": a.Date(), "dateModified": a.Update(),
			"author":         []any{map[string]any{"@type": "Person", "name": a.Author, "url": base + a.Byline()}},
			"articleSection": a.Section.Name, "isPartOf": map[string]any{"@id": base + "/#website"},
			"image": map[string]any{"@type": "ImageObject", "url": base + a.Image()}, "keywords": strings.Join(a.Tags, ", "),
		},
	}})
}

func newNews(seed uint64) *SampleSite {
	s := &SampleSite{Seeds: []string{"/"}, pages: map[string]page{}}
	t := templates("news")
	all := newsContent(newProse(seed, "news"))
	var shown, hidden []*article
	for _, a := range all {
		s.pages[a.Path()] = page{typeHTML, func(r request) []byte { return render(t, a.Template(), r, a) }}
		if s.html(a.Byline(), t, "author", a.Author); a.Hidden {
			hidden = append(hidden, a)
		} else {
			shown = append(shown, a)
		}
	}
	s.html("/", t, "front", shown[:6])
	for _, c := range newsSections {
		newsSection(s, t, c, shown)
	}
	for _, name := range []string{"/about", "/newsletter", "/subscribe"} {
		s.html(name, t, "plain", capital(name[1:]))
	}
	half := len(hidden) / 2
	fed, listed := append(hidden[:half:half], shown[:4]...), append(hidden[half:len(hidden):len(hidden)], shown[4:]...)
	s.pages["/feed.xml"] = page{typeRSS, func(r request) []byte { return newsFeed(r.base, fed) }}
	s.pages["/sitemap.xml"] = page{typeXML, func(r request) []byte { return newsSitemap(r.base, listed) }}
	s.text("/robots.txt", typeText, "User-agent: *\nDisallow: /subscribe\n\nSitemap: {base}/sitemap.xml\n")
	s.text("/style.css", typeCSS, "body { font-family: serif }\n")
	s.main = map[string][]string{}
	for _, a := range all {
		s.main[a.Path()] = a.paragraphs
	}
	s.truth = func(base string) Truth { return newsTruth(base, all) }
	return s
}

// teasers is one page of a section.
type teasers struct {
	Section  category
	Articles []*article
	Page     int
	Next     string
}

func newsSection(s *SampleSite, t *template.Template, c category, all []*article) {
	var of []*article
	for _, a := range all {
		if a.Section == c {
			of = append(of, a)
		}
	}
	for n := 1; len(of) > 0; n++ {
		list := teasers{Section: c, Page: n, Articles: of[:min(newsPerSection, len(of))]}
		of = of[len(list.Articles):]
		path := "/" + c.Slug + "/"
		if len(of) > 0 {
			list.Next = path + "page/" + strconv.Itoa(n+1) + "/"
		}
		if n > 1 {
			path += "page/" + strconv.Itoa(n) + "/"
		}
		s.html(path, t, "section", list)
	}
}

func newsContent(p prose) []*article {
	zone := time.FixedZone("CET", 3600)
	var all []*article
	for i := range newsArticles {
		a := &article{
			ID: 70100 + i, Title: p.title(), Lead: p.sentence(), Author: p.person(), Section: newsSections[i%len(newsSections)],
			Tags:      []string{pick(p, nouns[:30]), pick(p, nouns[30:])},
			Published: time.Date(2026, time.Month(1+i%3), 1+p.IntN(28), 6+p.IntN(14), p.IntN(60), 0, 0, zone), Hidden: i%7 == 6,
		}
		a.Modified = a.Published.Add(time.Duration(p.IntN(600)) * time.Minute)
		all = append(all, a)
	}
	for i, a := range all {
		a.Related = []*article{all[(i+14)%len(all)&^1], all[(i+3)%len(all)]}
		if a.Related[0].Hidden {
			a.Related = a.Related[1:]
		}
		a.Related = visible(a.Related)
		a.write(p)
	}
	return all
}

func visible(as []*article) []*article {
	var kept []*article
	for _, a := range as {
		if !a.Hidden {
			kept = append(kept, a)
		}
	}
	return kept
}

// write fills the body of an article.
func (a *article) write(p prose) {
	a.add(para(words(p.paragraph(4))))
	a.add(para(words(p.paragraph(2)+" "), strong(p.title()), words(". "+p.paragraph(2))))
	a.add(heading(2, p.title()))
	a.add(para(words(p.paragraph(3)+" "), emph(pick(p, adjectives)), words(" words. "+p.paragraph(2))))
	a.add(quote(p.paragraph(2)))
	a.add(bullets(words(p.sentence()), words(p.sentence()), words(p.sentence())))
	a.add(para(words(p.paragraph(5))))
}

func (a *article) add(b block) {
	a.Blocks = append(a.Blocks, b)
	a.paragraphs = append(a.paragraphs, b.Text)
}

func newsTruth(base string, all []*article) Truth {
	var t Truth
	for _, a := range all {
		tags := []any{}
		for _, tag := range a.Tags {
			tags = append(tags, tag)
		}
		t.Records = append(t.Records, Record{
			"kind": "article", "url": base + a.Path(), "key": strconv.Itoa(a.ID), "id": strconv.Itoa(a.ID),
			"headline": a.Title, "lead": a.Lead, "author": a.Author, "section": a.Section.Name, "tags": tags,
			"published": a.Date(), "modified": a.Update(), "image": base + a.Image(), "markdown": markdown(a.Blocks),
		})
	}
	return t
}

// NewsNoise are texts of the news site that belong to no article.
var NewsNoise = []string{"Subscribe to our newsletter", "Most read", "All rights reserved", "We use cookies"}
