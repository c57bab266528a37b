package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"seine/internal/base/safeprint"
	"seine/pkg/messages"
)

// maxComplaints limits how many invalid URLs are printed individually.
const maxComplaints = 20

// complaints counts and prints invalid URLs.
type complaints struct{ count int }

// tell prints an invalid URL and its source.
func (c *complaints) tell(from, text string, err error) {
	if from != "" {
		from += ": "
	}
	switch c.count++; {
	case c.count <= maxComplaints:
		safeprint.Fprintf(os.Stderr, "seine: %s\"%s\": %v\n", from, messages.Clip(text), err)
	case c.count == maxComplaints+1:
		safeprint.Fprintln(os.Stderr, "seine: … and more")
	}
}

// summary returns the number of rejected lines.
func (c *complaints) summary() string {
	if c.count == 1 {
		return "1 line is not a URL"
	}
	return fmt.Sprintf("%d lines are not URLs", c.count)
}

// noURLIn returns the error for empty lists.
func noURLIn(lists ...string) error {
	return usageError{fmt.Errorf("%s: contains no URL", strings.Join(lists, ", "))}
}

// err returns the error of a command that handled all lines except the rejected ones.
func (c *complaints) err() error {
	if c.count == 0 {
		return nil
	}
	return usageError{errors.New(c.summary())}
}
