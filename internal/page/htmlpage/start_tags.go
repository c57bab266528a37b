package htmlpage

import (
	"strconv"

	"seine/internal/base/ascii"
)

// open reads a start tag.
func (s *scanner) open(e element) {
	if s.foreign() && breaksOut(s.tokens.name) {
		s.leaveForeign()
	}
	switch e {
	case elemInline:
	case elemBlock:
		s.leaveForeign()
		s.separate(gapLine)
		if s.opts.Numbers {
			s.readNumber()
		}
	case elemCell:
		s.separate(gapSpace)
	case elemHeading:
		s.leaveForeign()
		s.separate(gapLine)
		s.startHeading()
	case elemForm:
		s.leaveForeign()
		s.separate(gapLine)
		linkReader{s}.addForm()
	case elemTemplate, elemNoScript, elemSVG, elemMath, elemForeignObject:
		s.nest(e)
	case elemRuby, elemReading, elemReadingParen:
		s.openRuby(e)
	case elemScript, elemStyle, elemIframe, elemNoEmbed, elemTextarea, elemXMP, elemPlaintext, elemTitle:
		s.openRaw(e)
	default:
		if s.templates == 0 {
			s.openMeta(e)
		}
	}
}

// readNumber reads the number of a page from its section.
func (s *scanner) readNumber() {
	if v, ok := s.value("data-page", first); ok {
		s.links.page, _ = strconv.Atoi(string(v))
	}
}

// openMeta reads a start tag whose attributes are relevant. Those in a template are not part of the
// document (section 4.12.3).
func (s *scanner) openMeta(e element) {
	switch e {
	case elemAnchor:
		linkReader{s}.addAnchor()
	case elemArea:
		linkReader{s}.addArea()
	case elemImage:
		linkReader{s}.readImage()
	case elemSource:
		linkReader{s}.addSrcset()
	case elemFrame:
		linkReader{s}.addFrame()
	case elemLink:
		linkReader{s}.addLink()
	case elemMeta:
		metaReader{s}.read()
	case elemBase:
		metaReader{s}.setBase()
	case elemHTML:
		metaReader{s}.setLanguages()
	}
}

// openRaw reads a start tag whose content is not markup, and the content. In foreign content such
// an element may close itself, and an SVG title is ordinary markup (section 13.2.6.5).
func (s *scanner) openRaw(e element) {
	if e == elemIframe && s.templates == 0 {
		linkReader{s}.addFrame()
	}
	if s.tokens.selfClosing && s.foreign() {
		return
	}
	if e == elemTitle && s.foreign() {
		return
	}
	content, _ := s.tokens.readContent(e)
	switch e {
	case elemPlaintext, elemXMP:
		s.separate(gapLine)
		s.write(content, false)
	case elemTitle:
		s.setTitle(content)
	}
}

// setTitle sets the title from the first title element of the document.
func (s *scanner) setTitle(raw []byte) {
	if s.seenTitle || s.templates > 0 {
		return
	}
	s.seenTitle = true
	s.page.Title = s.foldTo(maxField, raw, true)
}

// foldTo returns b with its whitespace folded, truncated to limit bytes.
func (s *scanner) foldTo(limit int, b []byte, references bool) string {
	s.small.reset(limit)
	s.small.write(b, references)
	return s.small.String()
}

// nest enters an element that hides its text. In foreign content such an element may close itself;
// in HTML the slash is ignored. A template that is the shadow root of its parent is visible.
func (s *scanner) nest(e element) {
	if s.tokens.selfClosing && (s.foreign() || e == elemSVG || e == elemMath) {
		return
	}
	switch e {
	case elemTemplate:
		if mode, _ := s.value("shadowrootmode", first); s.templates > 0 || !ascii.Is(mode, "open") && !ascii.Is(mode, "closed") {
			s.templates++
		}
	case elemNoScript:
		s.noscripts++
	case elemSVG:
		s.svgs++
	case elemMath:
		s.maths++
	case elemForeignObject:
		if s.svgs > 0 {
			s.foreignObjects++
		}
	}
	s.tokens.cdata = s.foreign()
}

// foreign reports whether svg or math is open. The content of math is text.
func (s *scanner) foreign() bool { return s.svgs+s.maths > 0 }

// leaveForeign ends open svg and math elements: blocks and some other elements end foreign content,
// except inside foreignObject (section 13.2.6.5). Otherwise one missing end tag would hide the rest
// of the page.
func (s *scanner) leaveForeign() {
	if s.foreign() && s.foreignObjects == 0 {
		s.svgs, s.maths = 0, 0
		s.tokens.cdata = false
	}
}

// close reads an end tag.
func (s *scanner) close(e element) {
	switch e {
	case elemBlock, elemXMP, elemForm:
		s.separate(gapLine)
	case elemHeading:
		s.separate(gapLine)
		s.endHeading()
	case elemCell:
		s.separate(gapSpace)
	case elemAnchor:
		s.own.leaveLink(len(s.text.buf))
		s.endAnchor()
	case elemRuby, elemReading:
		s.endReading()
	case elemTemplate:
		s.templates = max(0, s.templates-1)
	case elemNoScript:
		s.noscripts = max(0, s.noscripts-1)
	case elemForeignObject:
		s.foreignObjects = max(0, s.foreignObjects-1)
	case elemSVG:
		s.svgs = max(0, s.svgs-1)
		if s.svgs == 0 {
			s.foreignObjects = 0
		}
		s.tokens.cdata = s.foreign()
	case elemMath:
		s.maths = max(0, s.maths-1)
		s.tokens.cdata = s.foreign()
	}
}
