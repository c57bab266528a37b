package stages

import (
	"errors"
	"net/url"
	"strings"
)

// redact removes the password and token from each server of a NATS URL list. It does not parse the
// URLs, because a malformed URL contains a password as well.
func redact(urls string) string {
	parts := strings.Split(urls, ",")
	for i, p := range parts {
		from := 0
		if scheme := strings.Index(p, "://"); scheme >= 0 {
			from = scheme + len("://")
		}
		if at := strings.LastIndexByte(p, '@'); at > from {
			parts[i] = p[:from] + "…" + p[at:]
		}
	}
	return strings.Join(parts, ",")
}

// errURL replaces an error of net/url, which quotes the URL.
var errURL = errors.New("the URL is malformed: write special characters of a password as %xx")

func redactError(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return errURL
	}
	return err
}
