package structured

import (
	"encoding/json"

	"golang.org/x/net/html"
)

// Data has all machine-readable declarations of a page.
type Data struct {
	JSONLD    []json.RawMessage // see JSONLD
	Microdata []*Item           // see Microdata
	RDFa      []*Item           // see RDFa
	Meta      Meta              // see Metas
	OpenGraph Meta              // Open Graph entries of Meta
	Twitter   Meta              // Twitter card entries of Meta
	Declared                    // author and dates
	Problems  []Problem         // unreadable parts
}

// FromHTML reads everything from a tree. base is the document's base URL, see [BaseURL]; if it is
// empty, only absolute URLs are resolved.
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
