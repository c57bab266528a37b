package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/base/truncate"
)

// jsonFeed is a JSON Feed, version 1.1 with what 1.0 had.
type jsonFeed struct {
	Version     string       `json:"version"`
	Title       string       `json:"title"`
	HomePage    string       `json:"home_page_url"`
	URL         string       `json:"feed_url"`
	Description string       `json:"description"`
	Next        string       `json:"next_url"`
	Language    string       `json:"language"`
	Author      jsonAuthor   `json:"author"`
	Authors     []jsonAuthor `json:"authors"`
	Hubs        []struct {
		URL string `json:"url"`
	} `json:"hubs"`
	Items []jsonItem `json:"items"`
}

type jsonItem struct {
	ID          any          `json:"id"` // a number, against the specification
	URL         string       `json:"url"`
	External    string       `json:"external_url"`
	Title       string       `json:"title"`
	HTML        string       `json:"content_html"`
	Text        string       `json:"content_text"`
	Summary     string       `json:"summary"`
	Published   string       `json:"date_published"`
	Modified    string       `json:"date_modified"`
	Author      jsonAuthor   `json:"author"`
	Authors     []jsonAuthor `json:"authors"`
	Tags        []string     `json:"tags"`
	Language    string       `json:"language"`
	Attachments []struct {
		URL  string  `json:"url"`
		Type string  `json:"mime_type"`
		Size float64 `json:"size_in_bytes"`
	} `json:"attachments"`
}

type jsonAuthor struct {
	Name string `json:"name"`
}

var errJSON = errors.New("its version is not one of a JSON Feed")

// parseJSON reads a JSON Feed. Values of a wrong type are left out.
func parseJSON(body []byte, at urlBase) (*Feed, error) {
	var j jsonFeed
	var wrong *json.UnmarshalTypeError
	if err := jsontext.Unmarshal(body, &j); err != nil && !errors.As(err, &wrong) {
		return nil, err
	}
	if !strings.Contains(j.Version, "jsonfeed.org/version/") {
		return nil, errJSON
	}
	f := &Feed{
		Format: JSON, Title: plain(truncate.To(j.Title, maxValue)), Description: truncate.To(j.Description, maxValue),
		Link: at.resolve(j.HomePage), Language: j.Language, Cut: len(j.Items) > MaxItems,
	}
	f.Links = link(f.Links, Link{Rel: "alternate", URL: f.Link})
	f.Links = link(f.Links, Link{Rel: "self", URL: at.resolve(j.URL)})
	f.Links = link(f.Links, Link{Rel: "next", URL: at.resolve(j.Next)})
	for _, h := range j.Hubs {
		f.Links = link(f.Links, Link{Rel: "hub", URL: at.resolve(h.URL)})
	}
	for _, i := range j.Items[:min(len(j.Items), MaxItems)] {
		f.Items = append(f.Items, i.item(at))
	}
	return f, nil
}

func (j *jsonItem) item(at urlBase) Item {
	i := Item{
		URL: at.resolve(j.URL), Title: plain(truncate.To(j.Title, maxValue)), Summary: truncate.To(j.Summary, maxValue),
		Content: truncate.To(j.HTML, maxValue), Published: date(j.Published), Updated: date(j.Modified), Base: at.url,
	}
	switch id := j.ID.(type) {
	case string:
		i.ID = id
	case float64:
		i.ID = strings.TrimSuffix(fmt.Sprintf("%.0f", id), ".")
	}
	if i.Content == "" {
		i.Content = truncate.To(j.Text, maxValue)
	}
	external := at.resolve(j.External)
	i.Links = link(i.Links, Link{Rel: "alternate", URL: i.URL})
	i.Links = link(i.Links, Link{Rel: "related", URL: external})
	if i.URL == "" {
		i.URL = external
	}
	for _, a := range append([]jsonAuthor{j.Author}, j.Authors[:min(len(j.Authors), maxList)]...) {
		i.Author = names(i.Author, a.Name)
	}
	for _, tag := range j.Tags[:min(len(j.Tags), maxList)] {
		i.Categories = category(i.Categories, tag)
	}
	for _, a := range j.Attachments[:min(len(j.Attachments), maxList)] {
		if u := at.resolve(a.URL); u != "" {
			i.Enclosures = append(i.Enclosures, Enclosure{u, a.Type, int64(max(0, min(a.Size, 1<<53)))})
		}
	}
	return i
}

// names adds a name to those there are, once.
func names(have, name string) string {
	name = plain(truncate.To(name, maxURL))
	switch {
	case name == "" || len(have) > maxURL || strings.Contains(", "+have+", ", ", "+name+", "):
		return have
	case have == "":
		return name
	}
	return have + ", " + name
}

// category adds a category to those there are.
func category(have []string, name string) []string {
	name = plain(truncate.To(name, maxURL))
	if name == "" || len(have) >= maxList {
		return have
	}
	for _, h := range have {
		if h == name {
			return have
		}
	}
	return append(have, name)
}
