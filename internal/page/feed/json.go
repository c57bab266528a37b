package feed

import (
	"errors"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/base/truncate"
)

// jsonFeed has the members of a JSON Feed, version 1.0 or 1.1, that are read.
type jsonFeed struct {
	Version     string     `json:"version"`
	Title       string     `json:"title"`
	HomePage    string     `json:"home_page_url"`
	Description string     `json:"description"`
	Language    string     `json:"language"`
	Items       []jsonItem `json:"items"`
}

type jsonItem struct {
	URL      string `json:"url"`
	External string `json:"external_url"`
	Title    string `json:"title"`
}

var errJSON = errors.New("its version is not a version of JSON Feed")

// parseJSON reads a JSON Feed. Values of a wrong type are omitted.
func parseJSON(body []byte, at urlBase) (*Feed, error) {
	var j jsonFeed
	if err := jsontext.Unmarshal(body, &j); err != nil && !jsontext.IsTypeError(err) {
		return nil, err
	}
	if !strings.Contains(j.Version, "jsonfeed.org/version/") {
		return nil, errJSON
	}
	f := &Feed{
		Title: plain(truncate.To(j.Title, maxValue)), Description: truncate.To(j.Description, maxValue),
		Link: at.resolve(j.HomePage), Language: j.Language, Cut: len(j.Items) > MaxItems,
	}
	for _, i := range j.Items[:min(len(j.Items), MaxItems)] {
		item := Item{URL: at.resolve(i.URL), Title: plain(truncate.To(i.Title, maxValue))}
		if item.URL == "" {
			item.URL = at.resolve(i.External)
		}
		f.Items = append(f.Items, item)
	}
	return f, nil
}
