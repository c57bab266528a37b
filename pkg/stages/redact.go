package stages

import (
	"net/url"
	"strings"
)

// redact removes the password and token from each server of a NATS URL list.
func redact(urls string) string {
	parts := strings.Split(urls, ",")
	for i, p := range parts {
		u, err := url.Parse(strings.TrimSpace(p))
		if err != nil || u.User == nil {
			continue
		}
		u.User = url.User("…")
		parts[i] = u.String()
	}
	return strings.Join(parts, ",")
}
