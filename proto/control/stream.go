package control

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// ErrForged is a digest that is not that of what came: it was not sent by who has the keys, or was changed on its way.
var ErrForged = errors.New("message was changed on its way, or is of another sender: its HMAC is wrong")

// Writer is one direction of a connection, at its sender. One goroutine uses it.
//
//	add, add, digest    ->   | plain text ... | HMAC (16) |   all of it in the one AES-CBC chain of the direction
type Writer struct {
	to    io.Writer
	bytes []byte // plain, of what is added and not yet written
	chain cipher.BlockMode
	mac   hash.Hash // nil: open mode
}

// Add appends to what the next Flush writes, and fills the last block with zeros.
func (w *Writer) Add(b []byte) {
	from := len(w.bytes)
	w.bytes = append(w.bytes, b...)
	w.bytes = append(w.bytes, make([]byte, -len(b)&(BlockBytes-1))...)
	if w.mac != nil {
		w.mac.Write(w.bytes[from:])
	}
}

// Digest appends the digest of all that was added since the last; the next begins anew.
func (w *Writer) Digest() {
	digest := make([]byte, BlockBytes)
	if w.mac != nil {
		copy(digest, w.mac.Sum(nil))
		w.mac.Reset()
	}
	w.bytes = append(w.bytes, digest...)
}

// Flush encrypts and writes what was added.
func (w *Writer) Flush() error { return w.flushBehind(nil) }

// flushBehind encrypts what was added, and writes it behind bytes that stay clear, in one piece: there are readers that take a segment for a message.
func (w *Writer) flushBehind(clear []byte) error {
	if w.chain != nil {
		w.chain.CryptBlocks(w.bytes, w.bytes)
	}
	_, err := w.to.Write(slices.Concat(clear, w.bytes))
	w.bytes = w.bytes[:0]
	return err
}

// Send writes one message: what it consists of, and its digest.
func (w *Writer) Send(message []byte) error {
	w.Add(message)
	w.Digest()
	return w.Flush()
}

// Reader is one direction of a connection, at its receiver. One goroutine uses it.
type Reader struct {
	from  io.Reader
	chain cipher.BlockMode
	mac   hash.Hash // nil: open mode
}

// Read fills b, which is whole blocks, with plain text. What it holds may be forged until Verify was called.
func (r *Reader) Read(b []byte) error {
	if len(b)%BlockBytes != 0 {
		return fmt.Errorf("read %d bytes: they are no whole blocks", len(b))
	}
	if _, err := io.ReadFull(r.from, b); err != nil {
		return err
	}
	if r.mac != nil {
		r.chain.CryptBlocks(b, b)
		r.mac.Write(b)
	}
	return nil
}

// Verify reads a digest, and returns ErrForged if it is not that of what was read since the last.
func (r *Reader) Verify() error {
	var digest [BlockBytes]byte
	if _, err := io.ReadFull(r.from, digest[:]); err != nil {
		return err
	}
	if r.mac == nil {
		return nil
	}
	r.chain.CryptBlocks(digest[:], digest[:])
	want := r.mac.Sum(nil)[:BlockBytes]
	r.mac.Reset()
	if !hmac.Equal(want, digest[:]) {
		return ErrForged
	}
	return nil
}

// Receive reads one message, which fills b, and its digest.
func (r *Reader) Receive(b []byte) error {
	if err := r.Read(b); err != nil {
		return err
	}
	return r.Verify()
}

func (w *Writer) secure(k Keys, iv [16]byte) {
	w.chain = cipher.NewCBCEncrypter(Cipher(k.AES), iv[:])
	w.mac = hmac.New(sha1.New, k.HMAC[:])
}

func (r *Reader) secure(k Keys, iv [16]byte) {
	r.chain = cipher.NewCBCDecrypter(Cipher(k.AES), iv[:])
	r.mac = hmac.New(sha1.New, k.HMAC[:])
}
