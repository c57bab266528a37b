package doctor

import (
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/ops/overview"
	"seine/internal/render/chromium"
	"seine/pkg/messages"
)

// rendering checks that renderers run if a crawl needs them, and whether this machine has a
// browser. path is the path of the browser, "" for any.
func rendering(o *overview.Overview, path string) Finding {
	f := Finding{Level: OK, Check: "rendering"}
	wanted := o.Rendering()
	switch {
	case len(wanted) == 0:
		f.What = "no crawl renders pages"
	case renderers(o) > 0:
		f.What = "pages of " + crawls(wanted) + " are shown in a browser"
	default:
		f.Level, f.What = Fail, fmt.Sprintf("pages of %s wait to be rendered, but no renderer runs", crawls(wanted))
		f.Do = "start a renderer on a machine with Chromium, or apply a spec without render"
	}
	found, err := chromium.Find(path)
	switch {
	case err == nil:
		f.What += "; this machine has " + found
	case path == "":
		f.What += "; this machine has no Chromium, which only a renderer and seine crawl need"
	default: // the user named the browser
		f.Level, f.Do = Fail, err.Error()
	}
	return f
}

// renderers returns the number of running renderers.
func renderers(o *overview.Overview) int {
	i := slices.IndexFunc(o.Stages, func(s overview.Stage) bool { return s.Name == messages.StageRenderer })
	if i < 0 {
		return 0
	}
	return o.Stages[i].Instances
}

// crawls lists names of crawls, abbreviated if there are many.
func crawls(names []string) string {
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += " and " + humanize.Plural(more, "other crawl")
	}
	return text
}
