package crawlspec

import (
	"errors"
	"fmt"
	"time"
)

// Limits of a Render.
const (
	MaxRenderScript = 256 << 10 // bytes of each script

	maxRenderRules    = 500
	maxRenderPatterns = 500
)

func (c specCheck) checkRender(p *Problems) {
	if c.Render != nil {
		c.Render.check(p)
	}
}

func (r *Render) check(p *Problems) {
	p.oneOf("render.mode", string(r.Mode), renderModes)
	r.checkModes(p)
	p.oneOf("render.until", string(r.Until), renderUntils)
	r.checkActions(p)
	p.script("render.init_script", r.InitScript)
	r.checkLogin(p)
	between(p, "render.viewport.width", r.Viewport.Width, 200, 4096)
	between(p, "render.viewport.height", r.Viewport.Height, 200, 4096)
	if r.Language != "" {
		p.languages("render.language", []string{r.Language})
	}
	p.list("render.block.types", r.Block.Types, BlockTypes)
	p.patterns("render.block.urls", r.Block.URLs, maxRenderPatterns)
	p.patterns("render.capture", r.Capture, maxRenderPatterns)
	between(p, "render.press_links", r.PressLinks, 0, MaxClicks)
	between(p, "render.max_requests", r.MaxRequests, 0, 2000)
	between(p, "render.timeout", r.Timeout, Duration(time.Second), Duration(5*time.Minute))
	between(p, "render.max_bytes", r.MaxBytes, 1, 1<<30)
	if r.Print.Format != "" {
		p.oneOf("render.print.format", r.Print.Format, PaperFormats)
	}
	between(p, "render.print.scale", r.Print.Scale, 0.1, 2)
	between(p, "render.print.margin", r.Print.Margin, 0, 10)
}

func (r *Render) checkModes(p *Problems) {
	if len(r.Modes) > maxRenderRules {
		p.Addf("render.modes", "%d rules: at most %d", len(r.Modes), maxRenderRules)
		return
	}
	for i := range r.Modes {
		rule, path := &r.Modes[i], fmt.Sprintf("render.modes[%d]", i)
		if len(rule.Match) == 0 {
			p.Addf(path+".match", `is missing: say which URLs the rule is for, as in "/app/*"`)
		}
		p.patterns(path+".match", rule.Match, maxRenderPatterns)
		p.oneOf(path+".mode", string(rule.Mode), renderModes)
	}
}

var errSecretInPage = errors.New("secrets are for requests only: a page could read what its scripts have")

func (p *Problems) noSecret(path, script string) {
	if secretPattern().MatchString(script) {
		p.Add(path, errSecretInPage)
	}
}

func (p *Problems) script(path, text string) {
	if len(text) > MaxRenderScript {
		p.Addf(path, "has %d bytes: at most %d", len(text), MaxRenderScript)
	}
	p.noSecret(path, text)
}
