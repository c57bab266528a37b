package crawlspec

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of a Render.
const (
	MaxRenderScript = 256 << 10 // bytes of each script

	maxRenderRules    = 500
	maxRenderPatterns = 500
	minViewport       = 200
	maxViewport       = 4096
	minRenderTimeout  = Duration(time.Second)
	maxRenderTimeout  = Duration(5 * time.Minute)
	maxRenderRequests = 2000
	maxRenderBytes    = Bytes(1 << 30)
)

func (c specCheck) checkRender() error {
	if c.Render == nil {
		return nil
	}
	return c.Render.check()
}

// check reports everything that is wrong, as FieldErrors.
func (r *Render) check() error {
	var p Problems
	p.oneOf("render.mode", string(r.Mode), RenderModes)
	r.checkModes(&p)
	p.oneOf("render.until", string(r.Until), RenderUntils)
	r.checkActions(&p)
	p.script("render.init_script", r.InitScript)
	r.checkLogin(&p)
	p.between("render.viewport.width", r.Viewport.Width, minViewport, maxViewport)
	p.between("render.viewport.height", r.Viewport.Height, minViewport, maxViewport)
	if r.Language != "" {
		p.languages("render.language", []string{r.Language})
	}
	p.list("render.block.types", r.Block.Types, BlockTypes)
	p.patterns("render.block.urls", r.Block.URLs)
	p.patterns("render.capture", r.Capture)
	r.checkBounds(&p)
	r.Print.check(&p)
	return p.Err()
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
		p.patterns(path+".match", rule.Match)
		p.oneOf(path+".mode", string(rule.Mode), RenderModes)
	}
}

func (r *Render) checkBounds(p *Problems) {
	p.between("render.press_links", r.PressLinks, 0, MaxClicks)
	p.between("render.max_requests", r.MaxRequests, 0, maxRenderRequests)
	if r.Timeout < minRenderTimeout || r.Timeout > maxRenderTimeout {
		p.Addf("render.timeout", "%s: must be from 1s to 5m", r.Timeout)
	}
	if r.MaxBytes < 1 || r.MaxBytes > maxRenderBytes {
		p.Addf("render.max_bytes", "%s: must be from 1B to 1GiB", r.MaxBytes)
	}
}

func (r *RenderPrint) check(p *Problems) {
	if r.Format != "" {
		p.oneOf("render.print.format", r.Format, PaperFormats)
	}
	if r.Scale < 0.1 || r.Scale > 2 {
		p.Addf("render.print.scale", "%g: must be from 0.1 to 2", r.Scale)
	}
	if r.Margin < 0 || r.Margin > 10 {
		p.Addf("render.print.margin", "%g: must be from 0 to 10 centimetres", r.Margin)
	}
}

func (p *Problems) between(path string, n, least, most int) {
	if n < least || n > most {
		p.Addf(path, "%d: must be from %d to %d", n, least, most)
	}
}

// patterns reports those of a list that are none.
func (p *Problems) patterns(path string, patterns []string) {
	if len(patterns) > maxRenderPatterns {
		p.Addf(path, "%d patterns: at most %d", len(patterns), maxRenderPatterns)
		return
	}
	for i, pattern := range patterns {
		at := path
		if len(patterns) > 1 {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		p.long(at, pattern)
		_, err := CompilePattern(pattern)
		p.Add(at, err)
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
