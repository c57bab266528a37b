package chunk

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// encoding is that of OpenAI's embedding models. It takes some 20 ms to load.
var encoding = sync.OnceValue(codec.NewCl100kBase)

// Tokens returns the number of tokens in the encoding cl100k_base.
func Tokens(text string) int {
	n, err := encoding().Count(text)
	if err != nil { // only of a regular expression with a time limit, which this has not
		return len(text)
	}
	return n
}
