package account

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// cost is what one argon2id takes: passes over memory, which it fills in lanes that can be computed side by side.
type cost struct {
	kib    uint32
	passes uint32
	lanes  uint8
}

// usualCost is the second recommendation of RFC 9106, section 4, for where there is not 2 GiB to spare (64 MiB, 3
// passes), but in one lane instead of four. What guessing costs an attacker is memory times passes; lanes only shorten
// the wait where processors are idle, and a controller of two must go on measuring on the other one.
var usualCost = cost{kib: 64 << 10, passes: 3, lanes: 1}

const (
	saltBytes = 16 // RFC 9106, section 4
	keyBytes  = 32 // RFC 9106, section 4
)

// The most that a stored hash may ask for: a file that somebody spoilt must not take the machine.
const (
	mostKiB    = 1 << 20
	mostPasses = 100
	mostLanes  = 16
	mostSalt   = 64
	mostKey    = 64
)

// hash is a password's, as the Password Hashing Competition writes it:
//
//	$argon2id$v=19$m=65536,t=3,p=1$SALT$KEY      salt and key in base64 without padding
type hash struct {
	cost
	salt, key []byte
}

func newHash(random io.Reader, c cost, password string) (hash, error) {
	h := hash{cost: c, salt: make([]byte, saltBytes), key: make([]byte, keyBytes)}
	if _, err := io.ReadFull(random, h.salt); err != nil {
		return hash{}, fmt.Errorf("draw a salt: %w", err)
	}
	h.key = h.derive(password)
	return h, nil
}

// newDummy is the hash of no password, which takes as long as one of a password.
func newDummy(random io.Reader, c cost) (hash, error) {
	h := hash{cost: c, salt: make([]byte, saltBytes), key: make([]byte, keyBytes)}
	_, err := io.ReadFull(random, h.salt)
	if err == nil {
		_, err = io.ReadFull(random, h.key)
	}
	return h, err
}

func (h hash) derive(password string) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.passes, h.kib, h.lanes, uint32(len(h.key)))
}

func (h hash) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.derive(password), h.key) == 1
}

func (h hash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, h.kib, h.passes, h.lanes, b64(h.salt), b64(h.key))
}

// none says that this is no hash at all: of an account that has no password yet.
func (h hash) none() bool { return h.key == nil }

func (h hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

func (h *hash) UnmarshalText(text []byte) (err error) {
	*h, err = parseHash(string(text))
	return err
}

var errHash = errors.New("want a hash of the form $argon2id$v=19$m=65536,t=3,p=1$salt$key")

// parseHash reads what String writes, and nothing else.
func parseHash(text string) (hash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return hash{}, errHash
	}
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return hash{}, errHash
	}
	m, mErr := costOf(costs[0], "m=", mostKiB)
	t, tErr := costOf(costs[1], "t=", mostPasses)
	p, pErr := costOf(costs[2], "p=", mostLanes)
	salt, saltErr := bytesOf(parts[4], mostSalt)
	key, keyErr := bytesOf(parts[5], mostKey)
	if err := errors.Join(mErr, tErr, pErr, saltErr, keyErr); err != nil {
		return hash{}, err
	}
	if m < 8*p { // RFC 9106, section 3.1
		return hash{}, fmt.Errorf("%d KiB in %d lanes: want 8 KiB or more for each", m, p)
	}
	return hash{cost{kib: m, passes: t, lanes: uint8(p)}, salt, key}, nil
}

func costOf(text, key string, most uint64) (uint32, error) {
	digits, ok := strings.CutPrefix(text, key)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || n < 1 || n > most || strconv.FormatUint(n, 10) != digits {
		return 0, fmt.Errorf("%q: want %s1 to %d", text, key, most)
	}
	return uint32(n), nil
}

// bytesOf reads what is long enough to be a salt or a key (RFC 9106, section 3.1, asks for 8 and 4 bytes or more).
func bytesOf(text string, most int) ([]byte, error) {
	b, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 8 || len(b) > most || base64.RawStdEncoding.EncodeToString(b) != text {
		return nil, fmt.Errorf("want 8 to %d bytes in base64 without padding", most)
	}
	return b, nil
}
