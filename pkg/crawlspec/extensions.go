package crawlspec

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/pkg/messages"
)

// extensionMedia are the media types of files that are not pages, by file extension. It omits
// extensions that pages have as well, such as js and com.
var extensionMedia = map[string]string{
	"7z": "application/x-7z-compressed", "aac": "audio/aac", "apk": "application/vnd.android.package-archive",
	"avi": "video/x-msvideo", "avif": "image/avif", "bmp": "image/bmp", "bz2": "application/x-bzip2",
	"deb": "application/vnd.debian.binary-package", "dmg": "application/x-apple-diskimage", "doc": "application/msword",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"eot":  "application/vnd.ms-fontobject", "eps": "application/postscript", "epub": "application/epub+zip",
	"exe": "application/vnd.microsoft.portable-executable", "flac": "audio/flac", "flv": "video/x-flv",
	"gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "ico": "image/x-icon",
	"iso": "application/x-iso9660-image", "jar": "application/java-archive", "jpeg": "image/jpeg", "jpg": "image/jpeg",
	"m4a": "audio/mp4", "m4v": "video/mp4", "mkv": "video/x-matroska", "mobi": "application/x-mobipocket-ebook",
	"mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
	"msi": "application/x-msi", "odp": "application/vnd.oasis.opendocument.presentation",
	"ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
	"oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
	"pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"psd":  "image/vnd.adobe.photoshop", "rar": "application/vnd.rar", "rpm": "application/x-rpm", "rtf": "application/rtf", "svg": "image/svg+xml",
	"swf": "application/x-shockwave-flash", "tar": "application/x-tar", "tgz": "application/gzip", "tif": "image/tiff",
	"tiff": "image/tiff", "ttf": "font/ttf", "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm",
	"webp": "image/webp", "wma": "audio/x-ms-wma", "wmv": "video/x-ms-wmv", "woff": "font/woff", "woff2": "font/woff2",
	"xls": "application/vnd.ms-excel", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"xz": "application/x-xz", "zip": "application/zip", "zst": "application/zstd",
}

// mediaOf returns the media types of some extensions.
func mediaOf(extensions ...string) (media []string) {
	for _, e := range extensions {
		media = append(media, extensionMedia[e])
	}
	return media
}

// Extensions are those of files, in lower case and without a dot.
type Extensions []string

// IsZero reports whether e is nil, which stands for the default, unlike an empty list.
func (e Extensions) IsZero() bool { return e == nil }

// DefaultSkipExtensions returns the extensions of images, sound, films, fonts, archives, programs,
// and documents that are not pages, in alphabetical order.
func DefaultSkipExtensions() []string { return slices.Sorted(maps.Keys(extensionMedia)) }

// SkippedExtensions returns the extensions of SkipExtensions whose media type the spec does not
// accept.
func (s *Spec) SkippedExtensions() (skipped []string) {
	all, kept := []string(s.SkipExtensions), s.Accepts()
	if all == nil {
		all = DefaultSkipExtensions()
	}
	for _, e := range all {
		if media := extensionMedia[e]; media == "" || !InMediaRanges(kept, media) {
			skipped = append(skipped, e)
		}
	}
	return skipped
}

// Extension returns the file extension in a URL, in lower case and without its dot; "" if it has
// none. A name with a colon, such as that of the wiki page File:A.jpg, is not a file name.
func Extension(url string) string {
	rest, _, _ := strings.Cut(url, "?")
	rest, _, _ = strings.Cut(rest, "#")
	_, rest, _ = strings.Cut(rest, "://")
	_, file, _ := strings.Cut(rest, "/") // after the host
	name := path.Base(file)
	if strings.HasSuffix(file, "/") || strings.Contains(name, ":") || strings.Contains(name, "%3A") {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}

var extensionSyntax = lazyregexp.New(`^[a-z0-9]{1,16}$`)

func (c specCheck) checkExtensions(p *Problems) {
	for i, e := range c.SkipExtensions {
		if !extensionSyntax().MatchString(e) {
			p.Addf(fmt.Sprintf("skip_extensions[%d]", i), "%q: must be the extension of a file in lower case, without its dot, such as jpg", messages.Clip(e))
		}
	}
}
