package mediatype

import (
	"bytes"
	"net/http"
	"strings"

	"seine/internal/base/ascii"
)

// headLength is the number of bytes of a body that are checked. The standard needs 1445 bytes
// (section 5.2); root elements follow comments and stylesheets, and need more.
const headLength = 4096

// headOf returns the beginning of a body. For UTF-16 it returns its ASCII characters, which
// signatures and element names consist of.
func headOf(body []byte) []byte {
	head := body[:min(len(body), headLength)]
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return head[3:]
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return narrow(head[2:], 1)
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return narrow(head[2:], 0)
	case bytes.HasPrefix(head, []byte("<\x00?\x00")):
		return narrow(head, 0)
	case bytes.HasPrefix(head, []byte("\x00<\x00?")):
		return narrow(head, 1)
	}
	return head
}

// narrow returns one byte of each code unit, the one at offset low.
func narrow(utf16 []byte, low int) []byte {
	ascii := make([]byte, 0, len(utf16)/2)
	for i := 0; i+1 < len(utf16); i += 2 {
		c := utf16[i+low]
		if utf16[i+1-low] != 0 || !isText([]byte{c}) {
			c = '?'
		}
		ascii = append(ascii, c)
	}
	return ascii
}

// beginsHTML is a fast check for the beginning of most pages.
func beginsHTML(body []byte) bool {
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		body = body[3:]
	}
	body = trimLeft(body)
	return ascii.HasPrefix(body, "<!doctype html") || ascii.HasPrefix(body, "<html")
}

// find classifies the beginning of a body, if that is certain. cut means that the body is longer.
func find(head []byte, cut bool, declared Class) finding {
	start := trimLeft(head)
	if len(start) == 0 {
		return finding{}
	}
	if found := findOffice(head); found.media != "" {
		return found
	}
	switch start[0] {
	case '<':
		return findMarkup(start, declared)
	case '{', '[':
		return findJSON(start, cut, declared)
	}
	return findBinary(head)
}

// isText reports whether head has no binary data byte (section 3 of the standard).
func isText(head []byte) bool {
	for _, c := range head {
		if c <= 0x08 || c == 0x0b || c >= 0x0e && c <= 0x1a || c >= 0x1c && c <= 0x1f {
			return false
		}
	}
	return true
}

// findBinary searches for the signatures of the standard (section 6), which net/http has, and for
// those of further formats. A signature that is text counts only if binary data follows: "BMW" is
// not a bitmap.
func findBinary(head []byte) finding {
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return finding{mediaPDF, PDF}
	}
	media := signature(head)
	if media == "" {
		if isText(head) {
			return finding{}
		}
		media, _, _ = strings.Cut(http.DetectContentType(head), ";")
	}
	class := classOf(media)
	if !class.binary() || isText(head) {
		return finding{}
	}
	return finding{media, class}
}

// findOffice recognises RTF, and ZIP archives by their first entries: the entry named mimetype has
// the media type, and Office Open XML has known folders.
func findOffice(head []byte) finding {
	if bytes.HasPrefix(head, []byte(`{\rtf`)) {
		return finding{"application/rtf", Office}
	}
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return finding{}
	}
	if _, media, ok := bytes.Cut(head[:min(len(head), 200)], []byte("mimetypeapplication/")); ok {
		for _, one := range officeMedia {
			if bytes.HasPrefix(media, []byte(strings.TrimPrefix(one, "application/"))) {
				return finding{one, Office}
			}
		}
	}
	for i, folder := range []string{"word/", "xl/", "ppt/"} {
		if bytes.Contains(head, []byte(folder)) && bytes.Contains(head, []byte(".xml")) {
			return finding{officeMedia[i], Office}
		}
	}
	return finding{}
}

// signatures are those that net/http does not have, or has under another name, from the
// specifications of the formats.
var signatures = []struct{ prefix, media string }{
	{"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
	{"\x1f\x8b\x08", "application/gzip"},
	{"BZh", "application/x-bzip2"},
	{"\xfd7zXZ\x00", "application/x-xz"},
	{"\x28\xb5\x2f\xfd", "application/zstd"}, // RFC 8878
	{"LZIP", "application/x-lzip"},
	{"MSCF\x00\x00\x00\x00", "application/vnd.ms-cab-compressed"},
	{"\x1f\x9d", "application/x-compress"},
	{"Rar!\x1a\x07", "application/vnd.rar"},
	{"fLaC", "audio/flac"},
	{"II*\x00", "image/tiff"},
	{"MM\x00*", "image/tiff"},
	{"\xff\x0a", "image/jxl"},
	{"\x00\x00\x00\x0cJXL \r\n\x87\n", "image/jxl"},
	{"\x00\x00\x00\x0cjP  \r\n\x87\n", "image/jp2"},
	{"FLV\x01", "video/x-flv"},
}

func signature(head []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.prefix)) {
			return s.media
		}
	}
	switch {
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		return brand(string(head[8:12]))
	case len(head) >= 262 && string(head[257:262]) == "ustar": // POSIX pax, ustar format
		return "application/x-tar"
	case len(head) > 3 && head[0] == 0xff && head[1]&0xe0 == 0xe0 && mp3(head):
		return "audio/mpeg"
	}
	return ""
}

// brand returns the type of a file in the ISO base media format (ISO/IEC 14496-12, section 4.3).
func brand(name string) string {
	switch name {
	case "avif", "avis":
		return "image/avif"
	case "heic", "heix", "heim", "heis", "mif1", "msf1":
		return "image/heic"
	case "M4A ", "M4B ":
		return "audio/mp4"
	case "qt  ":
		return "video/quicktime"
	case "crx ":
		return "image/x-canon-cr3"
	}
	return "video/mp4"
}

// mp3 reports whether a header of an MPEG audio frame is one of layer III with a bit rate and a
// sampling rate (section 6.2.3 of the standard).
func mp3(head []byte) bool {
	version, layer := head[1]>>3&3, head[1]>>1&3
	return version != 1 && layer == 1 && head[2]>>4 != 15 && head[2]>>4 != 0 && head[2]>>2&3 != 3
}

func trimLeft(b []byte) []byte { return bytes.TrimLeft(b, " \n\r\t\f") }
