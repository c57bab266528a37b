package crawlspec

import (
	"slices"
	"testing"
)

func TestAcceptsWhatTheRulesAreFor(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                      nil,
		"accept: [image/*]":                     {"image/*"},
		"records: [{kind: a, fields: {x: h1}}]": nil,
		"records: [{kind: a, fields: {x: {jq: .a}}}]":                        documentMedia["json"],
		"records: [{kind: a, each: {jq: '.[]'}, fields: {x: {jq: .a}}}]":     documentMedia["json"],
		"records: [{kind: a, fields: {x: {css: script, jq: .a}}}]":           nil,
		"records: [{kind: a, types: csv, fields: {x: {jq: .a}}}]":            documentMedia["csv"],
		"follow: [{with: {id: {jq: .id}}, url: '/{id}'}]":                    documentMedia["json"],
		"follow: [{when: {not: {jq: .last}}, css: a}]":                       documentMedia["json"],
		"follow: [{paginate: {parameter: p, while: {any: [{jq: .items}]}}}]": documentMedia["json"],
		"links: {follow: [feed]}":                                            documentMedia["feed"],
		"accept: [pdf, image/png]":                                           {"application/pdf", "image/png"},
		"accept: [office]":                                                   documentMedia["office"],
		"sitemaps: true":                                                     sitemapMedia,
	} {
		s, err := parseSpec([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.Accepts(); !slices.Equal(got, want) {
			t.Errorf("%s: accepts %q, want %q", text, got, want)
		}
	}
}

func TestAcceptIsChecked(t *testing.T) {
	if _, err := parseSpec([]byte("accept: [docx]")); err == nil || FieldErrors(err)[0].Path != "accept[0]" {
		t.Errorf("got %v", err)
	}
}
