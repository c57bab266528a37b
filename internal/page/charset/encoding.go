package charset

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"seine/internal/base/ascii"
	"seine/internal/base/lazyregexp"
)

// Encoding is an encoding of the Encoding standard. The zero value has
// no name and otherwise behaves like UTF-8. Encodings compare equal if they are the same.
type Encoding struct{ name string }

// Encodings that algorithms treat specially.
var (
	UTF8        = Encoding{"utf-8"}
	UTF16BE     = Encoding{"utf-16be"}
	UTF16LE     = Encoding{"utf-16le"}
	Windows1252 = Encoding{"windows-1252"}

	userDefined = Encoding{"x-user-defined"}
	replacement = Encoding{"replacement"}
	iso2022JP   = Encoding{"iso-2022-jp"}
)

// Name returns the encoding's name in lower case (Encoding standard section 4.2).
func (e Encoding) Name() string { return e.name }

// String returns the name.
func (e Encoding) String() string { return e.name }

// maxLabel bounds the labels that are looked up; the longest one has 19 bytes
// (cseucpkdfmtjapanese).
const maxLabel = 32

// labelled returns the encoding for a label such as "latin1", or the zero value: "get an encoding"
// of the Encoding standard, section 4.2. It ignores case, and ASCII whitespace around the label.
func labelled(label []byte) Encoding {
	label = bytes.Trim(label, asciiSpace)
	if len(label) == 0 || len(label) > maxLabel {
		return Encoding{}
	}
	if ascii.Is(label, UTF8.name) {
		return UTF8
	}
	for _, c := range label {
		if c >= utf8.RuneSelf { // U+212A lower-cases to "k"
			return Encoding{}
		}
	}
	e, err := htmlindex.Get(string(label))
	if err != nil {
		e, err = htmlindex.Get(otherLabel(string(label)))
	}
	if err != nil {
		return Encoding{}
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return Encoding{}
	}
	return Encoding{name}
}

// otherLabel returns the label of the standard for a label with other hyphens, such as "euc_kr",
// for the number of a Windows code page, such as "cp936", or for the name in another program. It
// returns "" if there is none.
func otherLabel(label string) string {
	plain := squeeze.Replace(strings.ToLower(label))
	if m := codePage().FindStringSubmatch(plain); m != nil {
		return cmp.Or(otherLabels[m[1]], "windows-"+m[1])
	}
	if part, ok := strings.CutPrefix(plain, "iso8859"); ok {
		return "iso-8859-" + part
	}
	return otherLabels[plain]
}

var (
	squeeze     = strings.NewReplacer("-", "", "_", "", " ", "")
	codePage    = lazyregexp.New(`^(?:x?cp|ms|win|windows|codepage)?([0-9]{3,5})$`)
	otherLabels = map[string]string{
		"866": "ibm866", "932": "shift_jis", "936": "gbk", "949": "euc-kr", "950": "big5", "20866": "koi8-r", "21866": "koi8-u", "20932": "euc-jp", "51932": "euc-jp",
		"51949": "euc-kr", "54936": "gb18030", "65001": "utf-8", "28591": "iso-8859-1", "28592": "iso-8859-2", "28595": "iso-8859-5",
		"utf8": "utf-8", "utf8mb4": "utf-8", "utf16": "utf-16le", "utf16le": "utf-16le", "utf16be": "utf-16be", "koi8r": "koi8-r", "koi8u": "koi8-u", "tis620": "tis-620",
		"gbk": "gbk", "gb2312": "gb2312", "gb18030": "gb18030", "euccn": "gbk", "big5": "big5", "big5hkscs": "big5", "eucjp": "euc-jp", "iso2022jp": "iso-2022-jp", "shiftjis": "shift_jis",
		"windows31j": "windows-31j", "euckr": "euc-kr", "uhc": "euc-kr", "latin1": "latin1", "latin2": "latin2", "latin9": "iso-8859-15",
	}
)

// declared returns the encoding that a declaration means if it was read as ASCII. It cannot mean
// UTF-16, which would look different, or x-user-defined, with which scripts read bytes (section
// 13.2.3.2, prescan).
func (e Encoding) declared() Encoding {
	switch e {
	case UTF16BE, UTF16LE:
		return UTF8
	case userDefined:
		return Windows1252
	}
	return e
}
