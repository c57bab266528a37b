package samplesites

import (
	"math/rand/v2"
	"strings"
)

// prose generates text that looks natural.
type prose struct{ *rand.Rand }

func newProse(seed uint64, shape string) prose {
	var salt uint64
	for _, c := range []byte(shape) {
		salt = salt*31 + uint64(c)
	}
	return prose{rand.New(rand.NewPCG(seed, salt))}
}

var nouns = strings.Fields(`river bridge market council harbour train school garden window engine letter library
	station village report budget meeting season winter summer morning evening teacher farmer baker driver singer
	painter valley mountain forest island tunnel museum theatre festival election contract building factory machine
	paper ticket journey answer question pattern signal record archive catalogue café façade`)

var verbs = strings.Fields(`opens closes follows builds repairs carries measures crosses reaches explains describes
	replaces supports changes keeps shows finds joins leaves visits counts protects improves restores`)

var adjectives = strings.Fields(`old new small large quiet early late open narrow wide public common local northern
	southern careful steady bright simple modern former recent heavy light regular sudden`)

func pick[T any](p prose, from []T) T { return from[p.IntN(len(from))] }

// sentence returns a sentence of 8 to 20 words, as plain text.
func (p prose) sentence() string {
	var b strings.Builder
	for i := range 1 + p.IntN(3) {
		if i > 0 {
			b.WriteString(pick(p, []string{", and", ", while", ", but"}) + " ")
		}
		b.WriteString("the " + pick(p, adjectives) + " " + pick(p, nouns) + " " + pick(p, verbs) + " the " + pick(p, nouns))
		if p.IntN(2) == 0 {
			b.WriteString(" near the " + pick(p, adjectives) + " " + pick(p, nouns))
		}
	}
	return capital(b.String()) + "."
}

// paragraph returns n sentences.
func (p prose) paragraph(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = p.sentence()
	}
	return strings.Join(all, " ")
}

// title returns a short line without a full stop.
func (p prose) title() string {
	return capital(pick(p, adjectives) + " " + pick(p, nouns) + " " + pick(p, verbs) + " the " + pick(p, adjectives) + " " + pick(p, nouns))
}

func capital(s string) string {
	r := []rune(s)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// slug turns a title into a URL part: ASCII, lower case, hyphens.
func slug(s string) string {
	s = strings.NewReplacer("é", "e", "ç", "c", "ü", "u", "ö", "o", "ä", "a", "&", "and", "'", "").Replace(strings.ToLower(s))
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') }), "-")
}

// Names of people.
var (
	firstNames = strings.Fields("Ada Bruno Chloé Daniel Elif Farid Grace Hannah Ivan Jun Karin Lena Marco Nora Oskar Priya Quentin Rosa Søren Tara")
	lastNames  = strings.Fields("Almeida Becker Costa Dubois Eriksen Fischer García Hansen Ito Jansen Kowalski Larsen Moreau Novak O'Neill Petit Rossi Schäfer Tanaka Weber")
)

func (p prose) person() string { return pick(p, firstNames) + " " + pick(p, lastNames) }
