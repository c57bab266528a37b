package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"seine/internal/testing/testweb"
)

// list prints the URLs of the pages that a correct crawler finds, at the address of the flags.
func list(f flags, out io.Writer) error {
	if f.Shape != "" || f.Demo || f.Dir != "" {
		return errors.New("--list is for a generated web: leave --shape, --demo and --dir out")
	}
	web := testweb.New(f.config())
	lines := bufio.NewWriter(out)
	for host := range web.Hosts() {
		home := strings.TrimSuffix(startURL(f.Addr, web.Name(host)), "/")
		for _, path := range web.Pages(host) {
			_, _ = lines.WriteString(home + path + "\n") // Flush returns errors
		}
	}
	return lines.Flush()
}
