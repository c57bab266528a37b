package structured

import (
	"encoding/json"

	"golang.org/x/net/html"
)

// Data is everything a page says for machines.
type Data struct {
	JSONLD    []json.RawMessage // see JSONLD
	Microdata []*Item           // see Microdata
	RDFa      []*Item           // see RDFa
	Meta      Meta              // see Metas
	OpenGraph Meta              // the part of Meta that is Open Graph's
	Twitter   Meta              // the part of Meta that is a Twitter card's
	Declared                    // the author and the dates
	Problems  []Problem         // what could not be read
}

// FromHTML reads everything from a tree. The base is the document's, see
// [BaseURL]; where it is empty, only absolute URLs are resolved.
func FromHTML(root *html.Node, base string) *Data {
	d := &Data{Meta: Metas(root)}
	d.JSONLD, d.Problems = JSONLD(root)
	var problems []Problem
	d.Microdata, problems = Microdata(root, base)
	d.Problems = append(d.Problems, problems...)
	d.RDFa, problems = RDFa(root, base)
	d.Problems = append(d.Problems, problems...)
	d.OpenGraph, d.Twitter = d.Meta.OpenGraph(), d.Meta.Twitter()
	d.Declared = declared(d, root)
	return d
}
