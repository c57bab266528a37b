package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a post, as defined by the Standard Webhooks specification.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp" // Unix seconds of this attempt
	HeaderSignature = "Webhook-Signature" // "v1," and a signature in base64; several are separated by blanks
)

// secretPrefix marks secrets, for secret scanners.
const secretPrefix = "whsec_"

// newSecret returns a random key.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// Sign returns the signature of a body: HMAC-SHA256 over id, timestamp and body, joined by dots.
// The key is the base64-decoded secret.
func Sign(secret, id, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		key = []byte(secret) // newSecret never returns such a secret
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signed returns the headers of an attempt. While a secret is being replaced, there are two
// signatures, separated by a blank.
func (h *Hook) signed(id string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := Sign(h.Secret, id, stamp, body)
	if h.Old != "" && at.Before(h.OldUntil) {
		signatures += " " + Sign(h.Old, id, stamp, body)
	}
	return http.Header{HeaderID: {id}, HeaderTimestamp: {stamp}, HeaderSignature: {signatures}}
}
