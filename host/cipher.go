package host

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// cipherTime is how long each cipher is tried: long enough for a hundred blocks on a slow core, and short for who waits.
const cipherTime = 30 * time.Millisecond

// digest is what proves a file, and encrypts nothing.
const digest = "sha-256"

// FastestCipher is the rate of the fastest cipher among those that were tried, in bit/s; 0 where none was.
func FastestCipher(all []CipherRate) (rate float64) {
	for _, c := range all {
		if c.Name != digest {
			rate = max(rate, c.Rate)
		}
	}
	return rate
}

// cipherRates are how fast one core does what secure transfers do to each byte, by the processor time that it takes: what else runs does
// not matter. now is that time, of the calling thread.
func cipherRates(now func() time.Duration) []CipherRate {
	const keySize, nonceSize = 16, 12 // of AES-128-GCM (RFC 8446 section 5.3)
	block := make([]byte, 16<<10)     // a record of TLS (RFC 8446 section 5.1)
	nonce, sealed := make([]byte, nonceSize), make([]byte, 0, len(block)+64)
	var all []CipherRate
	try := func(name string, do func()) {
		const bits = 8
		began, bytes := now(), 0
		for now()-began < cipherTime {
			do()
			bytes += len(block)
		}
		all = append(all, CipherRate{Name: name, Rate: bits * float64(bytes) / (now() - began).Seconds()})
	}
	if b, err := aes.NewCipher(make([]byte, keySize)); err == nil {
		if gcm, err := cipher.NewGCM(b); err == nil {
			try("aes-128-gcm", func() { gcm.Seal(sealed, nonce, block, nil) })
		}
	}
	if c, err := chacha20poly1305.New(make([]byte, chacha20poly1305.KeySize)); err == nil {
		try("chacha20-poly1305", func() { c.Seal(sealed, nonce, block, nil) })
	}
	try(digest, func() { sha256.Sum256(block) })
	return all
}
