package structured

import "seine/internal/base/jsontext"

// appendJSON appends the data as one object, for the golden files. It leaves out what the page does
// not have: json_ld, microdata, rdfa, open_graph, twitter, author, published, modified, problems.
// Names under meta that are neither Open Graph's nor a Twitter card's are not included.
func (d *Data) appendJSON(b []byte) []byte {
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
