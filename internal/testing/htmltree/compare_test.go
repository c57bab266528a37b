package htmltree

import (
	"strings"
	"testing"
)

// TestDifferences lists all differences between a tree and htmlpage that were found on a hundred
// thousand pages of many kinds, and shows that Compare detects them. None occurs in the
// documentation of TestSites.
func TestDifferences(t *testing.T) {
	tests := []struct{ why, page, diff string }{
		{"foster parenting: text in a table moves before it", "<table><tr><td>a</td></tr>b</table>", `"a b", in the tree …"b a"`},
		{"a stray end tag of a block is ignored", "a</pre>b", `"a b", in the tree …"ab"`},
		{"noscript in the head ends where text begins", "<head><noscript>a</noscript></head>b", `"b", in the tree …"ab"`},
		{"noscript stays open for what is open in it", "<body><noscript><div></noscript>a", `"a", in the tree …""`},
		{"a frameset has no body", "<frameset><frame src=a></frameset><body>b<a href=c>d</a>", `missing`},
	}
	for _, tt := range tests {
		var counts Counts
		diffs, err := Compare([]byte(tt.page), "https://example.org/", "text/html", &counts)
		got := strings.Join(diffs, "; ")
		if err != nil || !strings.Contains(got, tt.diff) {
			t.Errorf("%s: %s: got %q, %v, want %q", tt.why, tt.page, got, err, tt.diff)
		}
	}
}

// TestSame shows ambiguous markup that both parsers read in the same way.
func TestSame(t *testing.T) {
	for _, page := range []string{
		"",
		"a<p>b<p>c<br>d<table><tr><td>e<td>f</table>g&nbsp;&amp;&copy;h",
		"<a href=a>b<a href=c rel='x, NoFollow'>d</a><a href=./a rel=ugc><area href=d><iframe src=e></iframe><iframe src=' '></iframe>",
		"<base href=/x/><base href=/y/><a href=a><link rel=next href=b><link rel='alternate' hreflang=de href=c><link rel=canonical href=''>",
		"<meta http-equiv=refresh content='0; url=/a'><meta http-equiv=refresh content='0; url=/b'>",
		"<base href=/x/><meta http-equiv=refresh content=5>",
		"<template>a<a href=b><base href=c></template><svg><a href=d>e<title>f</title></a></svg><textarea>g</textarea>",
		"<script>'<a href=b>'<!--<script></script>--></script><style>c</style><xmp><b>d</xmp><title>e</title><noembed>f</noembed>",
		"<p>a<b>b<p>c</b>d</p>e<i>f<div>g</i>h</div>",
		"<ul><li>a<li>b</ul><dl><dt>c<dd>d</dl><select><option>e<option>f</select><button>g</button>",
		"<body><noscript>a<a href=b>c</a></noscript>d<!-- <a href=e> -->",
		"<meta charset=latin2>\xb1<a href='?\xb1'>",
	} {
		var counts Counts
		if diffs, err := Compare([]byte(page), "https://example.org/docs/", "text/html", &counts); err != nil || len(diffs) > 0 {
			t.Errorf("%s: %q, %v", page, diffs, err)
		}
		if counts.Pages != 1 {
			t.Errorf("%s: %+v", page, counts)
		}
	}
}

func TestNoBase(t *testing.T) {
	if _, err := Compare(nil, "mailto:a@b", "", &Counts{}); err == nil {
		t.Error("no error")
	}
	if _, err := Read(nil, "mailto:a@b", ""); err == nil {
		t.Error("no error")
	}
}
