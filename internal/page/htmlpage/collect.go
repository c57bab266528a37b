package htmlpage

// The texts of links and headings are parts of the page's text, and are
// collected beside it while it is read, where they are asked for.

// startAnchor makes what follows the text of a link.
func (s *scanner) startAnchor(ref int) {
	s.anchorRef = ref
	s.anchor.reset(maxLinkText)
	s.collecting = true
}

// endAnchor takes the end of a link, if there is one.
func (s *scanner) endAnchor() {
	if s.anchorRef == noReference {
		return
	}
	s.links.refs[s.anchorRef].text = s.anchor.String()
	s.anchorRef = noReference
	s.collecting = s.headingLevel > 0
}

// startHeading takes the start tag of a heading. It ends one before it.
func (s *scanner) startHeading() {
	s.endHeading()
	if s.opts.Headings && !s.hidden() && len(s.page.Headings) < maxHeadings {
		s.headingLevel = int(s.tokens.name[1] - '0')
		s.heading.reset(maxHeading)
		s.collecting = true
	}
}

// endHeading takes the end of a heading, if there is one. An end tag of any
// level ends it (section 13.2.6.4.7).
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

// separateCollected keeps words apart. These texts have no lines.
func (s *scanner) separateCollected() {
	s.anchor.separate(gapSpace)
	s.heading.separate(gapSpace)
}
