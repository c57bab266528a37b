package charset

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

const meta = "<meta charset=iso-8859-2>" // where 0xb1 is "ą"

// decodeCase is a document, its declarations, and the result according to the named section of the
// standard.
type decodeCase struct{ section, rule, contentType, body, name, text string }

func check(t *testing.T, cases []decodeCase, decode func([]byte, string) ([]byte, Encoding)) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.section+" "+tt.rule, func(t *testing.T) {
			got, e := decode([]byte(tt.body), tt.contentType)
			if e.Name() != tt.name || !strings.HasSuffix(string(got), tt.text) {
				t.Errorf("%q as %q: got %s %+q, want %s %+q", tt.body, tt.contentType, e, got, tt.name, tt.text)
			}
		})
	}
}

// The declaration that counts, according to HTML section 13.2.3.2 unless a case names another.
func TestOrder(t *testing.T) {
	pad := strings.Repeat(" ", prescanLength)
	utf16le := func(s string) string { return strings.Join(strings.Split(s, ""), "\x00") + "\x00" }
	check(t, []decodeCase{
		{"Encoding 6", "a UTF-8 mark before the header", "text/html; charset=latin1", "\xef\xbb\xbf" + meta + "é", "utf-8", "é"},
		{"Encoding 6", "a UTF-16LE mark before the header", "text/html; charset=utf-8", "\xff\xfea\x00\xe9\x00", "utf-16le", "aé"},
		{"Encoding 6", "a UTF-16BE mark", "text/html", "\xfe\xff\x00a\x00\xe9", "utf-16be", "aé"},
		{"Encoding 6", "the mark is no text", "", "\xef\xbb\xbf\xef\xbb\xbfx", "utf-8", "\ufeffx"},
		{"Encoding 6", "there is no UTF-32", "", "\xff\xfe\x00\x00a\x00", "utf-16le", "\x00a"},
		{"Encoding 6", "half a mark is none", "", "\xef\xbbx", "windows-1252", "ï»x"},
		{"13.2.3.2", "the header before a meta", "text/html;charset=iso-8859-2", "<meta charset=koi8-r>\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "an unknown header label is none", "text/html; charset=x", meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "a header may say UTF-16", "text/html; charset=utf-16be", "\x00a\x00\xe9", "utf-16be", "aé"},
		{"13.2.3.2", "a wrong declaration is believed", "text/html; charset=windows-1252", "Ã©", "windows-1252", "Ãƒ\u00c2\u00a9"},
		{"13.2.3.2", "UTF-8 declared and not kept", "text/html; charset=utf-8", "a\xe9b\xff", "utf-8", "a\ufffdb\ufffd"},
		{"13.2.3.2", "a wrong meta is believed", "", "<meta charset=utf-8>\xe9", "utf-8", "\ufffd"},
		{"13.2.3.2", "nothing declared, UTF-8", "", "é", "utf-8", "é"},
		{"13.2.3.2", "nothing declared, ASCII", "", "e", "utf-8", "e"},
		{"13.2.3.2", "nothing declared, something else", "", "\xe9\x80", "windows-1252", "é€"},
		{"13.2.3.2", "UTF-8 cut in the middle", "", "aé\xe2\x82", "utf-8", "aé\ufffd"},
		{"13.2.3.2", "a single byte at the end", "", "caf\xe9", "windows-1252", "café"},
		{"13.2.3.2", "UTF-16 undeclared", "", utf16le("<title>plain</title>"), "utf-16le", "<title>plain</title>"},
		{"13.2.3.2", "UTF-16 undeclared, big endian", "", "\x00" + strings.TrimSuffix(utf16le("<title>plain</title>"), "\x00"), "utf-16be", "<title>plain</title>"},
		{"13.2.3.2", "some zero bytes are no UTF-16", "", "a\x00b\x00c\x00d\x00e\x00f\x00gh\x00i", "utf-8", "i"},
		{"13.2.3.2", "empty", "", "", "utf-8", ""},
		{"13.2.3.4", "a meta further down", "", pad + meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.4", "even if the page could be UTF-8", "", pad + meta + "é", "iso-8859-2", "Ă\u0160"},
		{"13.2.3.4", "not one in a script", "", pad + "<script>'" + meta + "'</script>\xe9", "windows-1252", "é"},
		{"13.2.3.4", "nor in a title", "", pad + "<TITLE>" + meta + "</title>é", "utf-8", "é"},
		{"13.2.3.4", "nor very far down", "", strings.Repeat(" ", lateLength) + meta + "é", "utf-8", "é"},
	}, Decode)
}

// The charset of a Content-Type header.
func TestHeader(t *testing.T) {
	const b = "\xb1"
	const latin2, none = "iso-8859-2", "windows-1252"
	check(t, []decodeCase{
		{"MIME Sniffing 4.4", "quoted, with space around", "text/html;CHARSET=\"ISO-8859-2\" ; x=y", b, latin2, "ą"},
		{"MIME Sniffing 4.4", "another parameter first", "text/html; x=\"a;charset=koi8-r\"; charset=latin2", b, latin2, "ą"},
		{"MIME Sniffing 4.4", "the first charset counts", "text/html; charset=latin2; charset=koi8-r", b, latin2, "ą"},
		{"MIME Sniffing 4.4", "one without a value does not", "text/html; charset=; charset=latin2", b, latin2, "ą"},
		{"MIME Sniffing 4.4", "a quote left open", `text/html; charset="latin2`, b, latin2, "ą"},
		{"MIME Sniffing 4.4", "a quoted pair", `text/html; charset="lat\in2"`, b, latin2, "ą"},
		{"MIME Sniffing 4.4", "space before = is no parameter", "text/html; charset =latin2", b, none, "±"},
		{"MIME Sniffing 4.4", "single quotes are no quotes", "text/html; charset='latin2'", b, none, "±"},
		{"MIME Sniffing 4.4", "without a type it is none", "charset=latin2", b, none, "±"},
		{"MIME Sniffing 4.4", "nor without a subtype", "html; charset=latin2", b, none, "±"},
		{"Fetch 3.2.4", "the last of several types", "text/plain; charset=koi8-r, text/html; charset=latin2", b, latin2, "ą"},
		{"Fetch 3.2.4", "inherits from its like", "text/html; charset=latin2, text/html", b, latin2, "ą"},
		{"Fetch 3.2.4", "and from no other", "text/plain; charset=latin2, text/html", b, none, "±"},
		{"Fetch 3.2.4", "what is no type is passed over", "text/html; charset=latin2, ,*/*", b, latin2, "ą"},
	}, Decode)
}

// HTML section 13.2.3.2, "prescan a byte stream".
func TestPrescan(t *testing.T) {
	const none = "windows-1252"
	const pragma = `<meta http-equiv=Content-Type content="text/html; charset=`
	at1024 := strings.Repeat(" ", prescanLength-len(meta))
	check(t, []decodeCase{
		{"13.2.3.2", "charset", "text/html", meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "any case, quotes and slash", "", "<META/CharSet = ' Latin2 ' />\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "within the first 1,024 bytes", "", at1024 + meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "pragma", "", pragma + `latin2">` + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "content before http-equiv", "", `<meta content="x;charset=Shift_JIS" http-equiv=content-type>` + "\x83\x65", "shift_jis", "テ"},
		{"13.2.3.2", "content without pragma", "", `<meta content="x; charset=latin2">` + "\xb1", none, "±"},
		{"13.2.3.2", "another pragma", "", `<meta http-equiv=refresh content="x; charset=latin2">` + "\xb1", none, "±"},
		{"13.2.3.2", "charset wins over content", "", pragma + `koi8-r" charset=latin2>` + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "an unknown label, then another meta", "", "<meta charset=x>" + meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "the first of two attributes", "", "<meta charset=latin2 charset=koi8-r>\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "UTF-16 in a meta is UTF-8", "", "<meta charset=utf-16>é", "utf-8", "é"},
		{"13.2.3.2", "UTF-16BE likewise", "", "<meta charset=unicodefffe>é", "utf-8", "é"},
		{"13.2.3.2", "x-user-defined is windows-1252", "", "<meta charset=x-user-defined>\x80", "windows-1252", "€"},
		{"13.2.3.2", "not in a comment", "", "<!-- > -- " + meta + "-->é", "utf-8", "é"},
		{"13.2.3.2", "a comment of the dashes of its start", "", "<!-->" + meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "not in an attribute", "", "<p title='" + meta + "'>é", "utf-8", "é"},
		{"13.2.3.2", "not in a declaration", "", "<!doctype " + meta[1:] + "<?x " + meta[1:] + "é", "utf-8", "é"},
		{"13.2.3.2", "but in a script, of the first bytes", "", "<script>" + meta + "</script>\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "not in another element", "", "<metas charset=latin2>é", "utf-8", "é"},
		{"13.2.3.2", "not in a tag the page ends in", "", "é<meta charset=latin2", "utf-8", "é<meta charset=latin2"},
		{"13.2.3.2", "an XML declaration", "", "<?xml version='1.0' encoding = \"latin2\"?>\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "a meta wins over it", "", "<?xml encoding='koi8-r'?>" + meta + "\xb1", "iso-8859-2", "ą"},
		{"13.2.3.2", "UTF-16 in it is UTF-8", "", "<?xml encoding='utf-16'?>é", "utf-8", "é"},
		{"13.2.3.2", "not behind a space", "", " <?xml encoding='latin2'?>\xb1", none, "±"},
		{"13.2.3.2", "not with a space in the label", "", "<?xml encoding=' latin2'?>\xb1", none, "±"},
		{"13.2.3.2", "UTF-16LE by its XML declaration", "", "<\x00?\x00x\x00\xe9\x00", "utf-16le", "é"},
		{"13.2.3.2", "UTF-16BE by its XML declaration", "", "\x00<\x00?\x00x\x00\xe9", "utf-16be", "é"},
		{"2.5.3", "content with an open quote", "", pragma + `'latin2">` + "\xb1", none, "±"},
		{"2.5.3", "content with quotes", "", pragma + `'latin2' ">` + "\xb1", "iso-8859-2", "ą"},
		{"2.5.3", "charset without =, then with", "", `<meta http-equiv=content-type content="charset charset = latin2;x">` + "\xb1", "iso-8859-2", "ą"},
	}, Decode)
}

// The encoding of a label in a header, Encoding standard section 4.2.
func TestLabels(t *testing.T) {
	for label, name := range map[string]string{
		"UTF8": "utf-8", "unicode-1-1-utf-8": "utf-8", "x-unicode20utf8": "utf-8", "\n utf-8\t": "utf-8",
		"latin1": "windows-1252", "iso-8859-1": "windows-1252", "us-ascii": "windows-1252", "l5": "windows-1254",
		"iso-8859-9": "windows-1254", "tis-620": "windows-874", "iso-8859-11": "windows-874", "logical": "iso-8859-8-i",
		"visual": "iso-8859-8", "koi": "koi8-r", "koi8-ru": "koi8-u", "866": "ibm866", "mac": "macintosh",
		"x-mac-ukrainian": "x-mac-cyrillic", "gb2312": "gbk", "chinese": "gbk", "big5-hkscs": "big5",
		"windows-31j": "shift_jis", "sjis": "shift_jis", "cseucpkdfmtjapanese": "euc-jp", "ks_c_5601-1987": "euc-kr",
		"windows-949": "euc-kr", "iso-2022-kr": "replacement", "hz-gb-2312": "replacement", "ucs-2": "utf-16le",
		"utf-16": "utf-16le", "unicodefffe": "utf-16be", "x-user-defined": "x-user-defined",
		"utf8mb4": "utf-8", "utf16": "utf-16le", "latin9": "iso-8859-15", "euc-cn": "gbk", "big5hkscs": "big5", "uhc": "euc-kr", "1251": "windows-1251", "gb-18030": "gb18030",
		"cp936": "gbk", "cp949": "euc-kr", "cp932": "shift_jis", "CP950": "big5", "euc_kr": "euc-kr", "EUC_JP": "euc-jp", "euckr": "euc-kr", "tis620": "windows-874",
		"TIS_620": "windows-874", "win-1251": "windows-1251", "win1251": "windows-1251", "windows_1251": "windows-1251", "windows1252": "windows-1252", "cp-1250": "windows-1250",
		"cp874": "windows-874", "ms932": "shift_jis", "shift-jis": "shift_jis", "iso8859_1": "windows-1252", "ISO_8859-15": "iso-8859-15", "latin-1": "windows-1252", "utf 8": "utf-8",
		"utf_8": "utf-8", "koi8_r": "koi8-r", "koi8r": "koi8-r", "iso2022jp": "iso-2022-jp", "gb_2312": "gbk", "big-5": "big5", "cp65001": "utf-8", "x-cp1251": "windows-1251",
		// Invalid ones:
		"utf-7": "", "utf-32": "", "cesu-8": "", "": "", "cp": "", "cp1": "", "win-1260": "", "windows": "", "\u212aoi8-r": "", "utf-8\u00a0": "",
		strings.Repeat(" ", 40) + "utf-8": "utf-8",
	} {
		if e := labelled([]byte(label)); e.Name() != name {
			t.Errorf("%q: got %q, want %q", label, e, name)
		}
	}
}

// Characters and errors, by the section of the Encoding standard.
func TestDecoders(t *testing.T) {
	cases := []struct{ section, label, in, want string }{
		{"8.1.1", "utf-8", "\xe2\x82A", "\ufffdA"}, // an incomplete character is one error
		{"8.1.1", "utf-8", "\xf0\x9f\x98", "\ufffd"},
		{"8.1.1", "utf-8", "\xf0\x80\x80", "\ufffd\ufffd\ufffd"}, // too long
		{"8.1.1", "utf-8", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"}, // a surrogate
		{"8.1.1", "utf-8", "\xc0\xaf", "\ufffd\ufffd"},
		{"8.1.1", "utf-8", "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"}, // beyond Unicode
		{"8.1.1", "utf-8", "\xf0\x9f\x98<\xe9", "\ufffd<\ufffd"},
		{"9.1", "windows-1252", "\x80\x81\x8d", "€\u0081\u008d"}, // undefined bytes are C1 controls
		{"9.1", "windows-1253", "\xaa", "\ufffd"},
		{"9.1", "windows-1255", "\xd9\xe0", "\ufffdא"},
		{"9.1", "iso-8859-6", "\xa1\xc7", "\ufffdا"},
		{"9.1", "windows-874", "\xdb\x81\xa1", "\ufffd\u0081ก"},
		{"9.1", "koi8-u", "\xae", "ў"},
		{"9.1", "koi8-r", "abc", "abc"},
		{"9.1", "macintosh", "\xdb", "€"},
		{"10.1.1", "gbk", "\xc4\xe3\x80", "你€"},
		{"10.1.1", "gbk", "\x81\x30\x81\x30", "\u0080"}, // GBK is decoded as gb18030
		{"10.2.1", "gb18030", "\x90\x30\x81\x30\xff", "\U00010000\ufffd"},
		{"10.2.1", "gb18030", "\x81<", "\ufffd<"}, // ASCII is kept
		{"10.2.1", "gb18030", "\x81\x30<a", "\ufffd0<a"},
		{"10.2.1", "gb18030", "\x81\x30\x81<", "\ufffd0\ufffd<"},
		{"10.2.1", "gb18030", "\xe3\x32\x9a\x35", "\U0010ffff"},
		{"10.2.1", "gb18030", "\x81\xff\x80", "\ufffd\ufffd€"},
		{"10.2.1", "gb18030", "\xa8\xbc", "\ufffd"},
		{"11.1.1", "big5", "\xa4\x40\x87\x40\x88\x62", "一䏰Ê̄"},
		{"11.1.1", "big5", "\x81<\x80\xa1\xff\xa4", "\ufffd<\ufffd\ufffd\ufffd"},
		{"12.1.1", "euc-jp", "\xa4\xc6\x8e\xb1\x8f\xb0\xa1", "てｱ丂"},
		{"12.1.1", "euc-jp", "\xa4<\x8e<\x8f<\x8f\xb0<", "\ufffd<\ufffd<\ufffd<\ufffd<"},
		{"12.1.1", "euc-jp", "\xa4\xff\x80\x8f\xb0", "\ufffd\ufffd\ufffd\ufffd"},
		{"12.2.1", "iso-2022-jp", "\x1b$B$F\x1b(B\x1b$@\x30\x21\x1b(I\x31", "て亜ｱ"},
		{"12.2.1", "iso-2022-jp", "\x1bx\x80\x1b", "\ufffdx\ufffd\ufffd"},
		{"12.3.1", "shift_jis", "\x83\x65\xb1\x80\\~\xfa\x40", "テｱ\u0080\\~ⅰ"},
		{"12.3.1", "shift_jis", "\xf0\x40", "\ufffd"},
		{"12.3.1", "shift_jis", "\x81<\x85\x40\xa0\x81\xff\xfd", "\ufffd<\ufffd\ufffd\ufffd\ufffd"},
		{"13.1.1", "euc-kr", "\xb0\xa1\x81\x41", "가갂"},
		{"13.1.1", "euc-kr", "\xb0<\xfe\x41\x80\xb0\xff\xc9\xa1", "\ufffd<\ufffdA\ufffd\ufffd\ufffd"},
		{"14.1.1", "iso-2022-kr", "<script>", "\ufffd"},
		{"14.1.1", "replacement", "", ""},
		{"14.2.1", "utf-16le", "\x3d\xd8\x00\xdea\x00", "😀a"},
		{"14.2.1", "utf-16le", "\x00\xd8a\x00\x00\xdc", "\ufffda\ufffd"}, // halves of a pair
		{"14.2.1", "utf-16le", "a\x00b", "a\ufffd"},
		{"14.2.1", "utf-16be", "\xd8\x00\xd8", "\ufffd\ufffd"},
		{"14.5.1", "x-user-defined", "a\x80\xff", "a\uf780\uf7ff"},
	}
	for _, tt := range cases {
		got, e := Decode([]byte(tt.in), "text/html; charset="+tt.label)
		if string(got) != tt.want {
			t.Errorf("%s %s %q: got %+q, want %+q", tt.section, e, tt.in, got, tt.want)
		}
	}
}

// The end of a tag or an attribute counts after any byte, as in a browser. Otherwise links and
// scripts would exist for one and not for the other.
func TestBrokenCharacterHidesNoMarkup(t *testing.T) {
	for _, label := range []string{"gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"} {
		e := labelled([]byte(label))
		for lead := 0x80; lead <= 0xff; lead++ {
			for _, front := range [][]byte{{byte(lead)}, {0x8f, byte(lead)}, {byte(lead), 0x30}, {byte(lead), 0x30, 0x81}} {
				for _, mark := range `<>"'&= ` {
					if got, _ := e.toUTF8(append(front, byte(mark), 'x')); !bytes.ContainsRune(got, mark) {
						t.Errorf("%s: %q is not to be seen behind %x: %q", label, mark, front, got)
					}
				}
			}
		}
	}
}

// RFC 7303 and XML 1.0.
func TestXML(t *testing.T) {
	check(t, []decodeCase{
		{"RFC 7303 3.2", "mark before header", "text/xml; charset=latin2", "\xef\xbb\xbf<a>é", "utf-8", "é"},
		{"RFC 7303 3.2", "header before declaration", "text/xml; charset=latin2", "<?xml version='1.0' encoding='koi8-r'?>\xb1", "iso-8859-2", "ą"},
		{"XML 4.3.3", "declaration", "application/rss+xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-2\"?>\xb1", "iso-8859-2", "ą"},
		{"XML 4.3.3", "UTF-8 without one", "text/xml", "<a>é", "utf-8", "é"},
		{"XML F.1", "UTF-16LE without a mark", "", "<\x00?\x00\xe9\x00", "utf-16le", "é"},
		{"XML F.1", "UTF-16BE without a mark", "", "\x00<\x00?\x00\xe9", "utf-16be", "é"},
		{"XML F.1", "an unknown encoding", "", "<?xml version='1.0' encoding='x'?>é", "utf-8", "é"},
		{"RFC 7303 3.2", "meta means nothing", "", "<html>" + meta + "é", "utf-8", "é"},
		{"package", "neither declared nor UTF-8", "", "<a>\xe9", "windows-1252", "é"},
	}, DecodeXML)
}

func TestText(t *testing.T) {
	check(t, []decodeCase{
		{"Encoding 6", "mark", "text/plain; charset=latin2", "\xef\xbb\xbfé", "utf-8", "é"},
		{"RFC 2046 4.1.2", "header", "text/plain; charset=latin2", "\xb1", "iso-8859-2", "ą"},
		{"package", "meta means nothing", "text/plain", meta + "é", "utf-8", "é"},
		{"package", "nor does XML", "text/plain", "<?xml encoding='latin2'?>é", "utf-8", "é"},
		{"package", "UTF-16 undeclared", "text/plain", "n\x00a\x00m\x00e\x00,\x00a\x00g\x00e\x00\n\x00", "utf-16le", "name,age\n"},
	}, DecodeText)
}

func TestUTF8IsNotCopied(t *testing.T) {
	body := []byte("\xef\xbb\xbfé")
	got, _ := Decode(body, "")
	if !bytes.Equal(got, body[3:]) || &got[0] != &body[3] {
		t.Errorf("got %q", got)
	}
}

// FuzzDecode: any input gives UTF-8 of bounded size, the same in two calls.
func FuzzDecode(f *testing.F) {
	for _, label := range []string{"", "utf-8", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr", "iso-2022-jp", "utf-16", "latin1", "hz-gb-2312"} {
		f.Add([]byte("<meta charset=utf-8>\x81\x30\x81\x30\x1b$B$F\xff<"), "text/html; charset="+label)
	}
	f.Add([]byte("<?xml encoding='koi8-r'?><!-- <meta content='charset=x'http-equiv=content-type"), ",text/html;charset=\"\\")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		for name, decode := range map[string]func([]byte, string) ([]byte, Encoding){
			"html": Decode, "xml": DecodeXML, "text": DecodeText,
		} {
			text, e := decode(body, contentType)
			if !utf8.Valid(text) || len(text) > 3*len(body) || e.Name() == "" {
				t.Errorf("%s: %d bytes as %q: %q", name, len(body), e, text)
			}
			if again, e2 := decode(body, contentType); !bytes.Equal(again, text) || e != e2 {
				t.Errorf("%s: second time differs: %q, %q", name, text, again)
			}
		}
	})
}
