package specfile

import (
	"fmt"
	"slices"
	"strings"

	"seine/internal/page/language"
	"seine/pkg/crawlspec"
)

// textLanguages reports languages that language detection never returns, so that the condition
// could never hold. A stored spec may have them.
func textLanguages(spec *crawlspec.Spec) error {
	var p crawlspec.Problems
	ofCondition(&p, "page.when", spec.Page.When)
	for path, r := range spec.Rules() {
		ofCondition(&p, path+".when", r.When)
	}
	for i := range spec.Follow {
		path := fmt.Sprintf("follow[%d]", i)
		ofCondition(&p, path+".when", spec.Follow[i].When)
		if spec.Follow[i].Paginate != nil {
			ofCondition(&p, path+".paginate.while", spec.Follow[i].Paginate.While)
		}
	}
	return p.Err()
}

func ofCondition(p *crawlspec.Problems, path string, c *crawlspec.Condition) {
	if c == nil {
		return
	}
	for i, tag := range c.TextLanguage {
		at := path + ".text_language"
		if len(c.TextLanguage) > 1 {
			at = fmt.Sprintf("%s[%d]", at, i)
		}
		if !slices.Contains(language.Codes(), strings.ToLower(tag)) {
			p.Addf(at, "%s", noTextLanguage(tag))
		}
	}
	ofCondition(p, path+".not", c.Not)
	for i := range c.Any {
		ofCondition(p, fmt.Sprintf("%s.any[%d]", path, i), &c.Any[i])
	}
}

func noTextLanguage(tag string) string {
	if code := language.CodeOf(tag); code != "" {
		return fmt.Sprintf("%s: no text is found to be in that: write %s", quoted(tag), code)
	}
	return fmt.Sprintf("%s: no text is found to be in that: known are %s", quoted(tag), strings.Join(language.Codes(), " "))
}
