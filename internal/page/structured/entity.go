package structured

import (
	"encoding/json"
	"slices"
	"strings"
)

// entity is a thing that JSON-LD, microdata or RDFa describe.
type entity interface {
	types() []string                 // without the vocabulary
	values(property string) []string // texts, and names of things
}

// factProperties are schema.org's properties for each fact, in order.
var factProperties = [3][]string{
	author:    {"author", "creator"},
	published: {"datePublished", "uploadDate", "datePosted"},
	modified:  {"dateModified"},
}

// The ranks of a thing: the lower, the more the page is about it.
const (
	rankArticle = iota
	rankWork
	rankPage
	ranks
)

// works are schema.org's creative works that have a page of their own, beside
// those that the ends of their names tell. Not so books, films and albums: their
// pages are a shop's, which did not write them.
var works = []string{
	"VideoObject", "AudioObject", "PodcastEpisode", "RadioEpisode", "TVEpisode", "Episode", "Recipe", "HowTo",
	"Question", "Course", "Dataset", "Report", "Thesis", "Chapter", "Photograph", "CreativeWork",
}

// rank tells how much a page is about something of these types; false if its
// author and dates are not the page's at all.
func rank(types []string) (int, bool) {
	best := ranks
	for _, t := range types {
		switch {
		case strings.HasSuffix(t, "Article"), strings.HasSuffix(t, "Posting"):
			best = min(best, rankArticle)
		case slices.Contains(works, t):
			best = min(best, rankWork)
		case strings.HasSuffix(t, "Page"):
			best = min(best, rankPage)
		}
	}
	return best, best < ranks
}

// ranked is the things of a page by rank.
type ranked [ranks][]entity

func mostSpecific(es []entity) ranked {
	var r ranked
	for _, e := range es {
		if i, ok := rank(e.types()); ok {
			r[i] = append(r[i], e)
		}
	}
	return r
}

// declared returns what the things of the first rank say in which any says
// something and all that do agree.
func (r ranked) declared(f fact) []string {
	for _, es := range r {
		if answer := agreed(es, f); answer != nil {
			return answer
		}
	}
	return nil
}

func agreed(es []entity, f fact) []string {
	var answer []string
	for _, e := range es {
		values := factOf(e, f)
		if len(values) == 0 {
			continue
		}
		if answer != nil && !slices.Equal(answer, values) {
			return nil
		}
		answer = values
	}
	return answer
}

// factOf returns what a thing says, in its clean form.
func factOf(e entity, f fact) []string {
	for _, property := range factProperties[f] {
		values := e.values(property)
		if f == author {
			values = names(values)
		} else {
			values = slices.DeleteFunc(slices.Clone(values), func(s string) bool { return normalDate(s) == "" })
		}
		if len(values) > 0 {
			return values
		}
	}
	return nil
}

// mainParts are the properties by which a page or weblog names the thing that it
// is about.
var mainParts = []string{"mainEntity", "blogPost", "blogPosts"}

// term returns the last part of a type's IRI or CURIE.
func term(t string) string {
	return t[1+strings.LastIndexAny(t, "/#:"):]
}

// itemEntities returns top-level items and their main parts.
func itemEntities(items []*Item) []entity {
	var es []entity
	for _, i := range items {
		es = append(es, itemEntity{i})
		for _, property := range mainParts {
			for _, v := range i.Values(property) {
				if v.Item != nil {
					es = append(es, itemEntity{v.Item})
				}
			}
		}
	}
	return es
}

type itemEntity struct{ *Item }

func (e itemEntity) types() []string {
	types := make([]string, len(e.Types))
	for i, t := range e.Types {
		types[i] = term(t)
	}
	return types
}

func (e itemEntity) values(property string) []string {
	var texts []string
	for _, v := range e.Values(property) {
		if v.Item == nil {
			texts = append(texts, v.Text)
			continue
		}
		for _, name := range v.Item.Values("name") {
			texts = append(texts, name.Text)
		}
	}
	return texts
}

// linkedData is the JSON-LD of a page, with its things by identifier: graphs
// name the author by reference.
type linkedData struct {
	objects []any
	byID    map[string]map[string]any
}

func newLinkedData(objects []any) *linkedData {
	d := &linkedData{objects: objects, byID: map[string]map[string]any{}}
	for _, o := range objects {
		if m, ok := o.(map[string]any); ok {
			id, _ := m["@id"].(string)
			if id != "" && d.byID[id] == nil {
				d.byID[id] = m
			}
		}
	}
	return d
}

// entities returns the objects and their main parts.
func (d *linkedData) entities() []entity {
	var es []entity
	for _, o := range d.objects {
		m, _ := o.(map[string]any)
		es = append(es, objectEntity{m, d})
		for _, property := range mainParts {
			for _, part := range list(m[property]) {
				if part, ok := part.(map[string]any); ok {
					es = append(es, objectEntity{part, d})
				}
			}
		}
	}
	return es
}

// list returns a value that may be one or several.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

type objectEntity struct {
	object map[string]any
	data   *linkedData
}

func (e objectEntity) types() []string {
	var types []string
	for _, t := range list(e.object["@type"]) {
		if t, ok := t.(string); ok {
			types = append(types, term(t))
		}
	}
	return types
}

func (e objectEntity) values(property string) []string {
	v, ok := e.object[property]
	if !ok {
		v = e.object["schema:"+property]
	}
	var texts []string
	for _, v := range list(v) {
		texts = append(texts, e.data.texts(v)...)
	}
	return texts
}

// texts returns what a value says: a text, or a thing's name, which may be where
// the thing is described.
func (d *linkedData) texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case json.Number:
		return []string{v.String()}
	case map[string]any:
		if text, ok := v["@value"].(string); ok {
			return []string{text}
		}
		if _, named := v["name"]; !named {
			id, _ := v["@id"].(string)
			v = d.byID[id]
		}
		return named(v["name"])
	}
	return nil
}

func named(v any) []string {
	var texts []string
	for _, n := range list(v) {
		if n, ok := n.(string); ok {
			texts = append(texts, n)
		}
	}
	return texts
}
