package language

import "sort"

// scriptIndex is a script that texts are counted by.
type scriptIndex int

const (
	scriptOther scriptIndex = iota
	scriptLatin
	scriptGreek
	scriptCyrillic
	scriptArmenian
	scriptHebrew
	scriptArabic
	scriptDevanagari
	scriptBengali
	scriptGurmukhi
	scriptGujarati
	scriptOriya
	scriptTamil
	scriptTelugu
	scriptKannada
	scriptMalayalam
	scriptSinhala
	scriptThai
	scriptLao
	scriptTibetan
	scriptMyanmar
	scriptGeorgian
	scriptHangul
	scriptEthiopic
	scriptKhmer
	scriptKana
	scriptHan
	scriptCount
)

// alone are the languages that have a script, all but, to themselves on the web.
var alone = [scriptCount]string{
	scriptGreek: "el", scriptArmenian: "hy", scriptHebrew: "he", scriptBengali: "bn", scriptGurmukhi: "pa", scriptGujarati: "gu",
	scriptOriya: "or", scriptTamil: "ta", scriptTelugu: "te", scriptKannada: "kn", scriptMalayalam: "ml", scriptSinhala: "si",
	scriptThai: "th", scriptLao: "lo", scriptTibetan: "bo", scriptMyanmar: "my", scriptGeorgian: "ka", scriptHangul: "ko",
	scriptEthiopic: "am", scriptKhmer: "km",
}

// blocks are where scripts begin in Unicode; each reaches to the next.
var blocks = []struct {
	first  rune
	script scriptIndex
}{
	{0, scriptLatin}, {0x0250, scriptOther}, {0x0370, scriptGreek}, {0x0400, scriptCyrillic}, {0x0530, scriptArmenian},
	{0x0590, scriptHebrew}, {0x0600, scriptArabic}, {0x0700, scriptOther}, {0x0750, scriptArabic}, {0x0780, scriptOther},
	{0x08a0, scriptArabic}, {0x0900, scriptDevanagari}, {0x0980, scriptBengali}, {0x0a00, scriptGurmukhi}, {0x0a80, scriptGujarati},
	{0x0b00, scriptOriya}, {0x0b80, scriptTamil}, {0x0c00, scriptTelugu}, {0x0c80, scriptKannada}, {0x0d00, scriptMalayalam},
	{0x0d80, scriptSinhala}, {0x0e00, scriptThai}, {0x0e80, scriptLao}, {0x0f00, scriptTibetan}, {0x1000, scriptMyanmar},
	{0x10a0, scriptGeorgian}, {0x1100, scriptHangul}, {0x1200, scriptEthiopic}, {0x13a0, scriptOther}, {0x1780, scriptKhmer},
	{0x1800, scriptOther}, {0x1c90, scriptGeorgian}, {0x1cc0, scriptOther}, {0x1e00, scriptLatin}, {0x1f00, scriptGreek},
	{0x2000, scriptOther}, {0x3040, scriptKana}, {0x3100, scriptOther}, {0x3130, scriptHangul}, {0x3190, scriptOther},
	{0x31f0, scriptKana}, {0x3200, scriptOther}, {0x3400, scriptHan}, {0xa000, scriptOther}, {0xac00, scriptHangul},
	{0xd7b0, scriptOther}, {0xf900, scriptHan}, {0xfb00, scriptLatin}, {0xfb13, scriptArmenian}, {0xfb1d, scriptHebrew},
	{0xfb50, scriptArabic}, {0xfe00, scriptOther}, {0xfe70, scriptArabic}, {0xff00, scriptOther}, {0xff66, scriptKana},
	{0xffa0, scriptHangul}, {0xfff0, scriptOther}, {0x20000, scriptHan}, {0x40000, scriptOther},
}

func scriptOf(r rune) scriptIndex {
	if r < 0x0250 {
		return scriptLatin
	}
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].first > r })
	return blocks[i-1].script
}
