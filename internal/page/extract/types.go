package extract

import (
	"fmt"
	"strings"

	"seine/internal/page/document"
	"seine/internal/page/mediatype"
	"seine/pkg/crawlspec"
)

// types is a set of types of document.
type types uint16

const (
	typeHTML types = 1 << iota
	typeXML
	typeJSON
	typeFeed
	typeCSV
	typeText
	typeSitemap
	typeOther

	anyType   = typeOther<<1 - 1
	xpathable = typeHTML | typeXML | typeFeed | typeSitemap
	jqable    = typeJSON | typeCSV | typeFeed | typeSitemap
)

// typeNames are those of crawlspec.DocumentTypes, in the order of the constants.
var typeNames = []struct {
	name string
	types
}{
	{"html", typeHTML}, {"xml", typeXML}, {"json", typeJSON}, {"feed", typeFeed}, {"csv", typeCSV}, {"text", typeText},
	{"sitemap", typeSitemap},
}

func typesNamed(names []string) types {
	set := types(0)
	for _, name := range names {
		for _, t := range typeNames {
			if t.name == name {
				set |= t.types
			}
		}
	}
	return set
}

func (t types) String() string {
	var names []string
	for _, n := range typeNames {
		if t&n.types != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

func typeOf(d *document.Document) types {
	switch d.Type.Class {
	case mediatype.HTML:
		return typeHTML
	case mediatype.XML:
		return typeXML
	case mediatype.Sitemap:
		return typeSitemap
	case mediatype.Feed:
		return typeFeed
	case mediatype.JSON, mediatype.NDJSON:
		return typeJSON
	case mediatype.CSV:
		return typeCSV
	case mediatype.Text:
		return typeText
	default:
		return typeOther
	}
}

// compiler compiles one rule and collects what is wrong with it.
type compiler struct {
	problems *crawlspec.Problems
	given    types // the types that the rule names, 0 if none
	inferred types // what its selectors can all read
}

func (c *compiler) failed(path string, err error) { c.problems.Add(path, err) }

// needs notes that a key of the rule only reads some types of document.
func (c *compiler) needs(path, what string, t types) {
	switch {
	case c.given != 0 && c.given&t == 0:
		c.failed(path, fmt.Errorf("%s reads %s, but the rule is for %s", what, t, c.given))
	case c.given == 0 && c.inferred&t == 0:
		c.failed(path, fmt.Errorf("%s reads %s, but other selectors of the rule read %s only: make it two rules", what, t, c.inferred))
	case c.given == 0:
		c.inferred &= t
	}
}

// inputKind says what a selector is relative to, as far as is known when a rule is
// compiled.
type inputKind uint8

const (
	amongPage inputKind = iota
	amongNodes
	amongValues // of JSON
	amongTexts
)

func (a inputKind) String() string {
	return [...]string{"the document", "elements", "values of JSON", "texts"}[a]
}
