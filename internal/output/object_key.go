package output

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
	"seine/internal/base/weburl"
	"seine/internal/page/mediatype"
	"seine/pkg/messages"
)

// Key is a template for the paths of objects, which have one record each. Records with the same
// path replace each other: the last one stays.
type Key struct{ template }

// keyPart is a literal text or a placeholder for a value of the record.
type keyPart struct {
	text string
	name string         // of the placeholder; empty for a literal text
	arg  string         // of {field:arg}
	zone *time.Location // of {date} and {hour}
}

// DefaultKey gives every record a separate path.
const DefaultKey = "{crawl}/{kind}/{id}.json"

// RawKey is the default key for bodies of pages. It keeps the latest body of each URL.
const RawKey = "{crawl}/{host}/{url_hash}.{ext}"

// MarkdownKey is the default key for pages as Markdown.
const MarkdownKey = "{host}/{path}.md"

// keyNames are the placeholders that the template of a key can have, besides {field:NAME};
// tellingNames are those that identify records.
var (
	keyNames     = append([]string{"crawl", "kind", "date", "hour", "run", "partition", "host", "ext"}, tellingNames...)
	tellingNames = []string{"id", "key", "visit", "url_hash", placePath}
)

var (
	keyToken = lazyregexp.New(`\{([a-z_]+)(?::([^{}]+))?\}|[A-Za-z0-9=._-]+`)
	keyStart = lazyregexp.New(`^[A-Za-z0-9{]`)
)

// ParseKey parses a template such as "{crawl}/{field:season}/{key}.json".
func ParseKey(text string) (Key, error) {
	t, err := parseTemplate(text, keyNames)
	if err == nil && !slices.ContainsFunc(append(tellingNames, "field"), t.has) {
		err = fmt.Errorf("%q: must have {path}, {id}, {key}, {visit}, {url_hash} or {field:NAME} in it, or all records would replace each other", text)
	}
	return Key{t}, err
}

// FoldCase returns the key for a destination that treats "A" and "a" as one name: it escapes
// capitals in values.
func (k Key) FoldCase() Key {
	k.foldCase = true
	return k
}

// KeyRecord has the data from which a path is built.
type KeyRecord struct {
	ID        string // identity of the record; if it is unknown, Data is used
	Crawl     string
	Kind      string
	Partition int
	Stored    time.Time
	Data      []byte // a JSON object
}

// visitKey is the key of visit records, which have no fields of the spec.
var visitKey, _ = ParseKey(DefaultKey)

// Path returns the path of a record's object, or an error if it has none.
func (k Key) Path(r *KeyRecord) (string, error) {
	if r.Kind == messages.KindGone || r.Kind == messages.KindVisit {
		k.segments = visitKey.segments
	}
	p, err := k.expand(r, func(err error) (string, error) { return "", err })
	if err != nil {
		return "", fmt.Errorf("no key: %w", err)
	}
	return p, nil
}

// keyValues are the values of a record. Its JSON is parsed when a field is first used.
type keyValues struct {
	*KeyRecord
	fields map[string]json.RawMessage
}

func (v *keyValues) get(p keyPart) (string, error) {
	switch p.name {
	case "crawl":
		return v.Crawl, nil
	case "kind":
		return v.Kind, nil
	case "partition":
		return fmt.Sprintf("%03d", v.Partition), nil
	case "date":
		return v.Stored.In(p.zone).Format(time.DateOnly), nil
	case "hour":
		return v.Stored.In(p.zone).Format("15"), nil
	case "id":
		return v.id(), nil
	case "key", "visit", "run":
		return v.field(p.name)
	case "url_hash":
		return v.urlHash()
	case placePath:
		return v.field("url")
	case "ext":
		return v.ext(), nil
	case "host":
		u, err := v.field("url")
		if err == nil && weburl.Host(u) == "" {
			err = fmt.Errorf("its url %.100q has no host", u)
		}
		return weburl.Host(u), err
	}
	return v.field(p.arg)
}

func (v *keyValues) id() string {
	of := []byte(v.ID)
	if v.ID == "" {
		of = v.Data
	}
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:IdentitySize])
}

// urlHash returns the URL hash of the visit, which is of the URL's canonical form.
func (v *keyValues) urlHash() (string, error) {
	if visit, err := v.field("visit"); err == nil {
		if hash, _, ok := strings.Cut(visit, "."); ok && len(hash) == 2*len(messages.URLHash{}) {
			return hash, nil
		}
	}
	u, err := v.field("url")
	return messages.HashURL(u).String(), err
}

