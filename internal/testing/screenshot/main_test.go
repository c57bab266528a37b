package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// pictured is the title of the picture in the README, as scripts/captures sets it.
const pictured = "seine top, while a crawl runs"

func TestStylesAreDrawn(t *testing.T) {
	var b strings.Builder
	if err := draw(&b, strings.NewReader("\x1b[1mbold\x1b[0m & \x1b[32mgreen\x1b[39m\n\x1b[0;7m>row"), "a <b>"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>a &lt;b&gt;</title>", `font-weight="bold" xml:space="preserve">bold<`, `xml:space="preserve"> &amp; <`,
		`fill="#7ee787" xml:space="preserve">green<`, `fill="#0d1117" xml:space="preserve">&gt;row<`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestPictureIsThatOfTheCapture(t *testing.T) {
	capture, err := os.Open("../../../docs/captures/80x24.ansi")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = capture.Close() }()
	var want bytes.Buffer
	if err := draw(&want, capture, pictured); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../../../docs/top.svg"); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/top.svg is another picture than that of docs/captures/80x24.ansi (%v): scripts/captures makes both", err)
	}
}
