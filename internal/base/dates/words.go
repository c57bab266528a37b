package dates

import (
	"regexp"
	"strings"
)

// words are the words of dates, in small letters: names of months as Go has them, in English,
// German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish and Russian; halves of the
// day and marks of hours; and those that add nothing: names of days, and what is between the parts.
var words = meanings(
	"Jan january januar janvier enero ene gennaio gen janeiro januari stycznia января янв janv jän jänner",
	"Feb february februar février févr fév febrero febbraio fevereiro fev februari lutego февраля фев",
	"Mar march märz mär mrz mars marzo março marco maart mrt marca марта мар",
	"Apr april avril avr abril abr aprile kwietnia апреля апр",
	"May mai mayo maggio mag maio mei maj maja мая",
	"Jun june juni juin junio giugno giu junho czerwca июня июн",
	"Jul july juli juillet juil julio luglio lug julho lipca июля июл",
	"Aug august août agosto ago augustus augusti sierpnia августа авг",
	"Sep sept september septembre septiembre setiembre settembre set setembro września сентября сен",
	"Oct october oktober okt octobre octubre ottobre ott outubro out października октября окт",
	"Nov november novembre noviembre novembro listopada ноября ноя",
	"Dec december dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря дек",
	"前 午前 上午 오전", "後 午後 下午 오후", ": h uhr",
	`_ t st nd rd th er º ª at on of the de del le el den der um à às г года posted published updated modified created last date veröffentlicht aktualisiert vom publié
	monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag so sonntag mon
	lun lundi mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche lunes martes mié miércoles jue jueves vie viernes sáb sábado dom domingo
	lunedì martedì mercoledì giovedì venerdì sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag`,
)

func meanings(lines ...string) map[string]string {
	m := make(map[string]string)
	for _, line := range lines {
		meaning, names, _ := strings.Cut(line, " ")
		m[strings.ToLower(meaning)] = meaning
		for name := range strings.FieldsSeq(names) {
			m[name] = strings.TrimPrefix(meaning, "_")
		}
	}
	return m
}

var (
	word = regexp.MustCompile(`\pL[\pL\pM]*`)
	// eastAsian are the units of Chinese, Japanese and Korean dates.
	eastAsian    = strings.NewReplacer("年", "-", "년", "-", "月", "-", "월", "-", "日", " ", "号", " ", "號", " ", "일", " ", "時", ":", "时", ":", "点", ":", "點", ":", "시", ":", "分", ":", "분", ":", "秒", " ", "초", " ")
	eastAsianDay = regexp.MustCompile(`[月火水木金土日]曜日?|[월화수목금토일]요일|星期[一二三四五六日天]|[周週][一二三四五六日]`)
	aside        = regexp.MustCompile(`[(\[]([^\d)\]]*)[)\]]`)
	halfWithDots = regexp.MustCompile(`\b([ap])\.m\b\.?`)
	hourWithDot  = regexp.MustCompile(`(\d)\.(\d\d) uhr`)
	basic        = regexp.MustCompile(`^(\d{8})[t ]?(\d{2})(\d{2})(\d{2})?`)
	fraction     = regexp.MustCompile(`(:\d\d),(\d)`)
	space        = regexp.MustCompile(`[\s,|·•]+`)
	// opening is what stands before a date, such as the name of a day in any language.
	opening = regexp.MustCompile(`^(?:[^\dA-Z,]*,)? *(?:am )?`)
)

// fold writes a date in small letters, with months as Go has them and without the words that
// add nothing.
func fold(s string) string {
	s = strings.ToLower(s)
	if inner, ok := strings.CutPrefix(s, "("); ok {
		s = strings.TrimSuffix(inner, ")")
	}
	s = aside.ReplaceAllStringFunc(s, func(m string) string {
		if zones[m[1:len(m)-1]] == "" {
			return " "
		}
		return " " + m[1:len(m)-1]
	})
	s = eastAsian.Replace(eastAsianDay.ReplaceAllString(s, " "))
	s = basic.ReplaceAllString(halfWithDots.ReplaceAllString(hourWithDot.ReplaceAllString(s, "$1:$2"), "${1}m"), "$1 $2:$3:$4")
	s = word.ReplaceAllStringFunc(s, func(w string) string {
		if meaning, ok := words[w]; ok && meaning != ":" {
			return " " + meaning + " "
		} else if ok {
			return meaning
		}
		return w
	})
	s = opening.ReplaceAllString(fraction.ReplaceAllString(s, "$1.$2"), "")
	return strings.TrimSpace(space.ReplaceAllString(s, " "))
}

// zones are those of RFC 5322 section 4.3, and others that feeds and pages have. A name
// that stands for several zones is the one that is most common on the web.
var zones = meanings(
	"+0000 z ut utc gmt wet", "-0500 est cdt", "-0400 edt", "-0600 cst mdt", "-0700 mst pdt", "-0800 pst akdt", "-0900 akst", "-1000 hst",
	"America/New_York et", "America/Chicago ct", "America/Denver mt", "America/Los_Angeles pt",
	"+0100 bst cet mez", "+0200 cest mesz eet", "+0300 eest msk", "+0530 ist", "+0800 hkt sgt", "+0900 jst kst",
	"+1000 aest", "+1100 aedt", "+1200 nzst", "+1300 nzdt",
)
