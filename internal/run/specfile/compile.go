package specfile

import (
	"errors"
	"fmt"
	"strings"

	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// compile returns errors of selectors and expressions in rules. It also rejects likely mistakes
// that a stored spec may contain.
func compile(spec *crawlspec.Spec) error {
	_, err := extract.Compile(spec)
	return errors.Join(err, slips(spec.Records), textLanguages(spec), renderSelectors(spec.Render))
}

// slips rejects rules that are valid but hardly intended: records that overwrite each other, or
// that can be mistaken for records of pages.
func slips(rules []crawlspec.RecordRule) error {
	var p crawlspec.Problems
	for i := range rules {
		path := fmt.Sprintf("records[%d]", i)
		if rules[i].Kind == messages.KindPage {
			p.Addf(path+".kind", "%q is what the records of whole pages are called, with other columns: choose another name", rules[i].Kind)
		}
		rest, _ := rules[i].Key.Fill(func(crawlspec.Placeholder) (string, error) { return "", nil })
		if strings.Contains(rest, "{") {
			p.Addf(path+".key", "%q: a field is written {name}, without spaces: this brace would be a part of every key", messages.Clip(string(rules[i].Key)))
		}
	}
	return p.Err()
}
