package format

import (
	"io"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
)

// Encrypted returns a format whose chunks only the recipients can read.
func Encrypted(f Format, to ageencrypt.Recipients) Format { return encrypted{f, to} }

// EncryptedBody is Encrypted for objects.
func EncryptedBody(b Body, to ageencrypt.Recipients) Body { return encryptedBody{b, to} }

type encrypted struct {
	Format
	to ageencrypt.Recipients
}

func (f encrypted) Ext() string { return f.Format.Ext() + ageencrypt.Ext }

func (f encrypted) NewEncoder(w io.Writer, g output.Group) (Encoder, error) {
	outer, err := f.to.Writer(w)
	if err != nil {
		return nil, err
	}
	inner, err := f.Format.NewEncoder(outer, g)
	return &encryptor{inner, outer}, err
}

// encryptor ends the encryption after the encoder.
type encryptor struct {
	Encoder
	outer io.Closer
}

// Unwrap returns the encoder of what is encrypted. An index of it would tell what
// is in it, so there is none.
func (e *encryptor) Unwrap() Encoder { return e.Encoder }

func (e *encryptor) Close() error {
	if err := e.Encoder.Close(); err != nil {
		return err
	}
	return e.outer.Close()
}

type encryptedBody struct {
	Body
	to ageencrypt.Recipients
}

func (b encryptedBody) Ext() string { return b.Body.Ext() + ageencrypt.Ext }

// Type implements Body. That of what is encrypted is not told.
func (b encryptedBody) Type(*Record) string { return AnyType }

func (b encryptedBody) Write(w io.Writer, r *Record) error {
	outer, err := b.to.Writer(w)
	if err != nil {
		return err
	}
	if err := b.Body.Write(outer, r); err != nil {
		return err
	}
	return outer.Close()
}

var (
	_ Format = encrypted{}
	_ Body   = encryptedBody{}
)
