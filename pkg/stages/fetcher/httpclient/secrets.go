package httpclient

import (
	"seine/internal/fetch/secrets"
	"seine/pkg/messages"
)

// secretStore are the secrets of this fetcher. They never leave it but in the requests
// they are for. One that is missing fails the request, not the fetcher.
type secretStore struct {
	secrets.Store
	used *secrets.Mask // is called with each that is used; may be nil
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
