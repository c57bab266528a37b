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
	if err != nil {
		return nil, err
	}
	e := &encryptor{inner, outer}
	if x, ok := inner.(Indexer); ok {
		return &indexedEncryptor{e, x, f.to}, nil
	}
	return e, nil
}

// encryptor ends the encryption after the encoder.
type encryptor struct {
	Encoder
	outer io.Closer
}

// Unwrap returns the encoder of the plain content.
func (e *encryptor) Unwrap() Encoder { return e.Encoder }

func (e *encryptor) Close() error {
	if err := e.Encoder.Close(); err != nil {
		return err
	}
	return e.outer.Close()
}

// indexedEncryptor is an encryptor of a format with an index. The index would reveal the content,
// so it is encrypted too.
type indexedEncryptor struct {
	*encryptor
	index Indexer
	to    ageencrypt.Recipients
}

// IndexExt implements Indexer.
func (e *indexedEncryptor) IndexExt() string { return e.index.IndexExt() + ageencrypt.Ext }

// WriteIndex implements Indexer. The index refers to the file's name after decryption.
func (e *indexedEncryptor) WriteIndex(w io.Writer, file string) error {
	out, err := e.to.Writer(w)
	if err != nil {
		return err
	}
	if err := e.index.WriteIndex(out, ageencrypt.PlainName(file)); err != nil {
		return err
	}
	return out.Close()
}

type encryptedBody struct {
	Body
	to ageencrypt.Recipients
}

func (b encryptedBody) Ext() string { return b.Body.Ext() + ageencrypt.Ext }

// Type implements Body. It does not reveal the type of the encrypted content.
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
	_ Format  = encrypted{}
	_ Body    = encryptedBody{}
	_ Indexer = (*indexedEncryptor)(nil)
)
