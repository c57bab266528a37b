package mediatype

import (
	"cmp"
	"strings"
)

// Class is a kind of document, by the software that can read it.
type Class uint8

// The classes. A feed or a sitemap is recognised by its root element or its declared type; other
// XML is XML.
const (
	Other   Class = iota
	HTML          // and XHTML
	XML           // of no other class
	Feed          // RSS, Atom, JSON Feed
	Sitemap       // or a sitemap index, in XML
	JSON
	NDJSON // a JSON value on each line
	CSV    // or tab-separated values
	Text   // for human readers
	PDF
	Office // and books: DOCX, XLSX, PPTX, ODT, EPUB, RTF and similar formats
	Image
	Audio
	Video
	Archive // or a compressed file
)

var classNames = [...]string{
	"other", "html", "xml", "feed", "sitemap", "json", "ndjson", "csv", "text", "pdf", "office", "image", "audio", "video", "archive",
}

// String returns the name of the class in lower case.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[Other]
}

// binary reports whether documents of the class are not text.
func (c Class) binary() bool { return c >= PDF }

// markup reports whether documents of the class begin with "<".
func (c Class) markup() bool { return c >= HTML && c <= Sitemap }

// classes maps types whose name does not show their class, without the "x-" of unregistered names.
var classes = classesByName(map[Class]string{
	HTML:   "text/html application/xhtml+xml",
	XML:    "text/xml application/xml",
	Feed:   "application/rss+xml application/atom+xml application/feed+json application/rss application/atom text/rss text/rss+xml text/atom text/atom+xml",
	JSON:   "application/json text/json",
	NDJSON: "application/ndjson application/jsonl application/jsonlines application/json-lines text/jsonl",
	CSV:    "text/csv text/comma-separated-values text/tab-separated-values application/csv",
	Other:  "text/css text/javascript text/ecmascript text/jscript text/livescript",
	Text:   "application/yaml application/toml",
	PDF:    "application/pdf",
	Office: strings.Join(officeMedia, " ") + " text/rtf",
	Audio:  "application/ogg",
	Archive: "application/zip application/zip-compressed application/gzip application/tar application/gtar application/compressed-tar application/7z-compressed " +
		"application/vnd.rar application/rar-compressed application/bzip application/bzip2 application/xz application/zstd application/compress " +
		"application/java-archive application/lzip application/vnd.ms-cab-compressed",
})

// officeMedia are the types of office files and books. Microsoft's older types are also sent for
// the newer formats.
var officeMedia = []string{
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.presentation",
	"application/epub+zip", "application/rtf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
}

func classesByName(names map[Class]string) map[string]Class {
	byName := make(map[string]Class)
	for c, list := range names {
		for media := range strings.FieldsSeq(list) {
			byName[media] = c
		}
	}
	return byName
}

// registered returns a type without the "x-" of its name.
func registered(media string) string { return strings.Replace(media, "/x-", "/", 1) }

// classOf returns the class of a type in lower case.
func classOf(media string) Class {
	if media == "text/html" { // the most common type
		return HTML
	}
	if c, ok := classes[registered(media)]; ok {
		return c
	}
	family, _, _ := strings.Cut(media, "/")
	switch {
	case family == "image":
		return Image
	case family == "audio":
		return Audio
	case family == "video":
		return Video
	case strings.HasSuffix(media, "+xml"):
		return XML
	case strings.HasSuffix(media, "+json"):
		return JSON
	case family == "text":
		return Text
	}
	return Other
}

// generic reports whether a declared type counts as unknown: those of the standard (section 7), and
// those that only make a browser save the body.
func generic(media string) bool {
	switch media {
	case mediaOctets, "binary/octet-stream", "application/binary", "application/x-binary",
		"application/download", "application/x-download", "application/force-download", "application/x-force-download",
		"application/save":
		return true
	}
	return Undefined(media)
}

// Undefined reports whether a type that [Declared] returned says nothing about a body, so that
// browsers check its bytes (section 7 of the standard).
func Undefined(media string) bool {
	return media == "" || media == "unknown/unknown" || media == "application/unknown" || media == "*/*"
}

// aliases maps types of images and archives, which are compared by name, to their canonical form.
var aliases = map[string]string{
	"image/jpg":                  "image/jpeg",
	"image/pjpeg":                "image/jpeg",
	"image/vnd.microsoft.icon":   "image/icon",
	"image/ico":                  "image/icon",
	"image/ms-bmp":               "image/bmp",
	"image/heif":                 "image/heic",
	"image/apng":                 "image/png",
	"image/svg":                  mediaSVG,
	"application/zip-compressed": "application/zip",
	"application/java-archive":   "application/zip",
	"application/compressed-tar": "application/gzip",
	"application/rar-compressed": "application/vnd.rar",
	"application/bzip":           "application/bzip2",
	"application/gtar":           "application/tar",
}

// same reports whether two names are of one type.
func same(a, b string) bool { return canonical(a) == canonical(b) }

func canonical(media string) string {
	media = registered(media)
	return cmp.Or(aliases[media], media)
}
