package httpclient

import (
	"fmt"
	"net/netip"
	"time"

	"seine/internal/fetch/secrets"
	"seine/pkg/crawlspec"
)

// Config is what an operator chooses of how requests are made. What belongs to one
// crawl (the user agent, the largest body, the total timeout) is in its crawlspec.Spec.
// Defaults are in the tags only.
type Config struct {
	Workers          int                `help:"Requests under way at the same time." default:"64"`
	MaxInFlightBody  crawlspec.Bytes    `help:"Memory for bodies being read, all together." default:"128MiB"`
	MaxIdlePerHost   int                `help:"Idle connections kept to one host." default:"64"`
	Rate             float64            `help:"Requests per second to all hosts together; 0 is no limit." default:"0"`
	Bandwidth        crawlspec.Bytes    `help:"Body bytes received per second, all together; 0 is no limit." default:"0"`
	DialTimeout      crawlspec.Duration `help:"Longest wait for a name and a connection." default:"10s"`
	TLSTimeout       crawlspec.Duration `help:"Longest wait for a TLS handshake." default:"10s" name:"tls-timeout"`
	FirstByteTimeout crawlspec.Duration `help:"Longest wait for the header of a response, once connected." default:"30s"`
	StallTimeout     crawlspec.Duration `help:"Longest silence within a body." default:"20s"`
	MaxHeader        crawlspec.Bytes    `help:"Largest response header." default:"256KiB"`
	MaxRatio         int64              `help:"How many times its size a body may decompress to, beyond the first MiB." default:"200"`
	Resolver         []string           `help:"Name servers to ask, as address:port, instead of the system's." placeholder:"ADDRESS"`
	Family           string             `name:"ip-family" aliases:"family" help:"Addresses that are dialled: any, ipv4 or ipv6." enum:"any,ipv4,ipv6" default:"any"`
	Secrets          string             `help:"Folder with a file for each secret that specs name; SEINE_SECRET_NAME in the environment goes before." placeholder:"DIR"`
	Accept           []string           `help:"Content types kept, such as text/html, text/* or */*." default:"text/html,application/xhtml+xml,text/plain"`
}

// Values of Family.
const (
	FamilyAny  = "any"
	FamilyIPv4 = "ipv4"
	FamilyIPv6 = "ipv6"
)

// MaxWorkers is how many requests may be under way at most.
const MaxWorkers = 16384

// Bounds of Config.
const (
	minBodyMemory = 1 << 20
	minHeader     = 4 << 10
)

// Validate names the first flag that is wrong, and what would be right.
func (c Config) Validate() error {
	switch {
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return fmt.Errorf("workers %d: must be from 1 to %d", c.Workers, MaxWorkers)
	case c.MaxInFlightBody < minBodyMemory:
		return fmt.Errorf("max-in-flight-body %s: must be at least 1MiB", c.MaxInFlightBody)
	case c.MaxIdlePerHost < 1:
		return fmt.Errorf("max-idle-per-host %d: must be at least 1", c.MaxIdlePerHost)
	case !(c.Rate >= 0):
		return fmt.Errorf("rate %g: must not be negative (0 is no limit)", c.Rate)
	case c.Bandwidth < 0:
		return fmt.Errorf("bandwidth %d: must not be negative (0 is no limit)", c.Bandwidth)
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
