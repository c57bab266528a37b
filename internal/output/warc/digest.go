package warc

import (
	"crypto/sha1" //nolint:gosec // the digest that readers of WARC check; what is the same is told by SHA-256
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
)

// Digest returns a digest as WARC fields have it: SHA-1 in base 32. Section 5.8
// names no algorithm; this is the one that indexes of archives are keyed by, and
// that every reader checks.
func Digest(b []byte) string {
	sum := sha1.Sum(b) //nolint:gosec // as above
	return digestOf(sum[:])
}

func digestOf(sum []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum) }

// Sums are what must be known of a block before its header is written.
type Sums struct {
	Length  int64  // of the payload
	Block   string // digest of head and payload
	Payload string // digest of the payload
	// Same compares payloads, safely where two were made with one SHA-1.
	Same [sha256.Size]byte
}

// Sum reads a payload, which follows head in its block.
func Sum(head []byte, payload io.Reader) (s Sums, err error) {
	block, alone, same := sha1.New(), sha1.New(), sha256.New() //nolint:gosec // as above
	block.Write(head)
	if s.Length, err = io.Copy(io.MultiWriter(block, alone, same), payload); err != nil {
		return s, err
	}
	s.Block, s.Payload = digestOf(block.Sum(nil)), digestOf(alone.Sum(nil))
	same.Sum(s.Same[:0])
	return s, nil
}

// namespace makes the identifiers of Seine's records differ from other UUIDs of
// version 5.
var namespace = [16]byte{0x5e, 0x1e, 0xa2, 0x0c, 0x7b, 0x0d, 0x4c, 0x55, 0x9a, 0x3e, 0x21, 0x0f, 0x6d, 0x17, 0xc4, 0x02}

// ID returns the identifier of the record with these parts: a UUID of
// version 5 (RFC 9562 5.5), so that a record that is written again is the same.
func ID(parts ...string) string {
	h := sha1.New() //nolint:gosec // as RFC 9562 says
	h.Write(namespace[:])
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	u := h.Sum(nil)[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	x := hex.EncodeToString(u)
	return "<urn:uuid:" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:] + ">"
}
