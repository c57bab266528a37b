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

// Types in the order of crawlspec.DocumentTypes, and combinations.
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
	treeTypes = typeHTML | typePDF | typeOffice // these have an HTML tree
	xpathable = treeTypes | typeXML | typeFeed | typeSitemap
	jqable    = typeJSON | typeCSV | typeFeed | typeSitemap
)

// typesNamed returns the set of the named types. crawlspec reports unknown names.
func typesNamed(names []string) (set types) {
	for _, name := range names {
		set |= typeNamed(name) &^ typeOther
	}
	return set
}

// typeNamed returns the type with a name, or typeOther if it is not one of crawlspec.DocumentTypes.
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

// compiler compiles one rule and collects its errors.
type compiler struct {
	problems *crawlspec.Problems
	given    types // types that the rule names, 0 if none
	inferred types // types that all its selectors can read
}

func (c *compiler) failed(path string, err error) { c.problems.Add(path, err) }

// needs records that a key of the rule reads only some document types.
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

// inputKind is the kind of input of a selector, as far as known at compile time.
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
