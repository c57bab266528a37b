package convert

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// zipped returns an archive of entries, with the media type first.
func zipped(t testing.TB, entries map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	names := slices.Sorted(maps.Keys(entries))
	if i := slices.Index(names, "mimetype"); i > 0 {
		names = append([]string{"mimetype"}, slices.Delete(names, i, i+1)...)
	}
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if name == "mimetype" {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(entries[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	relationships = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	kindOf        = `Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
	core          = `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>A &amp; B</dc:title><dc:creator>Ada</dc:creator>` +
		`<dcterms:created>2026-01-02T03:04:05Z</dcterms:created><dcterms:modified>2026-02-03T04:05:06Z</dcterms:modified></cp:coreProperties>`
)

func docx(t testing.TB) []byte {
	return zipped(t, map[string]string{
		"[Content_Types].xml": `<Types/>`, "docProps/core.xml": core,
		"_rels/.rels":       relationships + `<Relationship Id="r1" ` + kindOf + `officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/styles.xml":   `<w:styles><w:lang w:val="en-GB"/><w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style></w:styles>`,
		"word/document.xml": word,
		"word/_rels/document.xml.rels": relationships + `<Relationship Id="r1" ` + kindOf + `hyperlink" Target="https://example.org/a" TargetMode="External"/>` +
			`<Relationship Id="r2" ` + kindOf + `styles" Target="styles.xml"/><Relationship Id="r3" ` + kindOf + `footnotes" Target="footnotes.xml"/></Relationships>`,
		"word/footnotes.xml": `<w:footnotes><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
	})
}

const word = `<?xml version="1.0"?><w:document xmlns:w="w" xmlns:r="r"><w:body>
<w:p><w:pPr><w:pStyle w:val="H2"/></w:pPr><w:r><w:t>The head</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">One </w:t></w:r><w:hyperlink r:id="r1"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:r><w:t>.</w:t></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText> HYPERLINK "https://example.org/b" </w:instrText><w:fldChar w:fldCharType="separate"/><w:t>field</w:t><w:fldChar w:fldCharType="end"/></w:r></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>y</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
</w:body></w:document>`

func xlsx(t testing.TB) []byte {
	return zipped(t, map[string]string{
		"docProps/core.xml": core,
		"_rels/.rels":       relationships + `<Relationship Id="r1" ` + kindOf + `officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":   `<workbook xmlns:r="r"><sheets><sheet name="Prices" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": relationships + `<Relationship Id="r1" ` + kindOf + `worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" ` + kindOf + `sharedStrings" Target="sharedStrings.xml"/><Relationship Id="r3" ` + kindOf + `styles" Target="styles.xml"/></Relationships>`,
		"xl/sharedStrings.xml": `<sst><si><t>Name</t><rPh><t>aloud</t></rPh></si></sst>`,
		"xl/styles.xml":        `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[$-409]yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml": `<worksheet xmlns:r="r"><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" s="1"><v>45658</v></c></row>` +
			`<row><c r="A2"><v>0.30000000000000004</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="inlineStr"><is><t>in</t></is></c><c r="D2" s="2"><v>45658.5</v></c></row></sheetData>` +
			`<hyperlinks><hyperlink ref="A1" r:id="r9"/></hyperlinks></worksheet>`,
		"xl/worksheets/_rels/sheet1.xml.rels": relationships + `<Relationship Id="r9" ` + kindOf + `hyperlink" Target="https://example.org/x" TargetMode="External"/></Relationships>`,
	})
}

func pptx(t testing.TB) []byte {
	return zipped(t, map[string]string{
		"docProps/core.xml":                core,
		"_rels/.rels":                      relationships + `<Relationship Id="r1" ` + kindOf + `officeDocument" Target="ppt/presentation.xml"/></Relationships>`,
		"ppt/presentation.xml":             `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels":  relationships + `<Relationship Id="r1" ` + kindOf + `slide" Target="slides/slide1.xml"/><Relationship Id="r2" ` + kindOf + `slide" Target="slides/slide2.xml"/></Relationships>`,
		"ppt/slides/slide1.xml":            slide("Second", ""),
		"ppt/slides/slide2.xml":            slide("First", `<a:hlinkClick r:id="r1"/>`),
		"ppt/slides/_rels/slide2.xml.rels": relationships + `<Relationship Id="r1" ` + kindOf + `hyperlink" Target="https://example.org/s" TargetMode="External"/></Relationships>`,
	})
}

func slide(title, link string) string {
	return `<p:sld xmlns:a="a" xmlns:p="p" xmlns:r="r"><p:sp><p:nvPr><p:ph type="ctrTitle"/></p:nvPr><a:p><a:r><a:t>` + title + `</a:t></a:r></a:p></p:sp>` +
		`<p:sp><a:p><a:r><a:rPr>` + link + `</a:rPr><a:t>body of ` + title + `</a:t></a:r></a:p></p:sp></p:sld>`
}

func odt(t testing.TB) []byte {
	return zipped(t, map[string]string{
		"mimetype": "application/vnd.oasis.opendocument.text",
		"meta.xml": `<office:document-meta xmlns:dc="d" xmlns:meta="m"><dc:title>A &amp; B</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:creator>Bob</dc:creator><meta:creation-date>2026-01-02T03:04:05</meta:creation-date><dc:date>2026-02-03T04:05:06</dc:date></office:document-meta>`,
		"content.xml": `<office:document-content xmlns:text="t" xmlns:table="b" xmlns:xlink="x"><office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
<text:h text:outline-level="2">The head</text:h><text:p>One <text:a xlink:href="https://example.org/a">link</text:a><text:s/>.</text:p>
<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>y</text:p></table:table-cell></table:table-row></table:table>
</office:text></office:document-content>`,
		"styles.xml": `<s xmlns:fo="f"><style:text-properties fo:language="de"/></s>`,
	})
}

func book(t testing.TB) []byte {
	return zipped(t, map[string]string{
		"mimetype":               "application/epub+zip",
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="OPS/p.opf"/></rootfiles></container>`,
		"OPS/p.opf": `<package xmlns:dc="d"><metadata><dc:title>A &amp; B</dc:title><dc:creator>Ada</dc:creator><dc:language>fr</dc:language><meta property="dcterms:modified">2026-02-03T04:05:06Z</meta></metadata>` +
			`<manifest><item id="b" href="b.xhtml"/><item id="a" href="a%20a.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"OPS/a a.xhtml": `<html><head><title>no</title><style>no</style></head><body><h2>The head</h2><p>One <a href="https://example.org/a" onclick="no()">link</a>, <a href="b.xhtml">next</a>.</p><script/></body></html>`,
		"OPS/b.xhtml":   `<html><body><p>Last words</p></body></html>`,
	})
}

const rich = `{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Times;}}{\info{\title A & B}{\author Ada}{\creatim\yr2026\mo1\dy2\hr3\min4}}
\pard The caf\'e9 \u8364?uro{\*\generator no}.\par One {\field{\*\fldinst{HYPERLINK "https://example.org/a"}}{\fldrslt link}}.\par
\trowd\intbl x\cell y\cell\row\pard Last\bin3 }}}words\par}`

// pdfOf returns a PDF of objects, with the catalog first.
func pdfOf(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

func stream(dict, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

// report is a PDF of two pages with an outline, a link, and properties.
func report() []byte {
	lines := func(texts ...string) string {
		return stream("", "BT /F1 12 Tf 14 TL 72 720 Td ("+strings.Join(texts, ") Tj T* (")+") Tj ET")
	}
	return pdfOf("/Info 9 0 R",
		"<< /Type /Catalog /Pages 2 0 R /Outlines 10 0 R /Lang (en-GB) >>",
		"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 7 0 R >> >> /Annots [8 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R /Resources << /Font << /F1 7 0 R >> >> >>",
		lines("First head", "A line of the first paragraph that is as long as", "others of it are, and a second line that ends it", "here."),
		lines("2 Second head", "See https://example.org/plain for more of it all.", "End."),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< /Type /Annot /Subtype /Link /Rect [72 716 140 732] /A << /S /URI /URI (https://example.org/a) >> >>",
		"<< /Title (A & B) /Author (Ada) /CreationDate (D:20260102030405+01'00') /ModDate (D:20260203040506Z) >>",
		"<< /Type /Outlines /First 11 0 R /Last 12 0 R /Count 2 >>",
		"<< /Title (First head) /Parent 10 0 R /Next 12 0 R /Dest [3 0 R /Fit] >>",
		"<< /Title (Second head) /Parent 10 0 R /Prev 11 0 R /Next 11 0 R /Dest [4 0 R /Fit] >>", // makes a circle
	)
}

// scan is a PDF with only a picture.
func scan() []byte {
	return pdfOf("",
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>",
		stream("", "100 0 0 100 0 0 cm /I Do"),
		stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "x"))
}

// locked is a PDF that needs a password.
func locked() []byte {
	key := strings.Repeat("41", 32)
	return pdfOf("/Encrypt 4 0 R /ID [<00> <00>]",
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
		"<< /Filter /Standard /V 1 /R 2 /O <"+key+"> /U <"+key+"> /P -4 >>")
}

// whole returns files of all formats.
func whole(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"docx": docx(t), "xlsx": xlsx(t), "pptx": pptx(t), "odt": odt(t), "epub": book(t), "rtf": []byte(rich), "pdf": report(), "scan": scan(), "locked": locked(),
	}
}
