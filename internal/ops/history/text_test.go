package history

import (
	"slices"
	"strings"
	"testing"

	"seine/internal/base/safeprint"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A URL is printed once; its original form is printed only if it differs.
func TestNoURLIsTheSameAsItself(t *testing.T) {
	const plain, long = "https://a.test/", "https://a.test/?utm_source=x"
	for _, tt := range []struct{ asked, canonical, known, want string }{
		{plain, plain, plain, plain + "\n"},
		{long, long, plain, plain + "\n  normalized  from " + long + ", by the spec\n"},
		{"HTTPS://a.test", plain, plain, plain + "\n  canonical   of HTTPS://a.test\n"},
	} {
		h := History{Crawl: "c", Asked: tt.asked, Canonical: tt.canonical, Explanation: frontierapi.Explanation{URL: tt.known}}
		if got := written(t, &h); !strings.HasPrefix(got, tt.want+"  state ") {
			t.Errorf("%s: %s", tt.asked, got)
		}
	}
}

// An unknown URL may have been linked: links that are not followed leave no trace.
func TestUnknownURLMayHaveBeenLinkedTo(t *testing.T) {
	h := History{Crawl: "c", Asked: "https://a.test/", Canonical: "https://a.test/", Explanation: frontierapi.Explanation{URL: "https://a.test/"}}
	if got := written(t, &h); !strings.Contains(got, "nofollow") || !strings.Contains(got, "links.follow") {
		t.Errorf("it does not say why a link is not followed: %s", got)
	}
	h.Now.Unknown = true
	if got := written(t, &h); strings.Contains(got, "nofollow") {
		t.Errorf("of a crawl that knows nothing: %s", got)
	}
}

// A space follows each name, even a long one.
func TestRowsHaveASpaceBehindTheirNames(t *testing.T) {
	for name, want := range map[string]string{"state": "  state       a b\n", "incomplete": "  incomplete  a b\n"} {
		var b strings.Builder
		if safeprint.Row(&b, nameWidth, name, "a b"); b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

func written(t *testing.T, h *History) string {
	t.Helper()
	var b strings.Builder
	if err := h.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// If no rule excludes an excluded URL, the actual cause and the way it was found are printed.
func TestVerdictDoesNotContradictTheState(t *testing.T) {
	for reason, how := range map[string]string{
		frontierapi.ReasonAddress: "when the URL was requested", frontierapi.ReasonNormalized: "under another URL", "trap_same_content": "set traps.same_content_after to 0 in the spec, or add it as a seed",
	} {
		got := verdict(&frontierapi.Verdict{Rev: 2, Reason: reason, Stands: true})
		if !strings.HasPrefix(got, "excluded by no rule of revision 2 of the spec; "+reason+" stands: ") || !strings.Contains(got, how) {
			t.Errorf("%s: %s", reason, got)
		}
	}
	if got, want := verdict(&frontierapi.Verdict{Reason: "trap_path_depth"}), "excluded by the defaults: trap_path_depth, by traps.max_path_depth"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := verdict(&frontierapi.Verdict{Reason: "exclude", Rule: "*/x*"}), "excluded by the defaults: exclude, */x*"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The stage of a pending request follows from its subject.
func TestRequestWaitsForItsStage(t *testing.T) {
	h := History{Crawl: "c", Asked: "https://a.test/", Canonical: "https://a.test/", Explanation: frontierapi.Explanation{URL: "https://a.test/", State: "in_flight", Known: true}}
	h.Request = &StoredMessage{Stream: "FETCH", Seq: 7}
	for subject, want := range map[string]string{"seine.fetch.c.1": "a fetcher has it, or will", "seine.render.c.1": "a renderer has it, or will", "": "a fetcher has it, or will"} {
		h.requestSubject = subject
		if got := written(t, &h); !strings.Contains(got, want) {
			t.Errorf("%s: %s", subject, got)
		}
	}
}

// A result names the process that sent the request, and the IP address.
func TestResultNamesItsFetcher(t *testing.T) {
	for want, r := range map[string]messages.Result{
		"ok 200, attempt 1, sent to 192.0.2.1, by fetcher host-42": {Class: messages.OK, Status: 200, Attempt: 1, IP: "192.0.2.1", Fetcher: "host-42"},
		"timeout, attempt 2, by fetcher host-42":                   {Class: messages.Timeout, Attempt: 2, Fetcher: "host-42"},
		"timeout, attempt 3":                                       {Class: messages.Timeout, Attempt: 3},
	} {
		h := History{Explanation: frontierapi.Explanation{Known: true}, Results: []Result{{Result: r}}}
		if rows := h.Rows(); !slices.ContainsFunc(rows, func(row Row) bool { return strings.HasSuffix(row.Text, "  "+want) }) {
			t.Errorf("%+v lack %q", rows, want)
		}
	}
}
