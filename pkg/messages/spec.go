package messages

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"seine/internal/version"
)

// Scope says which hosts a crawl may enter.
type Scope string

// Scopes.
const (
	ScopeHost   Scope = "host"   // the hosts of the seeds
	ScopeDomain Scope = "domain" // the registrable domains of the seeds
	ScopeAny    Scope = "any"    // every host
)

// Robots says what is done with robots.txt.
type Robots string

// Robots policies.
const (
	RobotsObey   Robots = "obey"   // RFC 9309
	RobotsIgnore Robots = "ignore" // for one's own sites
)

// Spec is what a crawl is to do. It lives in BucketCrawls under the name of
// the crawl; every stage watches it. A crawl without one has DefaultSpec.
type Spec struct {
	V int `json:"v" yaml:"v,omitempty"`
	// Scope says which hosts may be entered; a seed is always in scope.
	Scope Scope `json:"scope" yaml:"scope"`
	// Include, if not empty, lists patterns of which a URL must match one;
	// Exclude those it must not. A pattern is compared with the whole URL, '*'
	// standing for anything; "re:…" is a regular expression (RE2) found anywhere
	// in it. Seeds are not held to Include.
	Include []string `json:"include,omitempty" yaml:"include"`
	Exclude []string `json:"exclude,omitempty" yaml:"exclude"`
	// MaxDepth is the largest distance from a seed in links; nil is no limit.
	MaxDepth *int `json:"max_depth,omitempty" yaml:"max_depth"`
	// MaxPages stops the crawl after so many pages; 0 is no limit.
	MaxPages int64 `json:"max_pages,omitempty" yaml:"max_pages"`
	// Delay is the least time from the end of a response to the next request to
	// the same host.
	Delay Duration `json:"delay" yaml:"delay"`
	// PerHost is how many requests may be under way to one host. More than one
	// means anything only without a delay.
	PerHost int `json:"per_host" yaml:"per_host"`
	// MaxAttempts is how often a URL is tried before it counts as failed.
	MaxAttempts int `json:"max_attempts" yaml:"max_attempts"`
	// MaxRedirects is how many redirects in a row are followed.
	MaxRedirects int `json:"max_redirects" yaml:"max_redirects"`
	// UserAgent is sent with every request; its first word up to '/' is the name
	// that robots.txt is searched for.
	UserAgent string `json:"user_agent" yaml:"user_agent"`
	Robots    Robots `json:"robots" yaml:"robots"`
	// AllowPrivate lets the fetcher dial loopback and private addresses.
	AllowPrivate bool `json:"allow_private,omitempty" yaml:"allow_private"`
	// MaxBody is the largest body kept, in bytes, decoded.
	MaxBody Bytes `json:"max_body" yaml:"max_body"`
	// Timeout bounds a whole request.
	Timeout Duration `json:"timeout" yaml:"timeout"`
}

// Defaults of a Spec.
const (
	DefaultDelay        = Duration(time.Second)
	DefaultPerHost      = 1
	DefaultMaxAttempts  = 4
	DefaultMaxRedirects = 10
	DefaultMaxBody      = Bytes(32 << 20)
	DefaultTimeout      = Duration(60 * time.Second)
	DefaultUserAgent    = "seine/" + version.Number + " (web crawler)"
)

// DefaultSpec is polite and stays on the hosts of the seeds.
func DefaultSpec() Spec {
	return Spec{
		V: Version, Scope: ScopeHost, Delay: DefaultDelay, PerHost: DefaultPerHost,
		MaxAttempts: DefaultMaxAttempts, MaxRedirects: DefaultMaxRedirects,
		UserAgent: DefaultUserAgent, Robots: RobotsObey,
		MaxBody: DefaultMaxBody, Timeout: DefaultTimeout,
	}
}

