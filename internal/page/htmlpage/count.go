package htmlpage

// CountTokens reads the tokens of a page in UTF-8 and does nothing with them: the
// bare pass that the cost of [Scan] is compared with.
func CountTokens(page []byte) (n int) {
	t := new(tokenizer)
	for t.reset(page); t.next() != tokenEnd; n++ {
	}
	return n
}
