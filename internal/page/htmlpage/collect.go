package htmlpage

// The texts of links and headings are parts of the page's text. If requested, they are collected in
// addition while the page is read.

// startAnchor begins the text of a link.
func (s *scanner) startAnchor(ref int) {
	s.anchorRef = ref
	s.anchor.reset(maxLinkText)
	s.collecting = true
}

// endAnchor ends the open link, if any.
func (s *scanner) endAnchor() {
	if s.anchorRef == noReference {
		return
	}
	s.links.refs[s.anchorRef].text = s.anchor.String()
	s.anchorRef = noReference
	s.collecting = s.headingLevel > 0
}

// startHeading reads the start tag of a heading. It ends an open heading.
func (s *scanner) startHeading() {
	s.endHeading()
	if s.opts.Headings && !s.hidden() && len(s.page.Headings) < maxHeadings {
		s.headingLevel = int(s.tokens.name[1] - '0')
		s.heading.reset(maxHeading)
		s.collecting = true
	}
}

// endHeading ends the open heading, if any. An end tag of any level ends it (section 13.2.6.4.7).
func (s *scanner) endHeading() {
	if s.headingLevel == 0 {
		return
	}
	if text := s.heading.String(); text != "" {
		s.page.Headings = append(s.page.Headings, Heading{Level: s.headingLevel, Text: text, Page: s.links.page})
	}
	s.headingLevel = 0
	s.collecting = s.anchorRef != noReference
}

func (s *scanner) collect(b []byte, references bool) {
	if s.anchorRef != noReference {
		s.anchor.write(b, references)
	}
	if s.headingLevel > 0 {
		s.heading.write(b, references)
	}
}

// separateCollected separates words in the collected texts, which have no lines.
func (s *scanner) separateCollected() {
	s.anchor.separate(gapSpace)
	s.heading.separate(gapSpace)
}
