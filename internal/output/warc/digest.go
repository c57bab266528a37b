package warc

import (
	"crypto/sha1" //nolint:gosec // WARC readers check this digest; equal payloads are found by SHA-256
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
)

// Digest returns a digest for WARC fields: SHA-1 in base 32. Section 5.8 names no algorithm;
// indexes of archives use this one, and every reader checks it.
func Digest(b []byte) string {
	sum := sha1.Sum(b) //nolint:gosec // as above
	return digestOf(sum[:])
}

func digestOf(sum []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum) }

// Sums are the properties of a block that its header needs.
type Sums struct {
	Length  int64  // of the payload
	Block   string // digest of head and payload
	Payload string // digest of the payload
	// Same is the SHA-256 of the payload, which compares payloads safely even if two have one
	// SHA-1.
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

// namespace distinguishes the IDs of Seine's records from other UUIDs of version 5.
var namespace = [16]byte{0x5e, 0x1e, 0xa2, 0x0c, 0x7b, 0x0d, 0x4c, 0x55, 0x9a, 0x3e, 0x21, 0x0f, 0x6d, 0x17, 0xc4, 0x02}

// ID returns the record ID for these parts: a UUID of version 5 (RFC 9562 5.5), so that a record
// that is written again has the same ID.
func ID(parts ...string) string {
	h := sha1.New() //nolint:gosec // RFC 9562 requires SHA-1
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
