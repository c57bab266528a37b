package warc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
)

// maxQuery bounds the encoding of a request's body, as in other indexers.
const maxQuery = 4096

// RequestQuery returns the body of a request other than GET, encoded as the query that an index
// adds, like warcio.js and cdxj-indexer.
func RequestQuery(contentType string, body []byte) string {
	kind, params, _ := mime.ParseMediaType(contentType)
	var q string
	ok := true
	switch kind {
	case "application/x-www-form-urlencoded":
		q = string(body)
	case "application/json":
		q, _ = jsonQuery(body)
	case "text/plain":
		q, ok = jsonQuery(body)
	case "multipart/form-data":
		q = formQuery(body, params["boundary"])
	default:
		ok = false
	}
	if !ok {
		q = "__wb_post_data=" + base64.StdEncoding.EncodeToString(body)
	}
	return strings.ToValidUTF8(q[:min(len(q), maxQuery)], "")
}

// query is a list of parameters with unique names.
type query struct {
	pairs []string
	names map[string]int
}

// add adds a parameter. The second parameter of the same name is called "name.2_".
func (q *query) add(name, value string) {
	if value == "" {
		return
	}
	if q.names[name]++; q.names[name] > 1 {
		name = fmt.Sprintf("%s.%d_", name, q.names[name])
	}
	q.pairs = append(q.pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
}

// jsonQuery returns the values of a JSON text as a query, each named after the member that contains
// it.
func jsonQuery(text []byte) (string, bool) {
	if !json.Valid(text) {
		return "", false
	}
	q := query{names: make(map[string]int)}
	q.values(json.NewDecoder(bytes.NewReader(text)), "") //nolint:forbidigo // reads tokens, not a struct
	return strings.Join(q.pairs, "&"), true
}

// values adds the next JSON value.
func (q *query) values(d *json.Decoder, name string) {
	t, err := d.Token()
	if err != nil {
		return // cannot happen: the text is valid
	}
	delim, _ := t.(json.Delim)
	for delim != 0 && d.More() {
		member := name
		if delim == '{' {
			key, _ := d.Token()
			member, _ = key.(string)
		}
		q.values(d, member)
	}
	switch v := t.(type) {
	case json.Delim:
		_, _ = d.Token() // the closing delimiter
	case string:
		q.add(name, v)
	default:
		text, _ := json.Marshal(v) // a number, true, false or null
		q.add(name, string(text))
	}
}

// formQuery returns the fields of a form as a query, without files.
func formQuery(body []byte, boundary string) string {
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(int64(len(body)))
	if err != nil {
		return ""
	}
	return url.Values(form.Value).Encode()
}
