package dates

import (
	"strings"

	"seine/internal/base/lazyregexp"
)

// words maps the words of dates, in lower case: names of months to Go's names; halves of the day;
// markers of hours; and words to ignore, such as names of days. The names of months cover the major
// languages of Europe, and Arabic, Hebrew, Hindi, Indonesian and Turkish.
var words = meanings(
	"Jan january januar janvier enero ene gennaio gen janeiro januari jänner stycznia styczeń sty января янв janv jän ledna leden január tammikuuta tammikuu ocak ianuarie січня януари ιανουαρίου ιαν يناير ינואר בינואר जनवरी",
	"Feb february februar février févr fév febrero febbraio fevereiro fev februari lutego luty lut февраля фев února únor február helmikuuta helmikuu şubat februarie лютого февруари φεβρουαρίου φεβ فبراير פברואר בפברואר फ़रवरी फरवरी pebruari",
	"Mar march märz mär mrz mars marzo março marco maart mrt marca marzec марта мар března březen március marec maaliskuuta maaliskuu mart martie березня март μαρτίου μαρ مارس מרץ במרץ मार्च maret",
	"Apr april avril avr abril abr aprile kwietnia kwiecień kwi апреля апр dubna duben április huhtikuuta huhtikuu nisan aprilie квітня април απριλίου απρ أبريل ابريل אפריל באפריל अप्रैल",
	"May mai mayo maggio mag maio mei maj maja мая května květen május máj toukokuuta toukokuu mayıs травня май μαΐου μαϊ مايو מאי במאי मई",
	"Jun june juni juin junio giugno giu junho czerwca czerwiec cze июня июн června červen június jún kesäkuuta kesäkuu haziran iunie червня юни ιουνίου ιουν يونيو יוני ביוני जून",
	"Jul july juli juillet juil julio luglio lug julho lipca lipiec lip июля июл července červenec július júl heinäkuuta heinäkuu temmuz iulie липня юли ιουλίου ιουλ يوليو יולי ביולי जुलाई",
	"Aug august août agosto ago augustus augusti sierpnia sierpień sie августа авг srpna srpen augusztus elokuuta elokuu ağustos серпня август αυγούστου αυγ أغسطس اغسطس אוגוסט באוגוסט अगस्त agustus",
	"Sep sept september septembre septiembre setiembre settembre set setembro września wrzesień wrz сентября сен сент září szeptember syyskuuta syyskuu eylül septembrie вересня септември σεπτεμβρίου σεπ سبتمبر ספטמבר בספטמבר सितंबर सितम्बर",
	"Oct october oktober okt octobre octubre ottobre ott outubro out października październik paź октября окт října říjen október lokakuuta lokakuu ekim octombrie жовтня октомври οκτωβρίου οκτ أكتوبر اكتوبر אוקטובר באוקטובר अक्टूबर",
	"Nov november novembre noviembre novembro listopada listopadu ноября ноя нояб marraskuuta marraskuu kasım noiembrie листопада ноември νοεμβρίου νοε نوفمبر נובמבר בנובמבר नवंबर नवम्बर",
	"Dec december dezember dez décembre déc diciembre dic dicembre dezembro grudnia grudzień gru декабря дек prosince prosinec joulukuuta joulukuu aralık decembrie грудня декември δεκεμβρίου δεκ ديسمبر דצמבר בדצמבר दिसंबर दिसम्बर desember",
	"前 午前 上午 오전", "後 午後 下午 오후", ": h uhr",
	`_ t st nd rd th er º ª at on of the de del le el den der il um om à às ore alle kl klo ob godz в г года году r rok roku року posted published updated modified edited created last date stand this page was
	veröffentlicht aktualisiert vom publié publicado pubblicato opublikowano опубликовано
	monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag so sonntag mon
	lun lundi mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche lunes martes mié miércoles jue jueves vie viernes sáb sábado dom domingo
	lunedì martedì mercoledì giovedì venerdì sabato domenica ma wo vr za zo maandag dinsdag woensdag donderdag vrijdag zaterdag zondag pn wt śr czw pt пн вт ср чт пт сб вс
	pazartesi salı çarşamba perşembe cuma cumartesi pazar`,
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
	word = lazyregexp.New(`\pL[\pL\pM]*`)
	// units replaces the units of Chinese, Japanese, Korean and Vietnamese dates, and dashes.
	units        = strings.NewReplacer("‑", "-", " – ", " - ", " — ", " - ", "ngày", " ", "tháng", ".", "năm", ".", "年", "-", "년", "-", "月", "-", "월", "-", "日", " ", "号", " ", "號", " ", "일", " ", "時", ":", "时", ":", "点", ":", "點", ":", "시", ":", "分", ":", "분", ":", "秒", " ", "초", " ")
	eastAsianDay = lazyregexp.New(`[月火水木金土日]曜日?|[월화수목금토일]요일|星期[一二三四五六日天]|[周週][一二三四五六日]`)
	aside        = lazyregexp.New(`[(\[]([^\d)\]]*)[)\]]`)
	halfWithDots = lazyregexp.New(`\b([ap])\.m\b\.?`)
	hourWithDot  = lazyregexp.New(`(\d)\.(\d\d) uhr`)
	hourBehind   = lazyregexp.New(`( |\.)(\d{4} \d{1,2})\.(\d\d)( |$)`) // after a day with its year
	basic        = lazyregexp.New(`^(\d{8})[t ]?(\d{2})(\d{2})(\d{2})?`)
	fraction     = lazyregexp.New(`(:\d\d),(\d)`)
	space        = lazyregexp.New(`[\s,|·•@]+`)
	// opening matches text before a date, such as the name of a day in any language.
	opening = lazyregexp.New(`^(?:[^\dA-Z,]*,)? *(?:am )?`)
)

