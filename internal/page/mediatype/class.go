package mediatype

import "strings"

// Class is a kind of document, by who can read it.
type Class uint8

// The classes. A feed or a sitemap is known by its root element or by its declared
// type; XML that is neither is XML.
const (
	Other   Class = iota
	HTML          // and XHTML
	XML           // with no class of its own
	Feed          // RSS, Atom, JSON Feed
	Sitemap       // or an index of sitemaps, as XML
	JSON
	NDJSON // a JSON value on each line
	CSV    // or values separated by tabs
	Text   // for people to read
	PDF
	Image
	Audio
	Video
	Archive // or a compressed file
)

var classNames = [...]string{
	"other", "html", "xml", "feed", "sitemap", "json", "ndjson", "csv", "text", "pdf", "image", "audio", "video", "archive",
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

// classes of types whose name does not tell.
var classes = map[string]Class{
	"text/html":                         HTML,
	"application/xhtml+xml":             HTML,
	"text/xml":                          XML,
	"application/xml":                   XML,
	mediaRSS:                            Feed,
	mediaAtom:                           Feed,
	mediaJSONFeed:                       Feed,
	"application/x-rss+xml":             Feed,
	"application/rss":                   Feed,
	"application/atom":                  Feed,
	"text/rss":                          Feed,
	"text/rss+xml":                      Feed,
	"text/atom":                         Feed,
	"text/atom+xml":                     Feed,
	"application/json":                  JSON,
	"text/json":                         JSON,
	"text/x-json":                       JSON,
	"application/x-json":                JSON,
	"application/ndjson":                NDJSON,
	"application/x-ndjson":              NDJSON,
	"application/jsonl":                 NDJSON,
	"application/x-jsonl":               NDJSON,
	"application/jsonlines":             NDJSON,
	"application/x-jsonlines":           NDJSON,
	"application/json-lines":            NDJSON,
	"text/jsonl":                        NDJSON,
	"text/csv":                          CSV,
	"text/x-csv":                        CSV,
	"text/comma-separated-values":       CSV,
	"text/tab-separated-values":         CSV,
	"application/csv":                   CSV,
	"application/x-csv":                 CSV,
	"text/css":                          Other,
	"text/javascript":                   Other,
	"text/ecmascript":                   Other,
	"text/jscript":                      Other,
	"text/livescript":                   Other,
	"text/x-javascript":                 Other,
	"application/yaml":                  Text,
	"application/x-yaml":                Text,
	"application/toml":                  Text,
	"application/pdf":                   PDF,
	"application/x-pdf":                 PDF,
	"application/ogg":                   Audio,
	"application/zip":                   Archive,
	"application/x-zip":                 Archive,
	"application/x-zip-compressed":      Archive,
	"application/gzip":                  Archive,
	"application/x-gzip":                Archive,
	"application/x-tar":                 Archive,
	"application/x-gtar":                Archive,
	"application/x-compressed-tar":      Archive,
	"application/x-7z-compressed":       Archive,
	"application/vnd.rar":               Archive,
	"application/x-rar-compressed":      Archive,
	"application/x-bzip":                Archive,
	"application/x-bzip2":               Archive,
	"application/x-xz":                  Archive,
	"application/zstd":                  Archive,
	"application/x-zstd":                Archive,
	"application/x-compress":            Archive,
	"application/java-archive":          Archive,
	"application/x-lzip":                Archive,
	"application/vnd.ms-cab-compressed": Archive,
}

// classOf returns the class of a type in lower case.
func classOf(media string) Class {
	if media == "text/html" { // most are
		return HTML
	}
	if c, ok := classes[media]; ok {
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

// generic says that a declared type is none: those of the standard (section 7),
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

// aliases of types of images, which are compared by name.
var aliases = map[string]string{
	"image/jpg":                    "image/jpeg",
	"image/pjpeg":                  "image/jpeg",
	"image/x-png":                  "image/png",
	"image/vnd.microsoft.icon":     "image/x-icon",
	"image/ico":                    "image/x-icon",
	"image/x-bmp":                  "image/bmp",
	"image/x-ms-bmp":               "image/bmp",
	"image/heif":                   "image/heic",
	"image/apng":                   "image/png",
	"image/svg":                    mediaSVG,
	"application/x-gzip":           "application/gzip",
	"application/x-zip":            "application/zip",
	"application/x-zip-compressed": "application/zip",
	"application/java-archive":     "application/zip",
	"application/x-compressed-tar": "application/gzip",
	"application/x-rar-compressed": "application/vnd.rar",
	"application/x-bzip":           "application/x-bzip2",
	"application/x-zstd":           "application/zstd",
	"application/x-gtar":           "application/x-tar",
	"application/x-pdf":            "application/pdf",
}

// same says that two names are of one type.
func same(a, b string) bool { return canonical(a) == canonical(b) }

func canonical(media string) string {
	if c, ok := aliases[media]; ok {
		return c
	}
	return media
}
