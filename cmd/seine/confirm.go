package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strings"

	"seine/internal/base/safeprint"
)

// confirmation is the flag of commands that delete permanently.
type confirmation struct {
	Yes bool `help:"Do not ask for confirmation." short:"y" env:"-"`
}

// confirm prints the warning and asks for a word on the terminal. It returns an error if the user
// types another word, or without a terminal.
func (c *confirmation) confirm(ctx context.Context, warning func() (string, error), question, word string) error {
	if c.Yes {
		return nil
	}
	if !isTerminal(os.Stdin) {
		return usageError{errors.New("cannot ask for confirmation without a terminal: add --yes")}
	}
	text, err := warning()
	if err != nil {
		return err
	}
	safeprint.Printf("%s\n%s: ", text, question)
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // an empty line is not the word
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == word {
			return nil
		}
	case <-ctx.Done():
	}
	return errors.New("nothing was deleted")
}
