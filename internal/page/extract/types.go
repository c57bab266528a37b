package extract

import (
	"fmt"
	"slices"
	"strings"

	"seine/internal/page/document"
	"seine/internal/page/mediatype"
	"seine/pkg/crawlspec"
)

// types is a set of types of document.
type types uint16

// Types in the order of crawlspec.DocumentTypes, and others.
const (
	typeHTML types = 1 << iota
	typeXML
	typeJSON
	typeFeed
	typeCSV
	typeText
	typeSitemap
	typePDF
	typeOffice
	typeOther

	anyType   = typeOther<<1 - 1
	treeTypes = typeHTML | typePDF | typeOffice // have the tree of a page
	xpathable = treeTypes | typeXML | typeFeed | typeSitemap
	jqable    = typeJSON | typeCSV | typeFeed | typeSitemap
)

// typesNamed returns the types with some names. Names that are unknown are reported by crawlspec.
func typesNamed(names []string) (set types) {
	for _, name := range names {
		set |= typeNamed(name) &^ typeOther
	}
	return set
}

// typeNamed returns a type by its name, typeOther if it is not one of crawlspec.DocumentTypes.
func typeNamed(name string) types {
	if i := slices.Index(crawlspec.DocumentTypes, name); i >= 0 {
		return 1 << i
	}
	return typeOther
}

func (t types) String() string {
	var names []string
	for i, name := range crawlspec.DocumentTypes {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func typeOf(d *document.Document) types {
	if d.Type.Class == mediatype.NDJSON {
		return typeJSON
	}
	return typeNamed(d.Type.Class.String())
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