// Validate names the first key that is wrong, and what would be right.
func (s *Spec) Validate() error {
	switch {
	case s.Scope != ScopeHost && s.Scope != ScopeDomain && s.Scope != ScopeAny:
		return fmt.Errorf("scope %q: must be host, domain or any", s.Scope)
	case s.Robots != RobotsObey && s.Robots != RobotsIgnore:
		return fmt.Errorf("robots %q: must be obey or ignore", s.Robots)
	case s.MaxDepth != nil && (*s.MaxDepth < 0 || *s.MaxDepth > MaxDepth):
		return fmt.Errorf("max_depth %d: must be from 0 to %d", *s.MaxDepth, MaxDepth)
	case s.MaxPages < 0:
		return fmt.Errorf("max_pages %d: must not be negative (0 is no limit)", s.MaxPages)
	case s.Delay < 0 || s.Delay > Duration(24*time.Hour):
		return fmt.Errorf("delay %s: must be from 0s to 24h", s.Delay)
	case s.PerHost < 1 || s.PerHost > 1024:
		return fmt.Errorf("per_host %d: must be from 1 to 1024", s.PerHost)
	case s.MaxAttempts < 1 || s.MaxAttempts > 100:
		return fmt.Errorf("max_attempts %d: must be from 1 to 100", s.MaxAttempts)
	case s.MaxRedirects < 0 || s.MaxRedirects > 50:
		return fmt.Errorf("max_redirects %d: must be from 0 to 50", s.MaxRedirects)
	case s.MaxBody < 1 || s.MaxBody > 1<<30:
		return fmt.Errorf("max_body %s: must be from 1B to 1GiB", s.MaxBody)
	case s.Timeout < Duration(time.Millisecond) || s.Timeout > Duration(time.Hour):
		return fmt.Errorf("timeout %s: must be from 1ms to 1h", s.Timeout)
	case s.ProductToken() == "":
		return fmt.Errorf("user_agent %q: must start with a name of letters, '-' and '_'", s.UserAgent)
	case strings.ContainsFunc(s.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Errorf("user_agent %q: must be printable ASCII", s.UserAgent)
	}
	if err := checkPatterns("include", s.Include); err != nil {
		return err
	}
	return checkPatterns("exclude", s.Exclude)
}

func checkPatterns(key string, patterns []string) error {
	for _, p := range patterns {
		if _, err := CompilePattern(p); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// ProductToken is the name in the user agent that robots.txt is searched for
// (RFC 9309 2.2.1).
func (s *Spec) ProductToken() string {
	end := strings.IndexFunc(s.UserAgent, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
	if end < 0 {
		return s.UserAgent
	}
	return s.UserAgent[:end]
}

// InFlightPerHost is how many requests may be under way to one host: a delay
// is measured from the end of a response, so it implies one.
func (s *Spec) InFlightPerHost() int {
	if s.Delay > 0 {
		return 1
	}
	return s.PerHost
}

// CompilePattern compiles a pattern of Include or Exclude.
func CompilePattern(p string) (*regexp.Regexp, error) {
	expr, isRegexp := strings.CutPrefix(p, "re:")
	switch {
	case expr == "":
		return nil, errors.New(`a pattern is empty: write "*" for everything`)
	case !isRegexp:
		expr = "^" + strings.ReplaceAll(regexp.QuoteMeta(expr), `\*`, ".*") + "$"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", p, err)
	}
	return re, nil
}

// Encode returns the spec as it is stored.
func (s *Spec) Encode() []byte {
	s.V = Version
	return mustJSON(s)
}

// DecodeSpec reads a stored spec. Fields that it lacks have their defaults.
func DecodeSpec(data []byte) (*Spec, error) {
	s := DefaultSpec()
	if err := decode(data, &s, &s.V); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	return &s, nil
}

// ParseSpec reads a spec that a person wrote in YAML. Unknown keys are errors.
// What it lacks has its default.
func ParseSpec(text []byte) (*Spec, error) {
	s := DefaultSpec()
	if !onlyComments(text) {
		if err := yaml.Load(text, &s, yaml.WithKnownFields()); err != nil {
			return nil, fmt.Errorf("read spec: %w", err)
		}
	}
	if s.V != Version {
		return nil, fmt.Errorf("read spec: v is %d, this build reads %d: %w", s.V, Version, ErrVersion)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("read spec: %w", err)
	}
	return &s, nil
}

// onlyComments reports whether there is nothing in text to decode, which the
// YAML package takes for an error.
func onlyComments(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
