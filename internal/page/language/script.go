package language

import "sort"

// A script has the tag of its language if only one language of the web commonly uses it, otherwise
// its ISO 15924 code.
const (
	scriptHan  = "Hani"
	scriptKana = "Kana"
)

// blocks are the starts of scripts in Unicode; each extends to the next. Letters in blocks without
// a script are not counted.
var blocks = [...]struct {
	first  rune
	script string
}{
	{0, "Latn"}, {0x0250, ""}, {0x0370, "el"}, {0x0400, "Cyrl"}, {0x0530, "hy"},
	{0x0590, "he"}, {0x0600, "Arab"}, {0x0700, ""}, {0x0750, "Arab"}, {0x0780, ""},
	{0x08a0, "Arab"}, {0x0900, "Deva"}, {0x0980, "bn"}, {0x0a00, "pa"}, {0x0a80, "gu"},
	{0x0b00, "or"}, {0x0b80, "ta"}, {0x0c00, "te"}, {0x0c80, "kn"}, {0x0d00, "ml"},
	{0x0d80, "si"}, {0x0e00, "th"}, {0x0e80, "lo"}, {0x0f00, "bo"}, {0x1000, "my"},
	{0x10a0, "ka"}, {0x1100, "ko"}, {0x1200, "am"}, {0x13a0, ""}, {0x1780, "km"},
	{0x1800, ""}, {0x1c90, "ka"}, {0x1cc0, ""}, {0x1e00, "Latn"}, {0x1f00, "el"},
	{0x2000, ""}, {0x3040, scriptKana}, {0x3100, ""}, {0x3130, "ko"}, {0x3190, ""},
	{0x31f0, scriptKana}, {0x3200, ""}, {0x3400, scriptHan}, {0xa000, ""}, {0xac00, "ko"},
	{0xd7b0, ""}, {0xf900, scriptHan}, {0xfb00, "Latn"}, {0xfb13, "hy"}, {0xfb1d, "he"},
	{0xfb50, "Arab"}, {0xfe00, ""}, {0xfe70, "Arab"}, {0xff00, ""}, {0xff66, scriptKana},
	{0xffa0, "ko"}, {0xfff0, ""}, {0x20000, scriptHan}, {0x40000, ""},
}

// blockOf returns the index of a letter's block.
func blockOf(r rune) int {
	if r < 0x0250 {
		return 0
	}
	return sort.Search(len(blocks), func(i int) bool { return blocks[i].first > r }) - 1
}

// isAlone reports whether a script is used by one language, whose tag it is.
func isAlone(script string) bool { return len(script) == 2 }
