package chunk

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// encoding is the encoding of OpenAI's embedding models. It takes some 20 ms to load.
var encoding = sync.OnceValue(codec.NewCl100kBase)

// Tokens returns the number of tokens in the encoding cl100k_base.
func Tokens(text string) int {
	n, err := encoding().Count(text)
	if err != nil { // happens only with a time limit on regular expressions, which is not set
		return len(text)
	}
	return n
}