// extensions are the file extensions of common media types.
var extensions = map[string]string{
	"text/html": "html", "application/xhtml+xml": "xhtml", "text/plain": "txt", "text/css": "css", "text/csv": "csv",
	"text/javascript": "js", "application/javascript": "js", "application/json": "json", "application/ld+json": "json",
	"application/xml": "xml", "text/xml": "xml", "application/rss+xml": "rss", "application/atom+xml": "atom",
	"application/pdf": "pdf", "application/zip": "zip", "application/gzip": "gz", "image/jpeg": "jpg", "image/png": "png",
	"image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg", "video/mp4": "mp4", "audio/mpeg": "mp3",
	"text/calendar": "ics", "text/markdown": "md", "application/x-ndjson": "ndjson",
}

// ext returns the file extension for the record's content_type, "bin" for unknown types.
func (v *keyValues) ext() string {
	declared, err := v.field("content_type")
	if err != nil {
		return "bin"
	}
	if ext, ok := extensions[mediatype.Declared(declared)]; ok {
		return ext
	}
	return "bin"
}

// field returns a top-level field of the record as text.
func (v *keyValues) field(name string) (string, error) {
	if v.fields == nil {
		if err := jsontext.Unmarshal(v.Data, &v.fields); err != nil {
			return "", errors.New("the record is not a JSON object")
		}
	}
	raw, ok := v.fields[name]
	switch {
	case !ok:
		return "", fmt.Errorf("the record has no field %q", name)
	case raw[0] == '"':
		var s string
		if err := jsontext.Unmarshal(raw, &s); err != nil {
			return "", fmt.Errorf("its field %q is malformed", name)
		}
		if s == "" {
			return "", fmt.Errorf("its field %q is empty", name)
		}
		return s, nil
	case raw[0] == '{', raw[0] == '[', raw[0] == 'n':
		return "", fmt.Errorf("its field %q is %.30s, not a text, number or boolean", name, raw)
	}
	return string(raw), nil
}

// Limits of keys: the longest names of file systems and keys of S3, less some space for a prefix.
const (
	maxSegment = 240
	maxKey     = 900
	// A value of more than maxValue bytes is truncated to keptOf bytes and identified by its hash.
	maxValue = 150
	keptOf   = 120
)

// escapeValue escapes a value for use in a name. It keeps letters, digits and some signs, and
// escapes the bytes of all other characters as %XX, including slashes and dots at either end. So
// different values have different names, and none leads to another folder.
func escapeValue(value string, foldCase bool) string {
	normal := norm.NFC.IsNormalString(value) // some file systems treat other forms as the same name
	var b strings.Builder
	cut := 0 // end of the first keptOf bytes
	for i, r := range value {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(value[i:])
		}
		if isPlain(r, size, normal) && !(foldCase && unicode.ToLower(r) != r) {
			b.WriteString(value[i : i+size])
		} else {
			escapeBytes(&b, value[i:i+size])
		}
		if b.Len() <= keptOf {
			cut = b.Len()
		}
	}
	if b.Len() <= maxValue {
		return b.String()
	}
	sum := sha256.Sum256([]byte(value))
	return b.String()[:cut] + "~" + hex.EncodeToString(sum[:8])
}

func isPlain(r rune, size int, normal bool) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return false
	case r < utf8.RuneSelf:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-=+,@", r)
	}
	return normal && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func escapeBytes(b *strings.Builder, s string) {
	for i := range len(s) {
		fmt.Fprintf(b, "%%%02X", s[i])
	}
}

// deviceNames are reserved on some systems, with any extension.
var deviceNames = []string{"con", "prn", "aux", "nul"}

// escapeSegment escapes names that have a special meaning: hidden files, Seine's own names, chunks,
// devices, and names that end in a dot.
func escapeSegment(s string) string {
	escapeAt := func(i int) string {
		var b strings.Builder
		escapeBytes(&b, s[i:i+1])
		return s[:i] + b.String() + s[i+1:]
	}
	if strings.HasSuffix(s, ".") {
		s = escapeAt(len(s) - 1)
	}
	stem, _, _ := strings.Cut(strings.ToLower(s), ".")
	device := slices.Contains(deviceNames, stem)
	if len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") {
		_, err := strconv.Atoi(stem[3:])
		device = device || err == nil
	}
	if s[0] == '.' || s[0] == '_' || device || IsChunk(s) {
		s = escapeAt(0)
	}
	return s
}

// IsChunk reports whether a committed file is a chunk, as opposed to an object.
func IsChunk(file string) bool {
	_, _, ok := ParseName(path.Base(file))
	return ok
}
