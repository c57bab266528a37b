package pii

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// byteBefore returns the byte before i, or 0 at the beginning.
func byteBefore(s string, i int) byte {
	if i == 0 {
		return 0
	}
	return s[i-1]
}

// digitBefore reports whether digits precede i, with a space between.
func digitBefore(s string, i int) bool {
	before := strings.TrimRight(s[max(0, i-4):i], " (\u00a0")
	return before != "" && digit(before[len(before)-1])
}

// maxWord is how far back words are searched.
const maxWord = 32

// wordBefore returns the word before i in lower case, or "". Up to five characters that are neither
// letters nor digits may be between ("Tel.: "). It skips a word that only announces a number, and
// ignores words in brackets, as inserted by masking.
func wordBefore(s string, i int) string {
	from := max(0, i-maxWord)
	for from < i && !utf8.RuneStart(s[from]) {
		from++
	}
	text := strings.ToLower(s[from:i])
	for {
		trimmed := strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\n' && r != ']' })
		if len(text)-len(trimmed) > 5 {
			return ""
		}
		start := strings.LastIndexFunc(trimmed, func(r rune) bool { return !unicode.IsLetter(r) }) + 1
		if start > 0 {
			_, n := utf8.DecodeRuneInString(trimmed[start-1:])
			start += n - 1
		}
		word := trimmed[start:]
		switch word {
		case "no", "nr", "number", "nummer", "num", "is", "us", "at":
			text = trimmed[:start]
			continue
		}
		return word
	}
}

// phoneWord reports whether a word announces a phone number.
func phoneWord(word string) bool {
	switch word {
	case "tel", "telefon", "telephone", "phone", "fon", "mobile", "mobil", "handy", "cell", "fax", "telefax", "call", "whatsapp",
		"tél", "téléphone", "teléfono", "telefono", "telefone", "telefoon", "puhelin", "тел", "телефон", "電話", "电话", "전화", "هاتف":
		return true
	}
	return false
}

// otherNumber reports whether a word announces a number other than a phone number.
func otherNumber(word string) bool {
	switch word {
	case "isbn", "issn", "ean", "gtin", "upc", "sku", "doi", "pmid", "order", "invoice", "ref", "reference", "id", "ids", "serial",
		"article", "item", "part", "model", "version", "v", "build", "bestellnummer", "bestellung", "artikelnummer", "rechnung",
		"rechnungsnummer", "artikel", "tracking", "ticket", "case", "issue", "account", "kundennummer", "commande", "pedido":
		return true
	}
	return false
}
