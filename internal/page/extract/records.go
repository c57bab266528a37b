package extract

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// recordRule is a compiled crawlspec.RecordRule.
type recordRule struct {
	target
	each   *selector // nil: the document
	key    *template
	fields []*field
	schema *schema
	// ownMetadata is set if a field has the name of the seed's metadata.
	ownMetadata bool
	count       yieldCount
	hosts       *keyHosts // shared by all rules of the kind
}

func (c *compiler) record(m *crawlspec.RecordRule, path string) *recordRule {
	out := &recordRule{}
	out.target = c.target(&m.Target, path)
	out.kind = m.Kind
	var in inputKind
	out.each, in = c.each(m.Each, path+".each")
	out.fields = c.fields(m.Fields, path+".fields", in)
	if m.Key != "" {
		out.key = compileTemplate(m.Key)
	}
	if m.Schema != nil {
		var err error
		out.schema, err = compileSchema(m.Schema)
		c.failed(path+".schema", err)
	}
	out.types = c.types()
	out.ownMetadata = slices.ContainsFunc(m.Fields, func(f crawlspec.NamedField) bool { return f.Name == crawlspec.FieldMetadata })
	return out
}

func asMissing(err error, missing **errMissing) bool { return err != nil && errors.As(err, missing) }

// run makes the records of a document.
func (rule *recordRule) run(r *run) error {
	rule.count.pages.Add(1)
	return r.each(rule.each, rule.fields, func(in item) error { return rule.make(r, in) })
}

// make makes the record of one item. An error ends the rule.
func (rule *recordRule) make(r *run, in item) error {
	fields, selected, err := r.object(rule.fields, in)
	if missing := (*errMissing)(nil); asMissing(err, &missing) {
		r.problem(Problem{Index: r.index, Field: missing.field, Reason: "required, but nothing was found"})
		return nil
	}
	if err != nil {
		return err
	}
	if selected == 0 && rule.selects() {
		r.note(r.index, "", "no record: none of its fields found anything")
		return nil
	}
	rec := Record{Kind: rule.kind, Rule: rule.path, Index: r.index, fields: fields, ownMetadata: rule.ownMetadata}
	if rule.key != nil {
		key, missing, err := rule.key.fill(func(name string) (string, bool) { return rule.keyPart(r, fields, name) })
		if err != nil {
			return err
		}
		if missing != "" {
			r.problem(Problem{Index: r.index, Field: missing, Reason: "the key needs it, but it has no single value"})
			return nil
		}
		rec.Key = key
	}
	if len(rec.Key) > messages.MaxText {
		r.problem(Problem{Index: r.index, Reason: fmt.Sprintf("the key has %d bytes: at most %d", len(rec.Key), messages.MaxText)})
		return nil
	}
	return rule.emit(r, rec)
}

// keyPart returns the value of a placeholder of the key: a field, or the page's host or URL.
func (rule *recordRule) keyPart(r *run, fields members, name string) (string, bool) {
	v, ok := fields.get(name)
	switch own := slices.ContainsFunc(rule.fields, func(f *field) bool { return f.name == name }); {
	case ok || own:
		return scalar(v)
	case name == "host":
		return weburl.Host(r.doc.URL), true
	}
	return r.doc.URL, true // "url"; the spec was validated
}

// selects reports whether any field could find something; not so in a rule of constants.
func (rule *recordRule) selects() bool { return slices.ContainsFunc(rule.fields, (*field).isFound) }

// envelopeSize is an upper bound of an envelope without its URL, which JSON may make six times as
// long.
const envelopeSize = 1 << 10

func tooLong(size string) string {
	return fmt.Sprintf("the record has %s bytes, at most %d fit a message: let its fields take less of the page", size, MaxRecord)
}

// emit adds a record to the result if it conforms to the schema and fits a message.
func (rule *recordRule) emit(r *run, rec Record) error {
	left := 4 * MaxRecord // far too large values are not encoded at all
	for _, f := range rec.fields {
		if takeSize(f.value, &left); left < 0 {
			r.problem(Problem{Index: r.index, Field: f.name, Reason: tooLong(fmt.Sprintf("more than %d", 4*MaxRecord))})
			return nil
		}
	}
	text := rec.Fields(nil)
	size := len(text) + len(rec.Key) + 6*len(r.doc.URL) + envelopeSize
	switch {
	case size > MaxRecord:
		const kept = 2 << 10
		r.problem(Problem{Index: r.index, Record: text[:min(kept, len(text))], Reason: tooLong(strconv.Itoa(size))})
		return nil
	case r.made >= MaxRecords:
		return fmt.Errorf("%w: more than %d records", errBound, MaxRecords)
	case r.size+size > MaxRecordBytes:
		return fmt.Errorf("%w: records of more than %d bytes together", errBound, MaxRecordBytes)
	}
	if rule.schema != nil {
		if err := rule.schema.check(text); err != nil {
			r.problem(Problem{Index: r.index, Record: text, Reason: messages.Clip("does not conform to the schema: " + err.Error())})
			return nil
		}
	}
	r.size += size
	r.made++
	rule.count.records.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Key != "" && rule.hosts.note(rule.path, rec.Key, weburl.Hostname(r.doc.URL)) {
		r.result.Told = append(r.result.Told, rule.yield())
	}
	r.result.Records = append(r.result.Records, rec)
	return nil
}
