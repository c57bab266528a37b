package charset

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// inHTML is a page without declarations around a text in an encoding.
func inHTML(t *testing.T, encoding, text string) []byte {
	t.Helper()
	e, err := htmlindex.Get(encoding)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s has not all of %q: %v", encoding, text, err)
	}
	return []byte("<!doctype html><html><head><title>" + string(b) + "</title><style>.menu { color: red }</style></head>\n" +
		"<body class=\"page home\"><div id=\"content\"><p class='text'>" + string(b) + "</p></div></body></html>")
}

// Pages without declarations, in the encodings that their languages used.
func TestLegacyDetected(t *testing.T) {
	const (
		russian  = "Новости Москвы|Каталог товаров. Цена: 500 руб.|Музей открыт ежедневно, кроме понедельника. Билеты можно купить в кассе или на сайте.|Главная страница|О компании"
		polish   = "Muzeum jest otwarte codziennie oprócz poniedziałków. Bilety można kupić w kasie lub na naszej stronie, a dzieci wchodzą za darmo."
		czech    = "Muzeum je otevřeno denně kromě pondělí. Vstupenky si můžete koupit u pokladny nebo na našich stránkách a děti neplatí nic."
		turkish  = "Müze pazartesi dışında her gün açıktır. Biletler gişeden veya web sitemizden alınabilir ve çocuklar için ücretsizdir."
		japanese = "東京ニュース|お問い合わせはこちら 株式会社サンプル|博物館は月曜日を除いて毎日開館しています。チケットは入口で購入できます。|サイトマップ"
	)
	for _, tt := range []struct{ encodings, texts string }{
		{"windows-1251 koi8-r", russian},
		{"windows-1251", "Музей відкритий щодня, крім понеділка. Квитки можна придбати в касі або на сайті, а діти проходять безкоштовно."},
		{"koi8-u", "Музей відкритий щодня, крім понеділка. Квитки можна придбати в касі або на сайті, а діти проходять безкоштовно."},
		{"windows-1251", "Музеят е отворен всеки ден освен понеделник. Билети могат да се купят на касата или на нашия сайт."},
		{"gbk", "北京新闻网首页|产品名称 价格 库存|博物馆除星期一外每天开放。门票可以在入口处或网站上购买。|联系我们 关于本站"},
		{"big5", "台北新聞網首頁|博物館除星期一外每天開放。門票可以在入口處或網站上購買。|聯絡我們 關於本站"},
		{"shift_jis euc-jp iso-2022-jp", japanese},
		{"euc-kr", "서울 뉴스 홈페이지|박물관은 월요일을 제외하고 매일 문을 엽니다. 표는 입구나 웹사이트에서 살 수 있습니다.|회사 소개"},
		{"windows-1253", "Νέα της Αθήνας|Το μουσείο είναι ανοιχτό κάθε μέρα εκτός Δευτέρας."},
		{"windows-1255", "חדשות תל אביב|המוזיאון פתוח בכל יום למעט יום שני."},
		{"windows-1256", "المتحف مفتوح كل يوم ما عدا الاثنين. يمكن شراء التذاكر عند المدخل أو من موقعنا على الإنترنت."},
		{"windows-874", "ข่าวกรุงเทพ|พิพิธภัณฑ์เปิดทุกวันยกเว้นวันจันทร์"},
		{"windows-1250", polish + "|" + czech},
		{"windows-1254", turkish},
	} {
		for name := range strings.FieldsSeq(tt.encodings) {
			for text := range strings.SplitSeq(tt.texts, "|") {
				got, e := Decode(inHTML(t, name, text), "text/html")
				if !strings.Contains(string(got), "<title>"+text+"</title>") {
					t.Errorf("%s of %q was read as %s: %.120q", name, text, e, got[35:])
				}
			}
		}
	}
}

// Texts in windows-1252, including short ones, are not detected as another encoding.
func TestWesternStays(t *testing.T) {
	for _, text := range []string{
		"Größe für Öl", "Café à l’hôtel", "Preisliste: Bäder, Türen, 20 €", "Niño, mañana, año", "It’s “quoted” — © 2024 £5", "été", "ÜBER UNS – ÖFFNUNGSZEITEN",
		"ÄÖÜ äöü ß", "Ação, não é?", "Smørrebrød på Ærø", "Älä lyö lyötyä", "«Où êtes-vous?» – «Là-bas!»", "Tükörfúró", "naïve façade", "Çà et là", "§ 5 Abs. 2 – ½ m² à 20 °C",
		"Das Museum ist täglich außer montags geöffnet. Karten gibt es an der Kasse, Kinder unter zwölf Jahren zahlen nichts.",
		"Le musée est ouvert tous les jours sauf le lundi. L’entrée est gratuite pour les enfants, où qu’ils soient nés.",
		"O museu está aberto todos os dias, exceto às segundas-feiras. As crianças não pagam.",
		"Museet är öppet alla dagar utom måndagar. Biljetter köps på plats.", "Þjóðminjasafnið er opið alla daga nema mánudaga", "Öö õun äär", "©®™ °±²³ «»",
	} {
		got, e := Decode(inHTML(t, "windows-1252", text), "text/html")
		if !strings.Contains(string(got), "<title>"+text+"</title>") {
			t.Errorf("windows-1252 of %q was read as %s: %.120q", text, e, got[35:])
		}
	}
}

// In a text of nearly only UTF-8, the rest is U+FFFD.
func TestBrokenUTF8(t *testing.T) {
	decoders := map[string]func([]byte, string) ([]byte, Encoding){"HTML": Decode, "text": DecodeText, "XML": DecodeXML}
	for _, text := range []string{"Größe für Öl#", "é#", "#é", "Новости#Москвы", "日本#語", "Größe# für#Öl ÄÖÜ und so weiter: äöü", "a\xe2\x82 Größe für Öl\xc3"} {
		for _, broken := range []string{"\xff", "\xa0", "\xe9", "\xe2\x82", "\x93"} {
			for name, decode := range decoders {
				body := strings.ReplaceAll(text, "#", broken)
				if utf8.ValidString(body) {
					continue
				}
				got, e := decode([]byte(body), "")
				if want := strings.ToValidUTF8(strings.ReplaceAll(text, "#", "\xff"), "\ufffd"); e != UTF8 || strings.ReplaceAll(string(got), "\ufffd\ufffd", "\ufffd") != want {
					t.Errorf("%s %q: %s %q, want %q", name, body, e, got, want)
				}
			}
		}
	}
	for _, text := range []string{"Gr\xf6\xdfe f\xfcr \xd6l", "caf\xe9", "\xc9t\xe9"} {
		if got, e := DecodeText([]byte(text), ""); e != Windows1252 {
			t.Errorf("%q: %s %q, want windows-1252", text, e, got)
		}
	}
}

// Detection reads only a sample of a long text.
func TestDetectionIsBounded(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("\xcd\xee\xe2\xee\xf1\xf2\xe8 ", 1<<20), strings.Repeat("<a>", 1<<20) + "\xcd\xee", strings.Repeat("<script>", 1<<18) + "\xcd", strings.Repeat("<", 1<<20) + "\xcd",
	} {
		if n := len(textSample([]byte(body))); n > sampleLength {
			t.Errorf("a sample of %d bytes of %.20q", n, body)
		}
		DecodeText([]byte(body), "")
	}
}

func BenchmarkLegacy(b *testing.B) {
	body := bytes.Repeat([]byte("\xcd\xee\xe2\xee\xf1\xf2\xe8 \xcc\xee\xf1\xea\xe2\xfb. "), 1<<16)
	for b.Loop() {
		legacy(body)
	}
}
