package convert

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"seine/internal/page/xmlstream"
)

// Limits of an archive.
const (
	maxEntries  = 10_000
	maxUnzipped = 128 << 20 // bytes of all entries that are read
	maxEntry    = 64 << 20  // bytes of an entry
)

// archive is a file that is a ZIP archive of XML files.
type archive struct {
	*page
	files map[string]*zip.File
	left  int64 // bytes that may still be unpacked
	err   error // first error of an entry
}

// readArchive reads a file by the entries that determine its format.
func readArchive(p *page, file []byte) error {
	in, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // entries are not written to disk
		return fail(Damaged, "its ZIP archive cannot be read: %v", err)
	}
	if len(in.File) > maxEntries {
		return fail(TooLarge, "it has more than %d entries", maxEntries)
	}
	a := &archive{page: p, files: make(map[string]*zip.File, len(in.File)), left: maxUnzipped}
	for _, f := range in.File {
		a.files[strings.TrimPrefix(f.Name, "/")] = f
		if f.Flags&1 != 0 {
			return fail(Encrypted, "it needs a password")
		}
	}
	switch {
	case a.files["META-INF/container.xml"] != nil:
		err = epub{a}.read()
	case a.files["content.xml"] != nil:
		err = openDocument{a}.read()
	case a.files["_rels/.rels"] != nil || a.files["[Content_Types].xml"] != nil:
		err = a.readOffice()
	default:
		return fail(Unsupported, "it is an archive of no format that is read")
	}
	if err == nil {
		err = a.err
	}
	return err
}

// open returns the content of an entry, as far as it is readable, or nil if the entry is missing.
func (a *archive) open(name string) []byte {
	f := a.files[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		a.note(fail(Damaged, "%s: %v", name, err))
		return nil
	}
	defer r.Close()
	limit := min(a.left, maxEntry)
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		a.note(fail(Damaged, "%s: %v", name, err))
	}
	if int64(len(b)) > limit {
		b = b[:limit]
		a.note(fail(TooLarge, "it unpacks to more than %d MiB", limit>>20))
	}
	a.left -= int64(len(b))
	return b
}

// note keeps the first error; reading continues.
func (a *archive) note(err error) {
	if a.err == nil {
		a.err = err
	}
}

// elements calls start, end and text, any of which may be nil, for the XML of an entry. It returns
// at the end of the entry, and when the page is full.
func (a *archive) elements(b []byte, start func(e *element), end func(name string), text func(string)) {
	d := xmlstream.NewDecoder(b, "")
	for n := 0; !a.full; n++ {
		if n%1024 == 0 && a.ctx.Err() != nil {
			return
		}
		token, err := d.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				a.note(fail(Damaged, "%v", err))
			}
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			if start != nil {
				start(&element{t})
			}
		case xml.EndElement:
			if end != nil {
				end(t.Name.Local)
			}
		case xml.CharData:
			if text != nil {
				text(string(t))
			}
		}
	}
}

// elementsBut is elements without elements of some names and their content.
func (a *archive) elementsBut(skipped map[string]bool, b []byte, start func(e *element), end func(name string), text func(string)) {
	inside := 0 // skipped elements that are open
	a.elements(b, func(e *element) {
		if skipped[e.name()] {
			inside++
		}
		if inside == 0 {
			start(e)
		}
	}, func(name string) {
		switch {
		case skipped[name]:
			inside = max(inside-1, 0)
		case inside == 0:
			end(name)
		}
	}, func(s string) {
		if inside == 0 {
			text(s)
		}
	})
}

// element is the start of an element.
type element struct{ xml.StartElement }

func (e *element) name() string { return e.Name.Local }

// attr returns the attribute with a local name, or "".
func (e *element) attr(name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// prefixed returns the attribute that has a prefix and this local name, such as "id" for r:id.
func (e *element) prefixed(name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// properties reads the texts of elements of Dublin Core and the like, in an entry or its text, into
// to.
func (a *archive) properties(b []byte, to map[string]*string) {
	var at *string
	a.elements(b, func(e *element) {
		name := e.name()
		if name == "meta" {
			name = e.attr("property")
		}
		if at = to[name]; at != nil && *at != "" {
			at = nil
		}
	}, func(string) { at = nil }, func(s string) {
		if at != nil && len(*at) < 1<<13 {
			*at += s
		}
	})
}

// relations are the targets of an entry's relationships, by ID.
type relations map[string]relation

type relation struct {
	target, kind string
	external     bool
}

// relationsOf reads the relationships of an entry (ECMA-376 part 2, section 9).
func (a *archive) relationsOf(name string) relations {
	all := make(relations)
	dir, file := path.Split(name)
	a.elements(a.open(dir+"_rels/"+file+".rels"), func(e *element) {
		if e.name() != "relationship" || len(all) >= 100*maxEntries {
			return
		}
		r := relation{target: e.attr("target"), kind: path.Base(e.attr("type")), external: strings.EqualFold(e.attr("targetmode"), "External")}
		if !r.external {
			if strings.HasPrefix(r.target, "/") {
				r.target = r.target[1:]
			} else {
				r.target = path.Join(dir, r.target)
			}
		}
		all[e.attr("id")] = r
	}, nil, nil)
	return all
}

// first returns the target of a kind, or "".
func (r relations) first(kind string) string {
	var found []string
	for _, one := range r {
		if one.kind == kind && !one.external {
			found = append(found, one.target)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// url returns the target of a link, or "" if it is within the file.
func (r relations) url(id string) string {
	if one := r[id]; one.external {
		return one.target
	}
	return ""
}
