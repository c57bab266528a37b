package httpclient

import (
	"fmt"
	"net/netip"
	"time"

	"seine/internal/fetch/secrets"
	"seine/pkg/crawlspec"
)

// Config holds an operator's options for requests. Those of one crawl (the user agent, the largest
// body, the total timeout) are in its crawlspec.Spec. The defaults are only in the tags.
type Config struct {
	Workers          int                `help:"Concurrent requests." default:"64"`
	MaxInFlightBody  crawlspec.Bytes    `help:"Memory for response bodies in flight, in total." default:"128MiB"`
	MaxIdlePerHost   int                `help:"Idle connections kept per host." default:"64"`
	Rate             float64            `help:"Maximum requests per second to all hosts together; 0 for no limit." default:"0"`
	Bandwidth        crawlspec.Bytes    `help:"Maximum body bytes received per second in total; 0 for no limit." default:"0"`
	DialTimeout      crawlspec.Duration `help:"Timeout of name resolution and connection." default:"10s"`
	TLSTimeout       crawlspec.Duration `help:"Timeout of the TLS handshake." default:"10s" name:"tls-timeout"`
	FirstByteTimeout crawlspec.Duration `help:"Timeout of the response header, once connected." default:"30s"`
	StallTimeout     crawlspec.Duration `help:"Timeout between two reads of a body." default:"20s"`
	MaxHeader        crawlspec.Bytes    `help:"Maximum size of a response header." default:"256KiB"`
	MaxRatio         int64              `help:"Maximum decompression ratio of a body, beyond the first MiB." default:"200"`
	Resolver         []string           `help:"Name servers to use instead of the system's, as address:port." placeholder:"ADDRESS"`
	Family           string             `name:"ip-family" help:"IP version to connect with: any, ipv4 or ipv6." enum:"any,ipv4,ipv6" default:"any"`
	Secrets          string             `help:"Directory with one file for each {secret:NAME} of specs. The environment variable SEINE_SECRET_NAME takes precedence." placeholder:"DIR"`
	Accept           []string           `help:"Content types to keep, such as text/html, text/* or */*." default:"text/html,application/xhtml+xml,text/plain"`
}

// Values of Family.
const (
	FamilyAny  = "any"
	FamilyIPv4 = "ipv4"
	FamilyIPv6 = "ipv6"
)

// MaxWorkers is the maximum of Config.Workers.
const MaxWorkers = 16384

// Minimum values of Config.
const (
	minBodyMemory = 1 << 20
	minHeader     = 4 << 10
)

// Validate returns an error for the first invalid flag, with its valid values.
func (c Config) Validate() error {
	switch {
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return fmt.Errorf("workers %d: must be from 1 to %d", c.Workers, MaxWorkers)
	case c.MaxInFlightBody < minBodyMemory:
		return fmt.Errorf("max-in-flight-body %s: must be at least 1MiB", c.MaxInFlightBody)
	case c.MaxIdlePerHost < 1:
		return fmt.Errorf("max-idle-per-host %d: must be at least 1", c.MaxIdlePerHost)
	case !(c.Rate >= 0):
		return fmt.Errorf("rate %g: must not be negative (0 for no limit)", c.Rate)
	case c.Bandwidth < 0:
		return fmt.Errorf("bandwidth %d: must not be negative (0 for no limit)", c.Bandwidth)
	case c.MaxHeader < minHeader:
		return fmt.Errorf("max-header %s: must be at least 4KiB", c.MaxHeader)
	case c.MaxRatio < 1:
		return fmt.Errorf("max-ratio %d: must be at least 1", c.MaxRatio)
	case c.Family != FamilyAny && c.Family != FamilyIPv4 && c.Family != FamilyIPv6:
		return fmt.Errorf("family %q: must be any, ipv4 or ipv6", c.Family)
	case len(c.Accept) == 0:
		return fmt.Errorf("accept: must name at least one content type (*/* is all)")
	}
	if err := c.validateTimes(); err != nil {
		return err
	}
	if err := (secrets.Store{Folder: c.Secrets}).Validate(); err != nil {
		return err
	}
	for _, s := range c.Resolver {
		if _, err := netip.ParseAddrPort(s); err != nil {
			return fmt.Errorf("resolver %q: must be an address and port, such as 192.0.2.53:53 or [2001:db8::53]:53", s)
		}
	}
	for _, t := range c.Accept {
		if !crawlspec.IsMediaRange(t) {
			return fmt.Errorf("accept %q: must be a content type without parameters, such as text/html", t)
		}
	}
	return nil
}

func (c Config) validateTimes() error {
	for _, t := range []struct {
		flag string
		d    crawlspec.Duration
	}{
		{"dial-timeout", c.DialTimeout}, {"tls-timeout", c.TLSTimeout},
		{"first-byte-timeout", c.FirstByteTimeout}, {"stall-timeout", c.StallTimeout},
	} {
		if time.Duration(t.d) < time.Millisecond {
			return fmt.Errorf("%s %s: must be at least 1ms", t.flag, t.d)
		}
	}
	return nil
}
