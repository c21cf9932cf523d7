package host

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/sha256"
	"hash/crc32"
	"slices"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// cipherTime is how long each cipher is tried: long enough for a hundred blocks on a slow core, and short for who waits.
const cipherTime = 30 * time.Millisecond

// digest is what proves a file, and encrypts nothing.
const digest = "sha-256"

// digests are what prove a file: each is tried beside the ciphers.
var digests = []string{digest, "md5", "crc32c"}

// FastestCipher is the rate of the fastest cipher among those that were tried, in bit/s; 0 where none was.
func FastestCipher(all []CipherRate) (rate float64) {
	for _, c := range all {
		if !slices.Contains(digests, c.Name) {
			rate = max(rate, c.Rate)
		}
	}
	return rate
}

// cipherRates are how fast one core does what secure transfers do to each byte, by the processor time that it takes: what else runs does
// not matter. now is that time, of the calling thread.
func cipherRates(now func() time.Duration) []CipherRate {
	t := trial{now: now, each: cipherTime}
	t.seal("aes-128-gcm", newGCM)
	t.seal("chacha20-poly1305", newChaCha)
	t.digest(digest, func(b []byte) { sha256.Sum256(b) })
	return t.all
}

// transferTime is how long each of the following is tried: five of them take a second.
const transferTime = 200 * time.Millisecond

// transferRates are those of cipherRates, tried longer, and of the digests that programs prove copies with: MD5 (md5sum, rsync, and object stores) and
// CRC32C (RFC 7143 appendix A, iSCSI; object stores).
func transferRates(now func() time.Duration) []CipherRate {
	t := trial{now: now, each: transferTime}
	t.seal("aes-128-gcm", newGCM)
	t.seal("chacha20-poly1305", newChaCha)
	t.digest(digest, func(b []byte) { sha256.Sum256(b) })
	t.digest("md5", func(b []byte) { md5.Sum(b) })
	table := crc32.MakeTable(crc32.Castagnoli)
	t.digest("crc32c", func(b []byte) { crc32.Checksum(b, table) })
	return t.all
}

// trial tries one thing after another, each for as long, on records of TLS.
type trial struct {
	now  func() time.Duration
	each time.Duration
	all  []CipherRate
}

const (
	record    = 16 << 10 // of TLS (RFC 8446 section 5.1)
	nonceSize = 12       // of both ciphers (RFC 8446 section 5.3)
)

func newGCM() (cipher.AEAD, error) {
	b, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(b)
}

func newChaCha() (cipher.AEAD, error) {
	return chacha20poly1305.New(make([]byte, chacha20poly1305.KeySize))
}

// seal tries a cipher, unless this program is run so that it refuses it.
func (t *trial) seal(name string, open func() (cipher.AEAD, error)) {
	c, err := open()
	if err != nil {
		return
	}
	nonce, sealed := make([]byte, nonceSize), make([]byte, 0, record+c.Overhead())
	t.digest(name, func(b []byte) { c.Seal(sealed, nonce, b, nil) })
}

func (t *trial) digest(name string, do func([]byte)) {
	const bits = 8
	block := make([]byte, record)
	began, bytes := t.now(), 0
	for t.now()-began < t.each {
		do(block)
		bytes += len(block)
	}
	t.all = append(t.all, CipherRate{Name: name, Rate: bits * float64(bytes) / (t.now() - began).Seconds()})
}
