package mediatype

import (
	"cmp"
	"strings"
)

// Class is a kind of document, by who can read it.
type Class uint8

// The classes. A feed or a sitemap is known by its root element or by its declared
// type; XML that is neither is XML.
const (
	Other   Class = iota
	HTML          // and XHTML
	XML           // without a class
	Feed          // RSS, Atom, JSON Feed
	Sitemap       // or an index of sitemaps, as XML
	JSON
	NDJSON // a JSON value on each line
	CSV    // or values separated by tabs
	Text   // for people to read
	PDF
	Office // and books: DOCX, XLSX, PPTX, ODT, EPUB, RTF and their kin
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

// binary says that what is of this class is no text.
func (c Class) binary() bool { return c >= PDF }

// markup says that what is of this class begins with "<".
func (c Class) markup() bool { return c >= HTML && c <= Sitemap }

// classes of types whose name does not show it, without the "x-" of unregistered names.
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

// officeMedia are the types of office files and books. The first ones of Microsoft are sent for the later ones, too.
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
	if media == "text/html" { // most are
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

// generic says that a declared type counts as none: those of the standard (section 7),
// and those that only ask a browser to save the body.
func generic(media string) bool {
	switch media {
	case mediaOctets, "binary/octet-stream", "application/binary", "application/x-binary",
		"application/download", "application/x-download", "application/force-download", "application/x-force-download",
		"application/save":
		return true
	}
	return Undefined(media)
}

// Undefined reports whether a type that [Declared] returned says nothing of a body, so
// that browsers look at its bytes (section 7 of the standard).
func Undefined(media string) bool {
	return media == "" || media == "unknown/unknown" || media == "application/unknown" || media == "*/*"
}

// aliases of types of images and archives, which are compared by name.
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

// same says that two names are of one type.
func same(a, b string) bool { return canonical(a) == canonical(b) }

func canonical(media string) string {
	media = registered(media)
	return cmp.Or(aliases[media], media)
}
