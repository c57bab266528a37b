package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"seine/pkg/messages"
)

// record returns the record of a page with 8 KB of text that has the skewed word frequencies of a language.
func record(n int) *messages.Record {
	r := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // the same each time
	var text strings.Builder
	for text.Len() < 7600 {
		w := int(r.ExpFloat64() * 300)
		text.WriteString(syllables[w%len(syllables)])
		text.WriteString(syllables[w/len(syllables)%len(syllables)])
		text.WriteByte(' ')
	}
	url := fmt.Sprintf("https://site%d.example/page/%d", n%100, n)
	return &messages.Record{
		URL: url, Status: 200, ContentType: "text/html; charset=utf-8", Crawl: "bench", Title: fmt.Sprintf("Page %d", n),
		Language: "en", Charset: "utf-8", Text: text.String(), FetchedAt: time.Unix(1_790_000_000+int64(n), 0).UTC(), Depth: n % 7,
		Referrer: fmt.Sprintf("https://site%d.example/", n%100), Visit: messages.Visit{URL: messages.HashURL(url), Round: 1},
	}
}

var syllables = strings.Fields("the of and to in is ser ver tion ment able ing pre con der ter sta lo ri na mo ke po li du fa gen his kla wer")

// generate writes records as lines, which the bare encoder reads.
func generate(file string, n int) (err error) {
	f, err := os.Create(file) //nolint:gosec // ours
	if err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		line := append(record(i).Encode(), '\n')
		if _, err := w.Write(line); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
	}
	return w.Flush()
}

func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}
