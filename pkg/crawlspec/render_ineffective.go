package crawlspec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// idleRender finds keys of render that have no effect, because no page is rendered or because of
// other keys.
func (k idleKeys) idleRender(note noter) {
	note(k.Normalize.HashRoutes && !k.MayRender(), "normalize.hash_routes", "while no page is rendered: write render: auto or always")
	r := k.Render
	if r == nil {
		return
	}
	if !k.MayRender() {
		r.idleOptions(note)
		return
	}
	blocks := func(name string) bool { return slices.Contains(r.Block.Types, name) }
	note(len(r.Capture) > 0 && blocks("xhr") && blocks("fetch"), "render.capture", "beside xhr and fetch in block.types: the page asks for nothing")
	const unkept = "without an archive, which keeps it: write archive: true (seine crawl --warc DIR)"
	note(r.Screenshot && !k.Archive, "render.screenshot", unkept)
	note(r.PDF && !k.Archive, "render.pdf", unkept)
	for i := range r.Actions {
		note(r.Actions[i].Screenshot && !k.Archive, fmt.Sprintf("render.actions[%d].screenshot", i), unkept)
	}
	note(r.MaxRequests == 0 && len(r.Capture) > 0, "render.capture", "beside max_requests: 0: the page asks for nothing")
}

// idleOptions finds keys other than mode that are set although no page is rendered.
func (r *Render) idleOptions(note noter) {
	has, none := reflect.ValueOf(*r), reflect.ValueOf(DefaultRender())
	for i := range has.NumField() {
		key, _, _ := strings.Cut(has.Type().Field(i).Tag.Get("json"), ",")
		if key != "" && key != "mode" && !reflect.DeepEqual(has.Field(i).Interface(), none.Field(i).Interface()) {
			note(true, "render."+key, "while no page is rendered: write mode: auto or always, or a rule into modes")
		}
	}
}
