package crawlspec

import (
	"strings"
	"testing"
)

// Patterns that cannot match any URL are reported. Patterns that can are not.
func TestPatternsThatMatchNoURL(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"n/2*": true, "p2": true, "www.a.test/*": true, "a.test:8080/*": true, "HTTPS://a.test/*": true, "https//a.test/*": true, "ftp://*": true,
		"htt": true, "re:^/n/3": true, `re:\A/n`: true, "re:^(/a|/b)": true, "re:(?:^/a)|^b": true, "re:(?i)^WWW": true, "re:^[/?]x": true, "re:(?m)^/n": true,
		"re:^http$": true, `re:^\b/n`: true,

		"*": false, "*n/2*": false, "/n/2*": false, "http*": false, "https://a.test/n": false, "h*": false, "*.a.test/*": false,
		"re:/n/3": false, "re:^http": false, "re:^https?://[^/]*/n": false, "re:(?i)^HTTPS": false, "re:^.*/n": false, "re:^(/a|h)": false,
		"re:(^|/)n": false, "re:^/a|b": false, "re:^[a-z]+://": false, `re:\b/n`: false, "re:^": false, "re:$": false, "re:n$": false, `re:^\w+:`: false, "re:^x*": false,
		"re:^http://$": false, // it matches none, but the check does not go that far
	} {
		s := Default()
		s.Exclude = []string{pattern}
		told := s.Ineffective()
		if (len(told) > 0) != want {
			t.Errorf("%s: %q, want one: %v", pattern, told, want)
		}
		if re, err := CompilePattern(pattern); err != nil || want && re.MatchString("https://www.a.test:8080/n/3?p2") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// The report of a pattern suggests a correct one.
func TestPatternsThatMatchNoURLAreMended(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"p2":         `as "p2" is not a whole URL: write "*p2*" for what is anywhere in one, "/p2" for a path`,
		"n/2*":       `as "n/2*" is not a whole URL: write "*n/2*" for what is anywhere in one, "/n/2*" for a path`,
		"docs/":      `as "docs/" is not a whole URL: write "*docs/*" for what is anywhere in one, "/docs/*" for a path`,
		"re:^/n/3":   `as "re:^/n/3" is compared with whole URLs, which begin with http:// or https://: write "re:^https?://[^/]*/n/3" for a path`,
		"re:^(/a|b)": `as "re:^(/a|b)" is compared with whole URLs, which begin with http:// or https://: without ^ it is found anywhere in one`,
	} {
		s := Default()
		s.Exclude = []string{pattern}
		if told := s.Ineffective(); len(told) != 1 || told[0] != "exclude[0]: does nothing "+want {
			t.Errorf("%s: %q, want %s", pattern, told, want)
		}
	}
}

// A pattern reported as unmatchable matches no URL.
func FuzzMatchesNoURL(f *testing.F) {
	for _, p := range []string{"n/2*", "re:^/n", "re:(^|/)n", `re:^\b(?:x|h+)t`, "re:(?i)^HT"} {
		f.Add(p, "a.test/n/2")
	}
	f.Fuzz(func(t *testing.T, pattern, rest string) {
		re, err := CompilePattern(pattern)
		if err != nil || strings.Contains(rest, "\n") || !matchesNoURL(re) {
			return
		}
		for _, start := range urlStarts {
			if url := start + rest; re.MatchString(url) {
				t.Fatalf("%q matches %q", pattern, url)
			}
		}
	})
}
