package account

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

const (
	// secretBytes is the length of the secret of a session, an invitation or a token: 256 bits, which nobody guesses, so that
	// a plain hash of it tells nothing and need not be slow.
	secretBytes = 32
	// longestSecret is longer than any secret that was given out: what is longer still is not even hashed.
	longestSecret = 128
	// tokenPrefix is what tokens begin with, so that people and programs that search for leaks know one when they see it.
	tokenPrefix = "pathwise_"
)

// newSecret draws the text of a session, an invitation or a token.
func newSecret(random io.Reader) (string, error) {
	var b [secretBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw a secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// digest is the SHA-256 of a secret, which is all that is kept of it. That a secret is found by its digest in a map is no
// leak: nobody can choose digests whose first bytes are right.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("digest of %d characters, want %d", len(text), 2*len(d))
	}
	_, err := hex.Decode(d[:], text)
	return err
}
