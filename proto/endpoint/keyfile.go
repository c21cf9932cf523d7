package endpoint

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/control"
)

// Keys are pass phrases by the key ID that names them.
type Keys map[string][]byte

// Limits of a key file: more than any site has, and less than would fill a memory.
const (
	mostKeys    = 10_000
	mostKeyLine = 4096
)

// ReadKeys reads a key file as the deployed server's (owamp-server.pfs) and its program pfstore have it: a key ID and a pass phrase in
// hexadecimal on each line, with white space between them. Empty lines and those that begin with # are passed over.
func ReadKeys(r io.Reader) (Keys, error) {
	keys := Keys{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostKeyLine)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, input.Errorf("key file, line %d: %d words, want a key ID and its pass phrase in hexadecimal", n, len(fields))
		}
		phrase, err := hex.DecodeString(fields[1])
		switch {
		case err != nil || len(phrase) == 0:
			return nil, input.Errorf("key file, line %d: the pass phrase of %q is not in hexadecimal", n, fields[0])
		case control.CheckKeyID(fields[0]) != nil:
			return nil, input.Errorf("key file, line %d: %v", n, control.CheckKeyID(fields[0]))
		case keys[fields[0]] != nil:
			return nil, input.Errorf("key file, line %d: %q is there twice", n, fields[0])
		case len(keys) == mostKeys:
			return nil, input.Errorf("key file, line %d: want at most %d keys", n, mostKeys)
		}
		keys[fields[0]] = phrase
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	return keys, nil
}

// RunKeyID is the key ID of the secret of a run, to a server that is open for that run alone.
const RunKeyID = "pathwise-run"

// CheckSecret says what is wrong with a pass phrase that a run is let in by: PBKDF2 does not make a short one safe from guesses.
func CheckSecret(secret string) error {
	if len(secret) < leastSecret {
		return input.Errorf("secret: %d characters, want %d at least", len(secret), leastSecret)
	}
	return nil
}

// leastSecret has 80 bits where it is drawn of lower-case letters and digits.
const leastSecret = 16
