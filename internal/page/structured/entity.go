package structured

import (
	"encoding/json"
	"slices"
	"strings"
)

// factProperties are schema.org's properties for each fact, in order.
var factProperties = [3][]string{
	author:    {"author", "creator"},
	published: {"datePublished", "uploadDate", "datePosted"},
	modified:  {"dateModified"},
}

// Ranks of an item: a lower rank is more specific to the page.
const (
	rankArticle = iota
	rankWork
	rankPage
	ranks
)

// works are schema.org's creative works that have a page, besides those recognised by the ends of
// their names. Books, films and albums are not included: their pages are a shop's, which did not
// write them.
var works = []string{
	"VideoObject", "AudioObject", "PodcastEpisode", "RadioEpisode", "TVEpisode", "Episode", "Recipe", "HowTo",
	"Question", "Course", "Dataset", "Report", "Thesis", "Chapter", "Photograph", "CreativeWork",
}

// rank returns the rank of an item of these types, or false if its author and dates are not the
// page's.
func rank(types []string) (int, bool) {
	best := ranks
	for _, t := range types {
		switch t = term(t); {
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

// ranked has the items of a page by rank.
type ranked [ranks][]*Item

// mostSpecific ranks top-level items and their main parts.
func mostSpecific(items []*Item) ranked {
	var r ranked
	add := func(i *Item) {
		if rank, ok := rank(i.Types); ok {
			r[rank] = append(r[rank], i)
		}
	}
	for _, i := range items {
		add(i)
		for _, property := range mainParts {
			for _, v := range i.Values(property) {
				if v.Item != nil {
					add(v.Item)
				}
			}
		}
	}
	return r
}

// declared returns the values of the lowest rank that has any, if all items of that rank that have
// values agree.
func (r ranked) declared(f fact) []string {
	for _, es := range r {
		if answer := agreed(es, f); answer != nil {
			return answer
		}
	}
	return nil
}

func agreed(es []*Item, f fact) []string {
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

// factOf returns an item's values for a fact, cleaned.
func factOf(i *Item, f fact) []string {
	for _, property := range factProperties[f] {
		values := textsOf(i, property)
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

// mainParts are the properties by which a page or weblog names its main item.
var mainParts = []string{"mainEntity", "blogPost", "blogPosts"}

// term returns the last part of a type's IRI or CURIE.
func term(t string) string {
	return t[1+strings.LastIndexAny(t, "/#:"):]
}

// textsOf returns the values of a property: texts, and names of items.
func textsOf(i *Item, property string) []string {
	var texts []string
	for _, v := range i.Values(property) {
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

// linkedData has the JSON-LD objects of a page by identifier, since graphs name the author by
// reference.
type linkedData map[string]map[string]any

// linkedItems returns the items for facts from JSON-LD objects.
func linkedItems(objects []any) (items []*Item) {
	d := linkedData{}
	for _, o := range objects {
		if m, ok := o.(map[string]any); ok {
			if id := idOf(m); id != "" && d[id] == nil {
				d[id] = m
			}
		}
	}
	for _, o := range objects {
		m, _ := o.(map[string]any)
		items = append(items, d.item(m, 0))
	}
	return items
}

// linkedProperties are the properties of such items.
var linkedProperties = slices.Concat([]string{"name"}, mainParts, slices.Concat(factProperties[:]...))

// maxLinked is the depth of items in a JSON-LD item: a page, its article, the author of that.
const maxLinked = 2

func (d linkedData) item(object map[string]any, depth int) *Item {
	b := builder{item: &Item{}}
	for _, t := range list(object["@type"]) {
		if t, ok := t.(string); ok {
			b.item.Types = append(b.item.Types, t)
		}
	}
	for _, property := range linkedProperties {
		v, ok := object[property]
		if !ok {
			v = object["schema:"+property]
		}
		for _, v := range list(v) {
			d.add(&b, property, v, depth)
		}
	}
	return b.item
}

// add adds a value: a text, or an object, which may be a reference to its description.
func (d linkedData) add(b *builder, property string, v any, depth int) {
	switch v := v.(type) {
	case string:
		b.add(property, Value{Text: v})
	case json.Number:
		if property != "name" {
			b.add(property, Value{Text: v.String()})
		}
	case map[string]any:
		if text, ok := v["@value"].(string); ok {
			b.add(property, Value{Text: text})
			return
		}
		if _, named := v["name"]; !named && d[idOf(v)] != nil {
			names := list(d[idOf(v)]["name"])
			v = map[string]any{"name": names[:min(len(names), maxAuthors)]}
		}
		if depth < maxLinked {
			b.add(property, Value{Item: d.item(v, depth+1)})
		}
	}
}

func idOf(object map[string]any) string {
	id, _ := object["@id"].(string)
	return id
}

// list returns a value, or a list of values, as a list.
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
