package iperf3

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A client that has to authenticate (iperf_auth.c) puts a token among its parameters: this text, encrypted by RSA with the server's public
// key and written in base64. Servers from 3.17 on want OAEP padding (SHA-1, no label), older ones that of PKCS #1 v1.5.
//
//	user: NAME
//	pwd:  PASSWORD
//	ts:   seconds since 1970
const tokenFormat = "user: %s\npwd:  %s\nts:   %d"

// ClientAuth is who a client says that it is.
type ClientAuth struct {
	Username, Password string
	Key                *rsa.PublicKey // of the server
	PKCS1              bool           // padding as iperf3 before 3.17 wants it
}

// token encrypts them with the time.
func (a *ClientAuth) token(now time.Time) (string, error) {
	text := fmt.Appendf(nil, tokenFormat, a.Username, a.Password, now.Unix())
	var sealed []byte
	var err error
	if a.PKCS1 {
		//lint:ignore SA1019 servers before 3.17 know no other padding
		sealed, err = rsa.EncryptPKCS1v15(rand.Reader, a.Key, text)
	} else {
		sealed, err = rsa.EncryptOAEP(sha1.New(), rand.Reader, a.Key, text, nil)
	}
	if errors.Is(err, rsa.ErrMessageTooLong) {
		return "", badConfig("username", strconv.Quote(a.Username), "with the password it is too long for the server's key")
	}
	if err != nil {
		return "", fmt.Errorf("encrypt credentials: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sealed), nil
}

func (a *ClientAuth) validate() error {
	switch {
	case a.Key == nil:
		return badConfig("public key", "none", "give the server's RSA public key")
	case a.Username == "" || strings.ContainsAny(a.Username, "\n,"):
		return badConfig("username", strconv.Quote(a.Username), "must be a name without commas and line ends")
	case a.Password == "" || strings.Contains(a.Password, "\n"):
		return badConfig("password", "given", "must not be empty, nor have line ends")
	}
	return nil
}

// ServerAuth is whom a server lets test. It may be used by several goroutines.
type ServerAuth struct {
	Key   *rsa.PrivateKey
	Users map[string][sha256.Size]byte // see ReadUsers
	Skew  time.Duration                // how far the client's clock may be from this one's; 0: 10 s, as iperf3

	mu   sync.Mutex
	used map[[sha256.Size]byte]time.Time // tokens that were shown, until they are too old: none counts twice
}

const defaultSkew = 10 * time.Second

// admits reports whether a token is of a user, fresh and new. Both paddings are tried, whatever came of the first, so that neither the answer nor its time
// tells which of the two was right.
func (a *ServerAuth) admits(token string, now time.Time) bool {
	sealed, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(token, "\n", ""))
	if err != nil || len(sealed) != a.Key.Size() {
		return false
	}
	oaep, oaepErr := rsa.DecryptOAEP(sha1.New(), nil, a.Key, sealed, nil)
	//lint:ignore SA1019 clients before 3.17 know no other padding, and an answer does not say whether it was right
	pkcs1, pkcs1Err := rsa.DecryptPKCS1v15(nil, a.Key, sealed)
	known := false
	for _, one := range []struct {
		text []byte
		err  error
	}{{oaep, oaepErr}, {pkcs1, pkcs1Err}} {
		known = one.err == nil && a.knows(string(one.text), now) || known
	}
	return known && a.isNew(sha256.Sum256(sealed), now)
}

// knows reports whether the text of a token is of a user, and fresh.
func (a *ServerAuth) knows(text string, now time.Time) bool {
	var fields [3]string
	for i, name := range [3]string{"user: ", "pwd:  ", "ts:   "} {
		line, rest, _ := strings.Cut(text, "\n")
		value, is := strings.CutPrefix(line, name)
		if !is {
			return false
		}
		fields[i], text = value, rest
	}
	seconds, err := strconv.ParseInt(strings.TrimRight(fields[2], "\x00"), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > a.skew() {
		return false
	}
	want, is := a.Users[fields[0]]
	have := passwordHash(fields[0], fields[1])
	return subtle.ConstantTimeCompare(want[:], have[:]) == 1 && is
}

func (a *ServerAuth) skew() time.Duration { return orDefault(a.Skew, defaultSkew) }

// isNew notes a token, and reports whether it was not shown before. One that is older than twice the skew is refused for its time.
func (a *ServerAuth) isNew(token [sha256.Size]byte, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for t, at := range a.used {
		if now.Sub(at).Abs() > 2*a.skew()+time.Second {
			delete(a.used, t)
		}
	}
	if _, shown := a.used[token]; shown {
		return false
	}
	if a.used == nil {
		a.used = map[[sha256.Size]byte]time.Time{}
	}
	a.used[token] = now
	return true
}

// passwordHash is what a file of users holds: of "{NAME}PASSWORD".
func passwordHash(name, password string) [sha256.Size]byte {
	return sha256.Sum256([]byte("{" + name + "}" + password))
}

// maxUsers bounds a file of users.
const maxUsers = 100_000

// ReadUsers reads a file of users as iperf3 has it: a line each of a name, a comma, and the SHA-256 of "{NAME}PASSWORD" in hexadecimal. Empty lines
// and those that begin with # are passed over.
func ReadUsers(r io.Reader) (map[string][sha256.Size]byte, error) {
	users := map[string][sha256.Size]byte{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, hash, _ := strings.Cut(line, ",")
		sum, err := hex.DecodeString(strings.TrimSpace(hash))
		if name == "" || err != nil || len(sum) != sha256.Size || len(users) == maxUsers {
			return nil, badConfig("users", fmt.Sprintf("line %d", n), "want NAME,SHA256 with the SHA-256 of {NAME}PASSWORD in hexadecimal, for "+
				strconv.Itoa(maxUsers)+" users at most")
		}
		users[name] = [sha256.Size]byte(sum)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	return users, nil
}

// ReadPublicKey reads an RSA public key in PEM.
func ReadPublicKey(text []byte) (*rsa.PublicKey, error) {
	if block, _ := pem.Decode(text); block != nil {
		if key, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
			if key, is := key.(*rsa.PublicKey); is {
				return key, nil
			}
		}
		if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
			return key, nil
		}
	}
	return nil, badConfig("public key", "given", "want an RSA public key in PEM, such as `openssl rsa -in KEY -pubout` prints")
}

// ReadPrivateKey reads an RSA private key in PEM that no pass phrase protects.
func ReadPrivateKey(text []byte) (*rsa.PrivateKey, error) {
	if block, _ := pem.Decode(text); block != nil {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, is := key.(*rsa.PrivateKey); is {
				return key, nil
			}
		}
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
	}
	return nil, badConfig("private key", "given", "want an RSA private key in PEM without a pass phrase, such as `openssl genrsa 2048` prints")
}
