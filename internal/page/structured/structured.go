package structured

import (
	"encoding/json"

	"golang.org/x/net/html"

	"seine/internal/base/jsontext"
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

// AppendJSON appends the data as one object, of which what the page has not is
// left out: json_ld, microdata, rdfa, open_graph, twitter, author, published,
// modified, problems. Names under meta that are neither Open Graph's nor a
// Twitter card's are not among them.
func (d *Data) AppendJSON(b []byte) []byte {
	o := jsontext.Object{B: b}
	if len(d.JSONLD) > 0 {
		o.Key("json_ld")
		o.B = jsontext.AppendList(o.B, d.JSONLD, jsontext.AppendRaw)
	}
	for _, items := range []struct {
		key  string
		list []*Item
	}{{"microdata", d.Microdata}, {"rdfa", d.RDFa}} {
		if len(items.list) > 0 {
			o.Key(items.key)
			o.B = AppendItems(o.B, items.list)
		}
	}
	if len(d.OpenGraph) > 0 {
		o.Key("open_graph")
		o.B = d.OpenGraph.AppendJSON(o.B)
	}
	if len(d.Twitter) > 0 {
		o.Key("twitter")
		o.B = d.Twitter.AppendJSON(o.B)
	}
	o.TextSet("author", d.Author)
	o.TextSet("published", d.Published)
	o.TextSet("modified", d.Modified)
	if len(d.Problems) > 0 {
		o.Key("problems")
		o.B = jsontext.AppendList(o.B, d.Problems, appendProblem)
	}
	return o.End()
}

func appendProblem(b []byte, p Problem) []byte {
	o := jsontext.Object{B: b}
	o.Text("part", p.Part)
	if p.Part == partJSONLD {
		o.Int("script", int64(p.Script))
		o.Int("offset", int64(p.Offset))
	}
	o.Text("text", p.Text)
	return o.End()
}

// MarshalJSON is AppendJSON for encoding/json.
func (d *Data) MarshalJSON() ([]byte, error) {
	return d.AppendJSON(nil), nil
}
