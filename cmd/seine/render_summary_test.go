package main

import (
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

func TestSpecCheckTellsWhatIsRendered(t *testing.T) {
	for text, want := range map[string]string{
		"render: always": "renders   every page\n",
		"render: auto":   "renders   pages that say less without a browser\n",
		`render: {mode: auto, screenshot: true, pdf: true, modes: [{match: "/app/*", mode: always}, {match: ["/a", "/b"], mode: never}]}`: "renders   every page at /app/*; no page at /a  /b; else pages that say less without a browser, and keeps a screenshot and a PDF\n",
		`render: {modes: [{match: "/app/*", mode: auto}]}`: "renders   pages at /app/* that say less without a browser; else no page\n",
		"render: never": "",
	} {
		code, out, stderr := seine(t, "spec", "check", write(t, "spec.yaml", text+"\n"))
		if code != exitOK || !strings.Contains(out, want) || want == "" && strings.Contains(out, "renders") {
			t.Errorf("%s: exit code %d: %s%s", text, code, out, stderr)
		}
	}
}

// An option of rendering where nothing is rendered is warned of.
func TestSpecCheckWarnsOfOptionsWithoutRendering(t *testing.T) {
	_, out, _ := seine(t, "spec", "check", write(t, "spec.yaml", "render: {screenshot: true}\n"))
	says(t, "check", out, "warning", "render.screenshot: does nothing while no page is rendered: write mode: auto or always")
}

// The flag sets the mode of the spec, whose rules stay; never renders nothing at all.
func TestRenderFlagIsOverTheSpec(t *testing.T) {
	file := write(t, "spec.yaml", "render: {mode: auto, scroll: 3, modes: [{match: '/app/*', mode: always}]}\n")
	for flag, want := range map[crawlspec.RenderMode][2]crawlspec.RenderMode{
		crawlspec.RenderAlways: {crawlspec.RenderAlways, crawlspec.RenderAlways},
		crawlspec.RenderAuto:   {crawlspec.RenderAuto, crawlspec.RenderAlways},
		crawlspec.RenderNever:  {crawlspec.RenderNever, crawlspec.RenderNever},
	} {
		s, err := (&crawlCmd{crawlStart: crawlStart{Spec: file}, crawlRendering: crawlRendering{Render: &flag}}).spec(crawlspec.Default())
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]crawlspec.RenderMode{s.Renders("https://a.example/"), s.Renders("https://a.example/app/x")}; got != want {
			t.Errorf("--render %s: %s, want %s", flag, got, want)
		}
	}
	code, _, stderr := seine(t, "crawl", "http://a.example/", "--dry-run", "--render", "atuo", "--data", t.TempDir())
	if code != exitUsage || !strings.Contains(stderr, `"atuo": must be one of never, auto, always`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
