package charset

import "bytes"

// bogoXML returns the encoding of an XML declaration at the start of an HTML page: "get an XML
// encoding" of section 13.2.3.2.
func bogoXML(b []byte) Encoding {
	if !bytes.HasPrefix(b, []byte("<?xml")) {
		return Encoding{}
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return Encoding{}
	}
	_, b, found := bytes.Cut(b[:end], []byte("encoding"))
	if !found {
		return Encoding{}
	}
	b = skipControls(b)
	if len(b) == 0 || b[0] != '=' {
		return Encoding{}
	}
	b = skipControls(b[1:])
	if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
		return Encoding{}
	}
	label, _, found := bytes.Cut(b[1:], b[:1])
	if !found || bytes.IndexFunc(label, func(r rune) bool { return r <= ' ' }) >= 0 {
		return Encoding{}
	}
	return labelled(label).declared()
}

func skipControls(b []byte) []byte {
	return bytes.TrimLeftFunc(b, func(r rune) bool { return r <= ' ' })
}

// fromXMLDeclaration reads the start of an XML document without a byte order mark (XML 1.0 appendix
// F.1). UCS-4 and EBCDIC are not encodings of the web (Encoding standard section 4.2), so it does
// not check their patterns.
func fromXMLDeclaration(b []byte) Encoding {
	if e := utf16XML(b, "<?"); e != (Encoding{}) {
		return e
	}
	return bogoXML(b[:min(len(b), prescanLength)])
}

// utf16XML recognises ASCII text at the start of b in UTF-16.
func utf16XML(b []byte, text string) Encoding {
	if len(b) < 2*len(text) {
		return Encoding{}
	}
	zero := 1
	if b[0] == 0 {
		zero = 0
	}
	for i := range len(text) {
		if b[2*i+zero] != 0 || b[2*i+1-zero] != text[i] {
			return Encoding{}
		}
	}
	if zero == 0 {
		return UTF16BE
	}
	return UTF16LE
}
