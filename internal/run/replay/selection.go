package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// Selection selects the messages of a stream to replay. The zero value selects all. Messages that
// arrive after the start of the replay are never selected.
type Selection struct {
	Crawl   string   `json:"crawl,omitempty"`
	Host    string   `json:"host,omitempty"` // with a port, or without one for all ports
	Since   TimeSpec `json:"since,omitempty"`
	Until   TimeSpec `json:"until,omitempty"` // exclusive
	FromSeq uint64   `json:"from_seq,omitempty"`
}

// Validate checks a selection and makes the host canonical.
func (c *Selection) Validate() error {
	if c.Crawl != "" {
		if err := messages.CheckCrawl(c.Crawl); err != nil {
			return fmt.Errorf("--crawl: %w", err)
		}
	}
	if c.Host != "" {
		u, err := weburl.Canonicalize("http://" + c.Host + "/")
		if err != nil || weburl.Path(u) != "/" {
			return fmt.Errorf("--host %q: must be the name of a host, as www.example.org", c.Host)
		}
		c.Host = weburl.Host(u)
	}
	if c.Since != "" && c.FromSeq > 0 {
		return fmt.Errorf("--since and --from-seq: use one of them")
	}
	now := time.Now()
	since, err := c.Since.At(now)
	if err != nil {
		return fmt.Errorf("--since %w", err)
	}
	until, err := c.Until.At(now)
	if err != nil {
		return fmt.Errorf("--until %w", err)
	}
	if c.Since != "" && c.Until != "" && !since.Before(until) {
		return fmt.Errorf("--until %s is not after --since %s", c.Until, c.Since)
	}
	return nil
}

// subjects returns the filters for the server. A host belongs to one partition.
func (c *Selection) subjects(kinds []string, partitions int) (all []string) {
	partition := "*"
	if c.Host != "" {
		partition = strconv.Itoa(messages.Partition("http://"+c.Host+"/", partitions))
	}
	for _, kind := range kinds {
		all = append(all, "seine."+kind+"."+cmp.Or(c.Crawl, "*")+"."+partition)
	}
	return all
}

// has reports whether a URL belongs to the selected host.
func (c *Selection) has(url string) bool {
	return c.Host == "" || weburl.Host(url) == c.Host || weburl.Hostname(url) == c.Host
}

// String describes the selection.
func (c *Selection) String() string {
	words := "all"
	add := func(name, value string) {
		if value != "" {
			words += ", " + name + " " + value
		}
	}
	add("of crawl", c.Crawl)
	add("of host", c.Host)
	add("since", string(c.Since))
	add("until", string(c.Until))
	if c.FromSeq > 0 {
		add("from sequence", fmt.Sprint(c.FromSeq))
	}
	return strings.TrimPrefix(words, "all, ")
}
