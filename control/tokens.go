package control

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/durable"
)

// tokensFolder in the controller's folder has a file for each token, under its name: the SHA-256 of it in hexadecimal. A
// token has 128 random bits and more, so that a plain hash of it tells nothing.
const tokensFolder = "tokens"

// ErrUnknownToken says that there is no token of a name, or none of that text.
var ErrUnknownToken = errors.New("no such token")

// nameError is config's complaint about a name, as the user's to mend.
type nameError struct{ error }

func (nameError) BadInput() bool  { return true }
func (e nameError) Unwrap() error { return e.error }

// NewToken makes the token of a name, in place of one that there was, in a controller's folder, and returns it: it is kept
// nowhere. A controller that runs knows it at once.
func NewToken(data, name string) (token string, err error) {
	if err := config.CheckName(name); err != nil {
		return "", nameError{fmt.Errorf("name of token: %w", err)}
	}
	folder := filepath.Join(data, tokensFolder)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make token: %w", err)
	}
	token = rand.Text()
	// Its draft's name begins with a dot, as no token's may.
	if err := durable.Write(filepath.Join(folder, name), []byte(hashOf(token)+"\n")); err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	return token, nil
}

// RevokeToken takes a token away; ErrUnknownToken: there is none of that name.
func RevokeToken(data, name string) error {
	if err := config.CheckName(name); err != nil {
		return nameError{fmt.Errorf("name of token: %w", err)}
	}
	err := os.Remove(filepath.Join(data, tokensFolder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("revoke %s: %w", name, ErrUnknownToken)
	} else if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	return nil
}

// TokenNames returns the names of all tokens of a controller's folder, sorted.
func TokenNames(data string) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(data, tokensFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	var names []string
	for _, f := range files {
		if config.CheckName(f.Name()) == nil {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// TokenName returns the name of a token; ErrUnknownToken: it is none.
func (c *Control) TokenName(token string) (string, error) {
	names, err := TokenNames(c.config.Data)
	if err != nil {
		return "", err
	}
	hash := []byte(hashOf(token))
	unread := ErrUnknownToken
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(c.config.Data, tokensFolder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // one that was revoked just now
			unread = fmt.Errorf("read tokens: %w", err)
		}
		if subtle.ConstantTimeCompare(hash, []byte(strings.TrimSpace(string(text)))) == 1 {
			return name, nil
		}
	}
	return "", unread
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
