package state

import (
	"net/http"
	"time"

	"seine/internal/schedule/politeness"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// urlEffect is the effect of a result on its URL.
type urlEffect uint8

// Effects on URLs.
const (
	failURL     urlEffect = iota // another attempt follows if the class is retried and attempts are left; otherwise the visit fails
	awaitParser                  // the visit ends when its page is parsed
	endVisit                     // the visit ends successfully
	excludeURL                   // with the reason of the effect
	requeueURL                   // no page was requested; the URL is still due
)

// effect is the effect of a result's class on its host and its URL.
type effect struct {
	host   politeness.Kind
	url    urlEffect
	reason string // of excludeURL
	quiet  bool   // not logged as a failed request
}

// effects maps each class to its effect. hostKind has exceptions for some statuses and details.
//
// A ServerError is not Throttled: one 503 without Retry-After does not slow a host down. Otherwise
// a site that sometimes answers with 503 would get one request an hour. Several in a row open the
// breaker.
var effects = map[messages.Class]effect{
	messages.OK:              {host: politeness.Good, url: awaitParser, quiet: true},
	messages.NotModified:     {host: politeness.Good, url: endVisit, quiet: true},
	messages.Redirect:        {host: politeness.Good, url: endVisit, quiet: true},
	messages.ClientError:     {host: politeness.Good},
	messages.Gone:            {host: politeness.Good},
	messages.TooLarge:        {host: politeness.Good},
	messages.BadEncoding:     {host: politeness.Good},
	messages.UnsupportedType: {host: politeness.Good, url: excludeURL, reason: frontierapi.ReasonType},
	messages.ProtocolError:   {host: politeness.Neutral},
	messages.Throttled:       {host: politeness.Throttled},
	messages.Blocked:         {host: politeness.Throttled},
	messages.ServerError:     {host: politeness.HostFailure},
	messages.DNSFailure:      {host: politeness.HostFailure},
	messages.ConnectFailure:  {host: politeness.HostFailure},
	messages.TLSFailure:      {host: politeness.HostFailure},
	messages.Timeout:         {host: politeness.HostFailure},
	messages.Stalled:         {host: politeness.HostFailure},
	messages.RobotsFetched:   {host: politeness.Neutral, url: requeueURL, quiet: true},
	messages.RobotsDenied:    {host: politeness.Unsent, url: excludeURL, reason: frontierapi.ReasonRobots, quiet: true},
	messages.RefusedAddress:  {host: politeness.Unsent, url: excludeURL, reason: frontierapi.ReasonAddress},
	messages.ProxyFailure:    {host: politeness.Unsent},
	messages.Misconfigured:   {host: politeness.Unsent},
	messages.ClassCancelled:  {host: politeness.Unsent, url: requeueURL, quiet: true},
}

// hostKind returns the kind of a result for its host.
func hostKind(res *messages.Result) politeness.Kind {
	kind := effects[res.Class].host
	switch {
	case res.Detail == messages.DetailRender: // the host has answered; the page or the browser failed
		return politeness.Neutral
	case res.Class == messages.ClientError && res.Status == http.StatusForbidden:
		return politeness.Refused
	case res.Class == messages.ServerError && res.Status > 0 && res.Status < 500: // 408 and 425 concern a single request
		return politeness.Good
	case kind == politeness.Unsent && contactedHost(res):
		return politeness.Neutral
	}
	return kind
}

// contactedHost reports whether the host received any request, even if not for the page: for the
// robots.txt that denies it, or for a URL that redirected to it. The host's delay applies then too.
func contactedHost(res *messages.Result) bool {
	return res.IP != "" || res.BytesWire > 0 || res.Timings.FirstByte > 0
}

// outcome returns the politeness outcome of a result.
func outcome(res *messages.Result) politeness.Outcome {
	o := politeness.Outcome{
		Kind: hostKind(res), Took: time.Duration(res.Timings.Total), Age: time.Duration(res.Age), RetryAfter: time.Duration(res.RetryAfter),
	}
	if res.CrawlDelay != nil {
		o.CrawlDelay = new(time.Duration(*res.CrawlDelay))
	}
	return o
}
