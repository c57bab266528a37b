package sitemap

import (
	"strconv"
	"strings"
	"time"

	"seine/internal/base/truncate"
)

// Limits of what an entry may have. Google's rules for the extensions allow a page
// 1,000 images; a description of a video has up to 2,048 characters.
const (
	maxAlternates = 1000
	maxImages     = 1000
	maxVideos     = 100
	maxExtraText  = 8 << 10
)

// News is an article, by the extension of Google News.
type News struct {
	Publication string    `json:"publication,omitempty"` // the name of the paper
	Language    string    `json:"language,omitempty"`    // of the article
	Title       string    `json:"title,omitempty"`
	Published   time.Time `json:"published,omitzero"`
	Keywords    string    `json:"keywords,omitempty"`
}

// Image is an image on a page. Google reads no more than the URL today; the rest is
// in many sitemaps.
type Image struct {
	URL     string `json:"url,omitempty"`
	Title   string `json:"title,omitempty"`
	Caption string `json:"caption,omitempty"`
	License string `json:"license,omitempty"`
}

// Video is a video on a page.
type Video struct {
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Thumbnail   string    `json:"thumbnail,omitempty"` // URL of a picture
	Content     string    `json:"content,omitempty"`   // URL of the video itself
	Player      string    `json:"player,omitempty"`    // URL of a page that plays it
	Seconds     int       `json:"seconds,omitempty"`
	Published   time.Time `json:"published,omitzero"`
}

// extra reads the extensions of an entry: what is open of them.
type extra struct {
	image *Image
	video *Video
	news  *News
}

// open begins an extension, if it is one.
func (x *extra) open(e *Entry, name string) {
	switch {
	case name == "image" && len(e.Images) < maxImages:
		x.image = &Image{}
	case name == "video" && len(e.Videos) < maxVideos:
		x.video = &Video{}
	case name == "news" && e.News == nil:
		x.news = &News{}
	}
}

// close ends the extension that is open, and reports whether one was.
func (x *extra) close(e *Entry) bool {
	switch {
	case x.image != nil && *x.image != Image{}:
		e.Images = append(e.Images, *x.image)
	case x.video != nil && *x.video != Video{}:
		e.Videos = append(e.Videos, *x.video)
	case x.news != nil && *x.news != News{}:
		e.News = x.news
	case *x == extra{}:
		return false
	}
	*x = extra{}
	return true
}

// setField takes the text of an element within an extension. Above are those it lies in.
func (x *extra) setField(above []string, name, text string) {
	text = truncate.To(strings.ToValidUTF8(text, "\ufffd"), maxExtraText)
	switch {
	case x.image != nil && len(above) == 1:
		x.image.take(name, text)
	case x.video != nil && len(above) == 1:
		x.video.take(name, text)
	case x.news != nil:
		x.news.take(above, name, text)
	}
}

func (i *Image) take(name, text string) {
	switch name {
	case "loc":
		i.URL = text
	case "title":
		i.Title = text
	case "caption":
		i.Caption = text
	case "license":
		i.License = text
	}
}

func (v *Video) take(name, text string) {
	switch name {
	case "title":
		v.Title = text
	case "description":
		v.Description = text
	case "thumbnail_loc":
		v.Thumbnail = text
	case "content_loc":
		v.Content = text
	case "player_loc":
		v.Player = text
	case "publication_date":
		v.Published = parseTime(text)
	case "duration": // in seconds, up to eight hours
		if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1_000_000 {
			v.Seconds = n
		}
	}
}

func (n *News) take(above []string, name, text string) {
	within := above[len(above)-1]
	switch {
	case within == "publication" && name == "name":
		n.Publication = text
	case within == "publication" && name == "language":
		n.Language = text
	case within != "news":
	case name == "title":
		n.Title = text
	case name == "publication_date":
		n.Published = parseTime(text)
	case name == "keywords":
		n.Keywords = text
	}
}

// frequency returns a frequency of the protocol, "" if it is none.
func frequency(text string) string {
	switch text = strings.ToLower(text); text {
	case "always", "hourly", "daily", "weekly", "monthly", "yearly", "never":
		return text
	}
	return ""
}
