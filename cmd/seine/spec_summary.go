package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"seine/internal/base/safeprint"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// writeSummary prints the records of a spec, when pages are visited again, when the crawl is
// deleted, and where secrets are sent.
func writeSummary(w io.Writer, s *crawlspec.Spec) {
	writeRecords(w, s)
	if s.Schedule != "" {
		safeprint.Fprintf(w, "  again     %s\n", s.Schedule)
	}
	for _, r := range s.Recrawl {
		every := r.Every.String()
		if r.Every == 0 {
			every = fmt.Sprintf("%s to %s, as often as it changes", r.Min, r.Max)
		}
		safeprint.Fprintf(w, "  again     %s every %s: a crawl with such a rule does not end by itself\n", r.Match, every)
	}
	if s.Keep > 0 {
		safeprint.Fprintf(w, "  deleted   %s after its end; its output stays\n", s.Keep)
	}
	writeSecrets(w, s)
}

// writeRecords prints the kinds of records of a spec with their fields.
func writeRecords(w io.Writer, s *crawlspec.Spec) {
	record := func(kind string, fields []string, otherwise string) {
		safeprint.Fprintf(w, "  record    %s: %s\n", kind, cmp.Or(strings.Join(fields, ", "), otherwise))
	}
	if s.EmitsPage() {
		record(messages.KindPage, s.Page.Fields, "the default fields")
	}
	for i := range s.Records {
		var names []string
		for _, f := range s.Records[i].Fields {
			names = append(names, f.Name)
		}
		record(s.Records[i].Kind, names, "the properties of its schema")
	}
	if s.Gone == crawlspec.WhenGoneRecord {
		record(messages.KindGone, nil, "pages with records that no longer exist")
	}
}

// writeSecrets prints the origins to which a spec sends secrets.
func writeSecrets(w io.Writer, s *crawlspec.Spec) {
	to := func(secrets string, origins ...string) {
		for i, o := range origins {
			if strings.HasPrefix(o, "http://") {
				origins[i] += " (without TLS)"
			}
		}
		safeprint.Fprintf(w, "  secrets   %s: only to %s\n", secrets, strings.Join(origins, ", "))
	}
	for i := range s.Sources {
		if names := s.Sources[i].Credentials(); names != nil {
			to(strings.Join(names, ", "), s.Sources[i].TrustedOrigins()...)
		}
	}
	for i := range s.Requests {
		if origin := s.Requests[i].SecretsTo(); origin != "" {
			to("rule for "+s.Requests[i].Match, origin)
		}
	}
	if s.Render != nil && s.Render.Login.SecretsTo() != "" {
		to("login", s.Render.Login.SecretsTo())
	}
}
