package httpclient

import (
	"seine/internal/fetch/secrets"
	"seine/pkg/messages"
)

// secretStore holds the secrets of this fetcher. They leave it only in the requests that they are
// for. A missing one fails the request, not the fetcher.
type secretStore struct {
	secrets.Store
	used *secrets.Mask // collects the secrets in use; may be nil
}

func (s secretStore) get(name string) (string, error) {
	v, err := s.Get(name)
	if err == nil && s.used != nil {
		s.used.Add(v)
	}
	return v, misconfigured(err)
}

func (s secretStore) fill(text string) (string, error) {
	v, err := s.Fill(text)
	return v, misconfigured(err)
}

func misconfigured(err error) error {
	if err == nil {
		return nil
	}
	return Failf(messages.Misconfigured, "%v", err)
}