// fold converts a date to lower case, with Go's names of months and without words to ignore.
func fold(s string) string {
	s = strings.ToLower(s)
	if inner, ok := strings.CutPrefix(s, "("); ok {
		s = strings.TrimSuffix(inner, ")")
	}
	s = aside().ReplaceAllStringFunc(s, func(m string) string {
		if zones[m[1:len(m)-1]] == "" {
			return " "
		}
		return " " + m[1:len(m)-1]
	})
	s = units.Replace(eastAsianDay().ReplaceAllString(s, " "))
	s = basic().ReplaceAllString(halfWithDots().ReplaceAllString(hourWithDot().ReplaceAllString(s, "$1:$2"), "${1}m"), "$1 $2:$3:$4")
	s = word().ReplaceAllStringFunc(s, func(w string) string {
		if meaning, ok := words[w]; ok && meaning != ":" {
			return " " + meaning + " "
		} else if ok {
			return meaning
		}
		return w
	})
	s = opening().ReplaceAllString(fraction().ReplaceAllString(s, "$1.$2"), "")
	return hourBehind().ReplaceAllString(strings.TrimSpace(space().ReplaceAllString(s, " ")), "$1$2:$3$4")
}

// zones maps the zones of RFC 5322 section 4.3, and others in feeds and pages. An ambiguous name is
// the zone that is most common on the web.
var zones = meanings(
	"+0000 z ut utc gmt wet", "-0500 est cdt", "-0400 edt", "-0600 cst mdt", "-0700 mst pdt", "-0800 pst akdt", "-0900 akst", "-1000 hst",
	"America/New_York et", "America/Chicago ct", "America/Denver mt", "America/Los_Angeles pt",
	"+0100 bst cet mez", "+0200 cest mesz eet", "+0300 eest msk мск", "+0530 ist", "+0800 hkt sgt", "+0900 jst kst",
	"+1000 aest", "+1100 aedt", "+1200 nzst", "+1300 nzdt",
)
