package probe

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/input"
)

// radiusScheme asks an authentication server whether it works (RFC 5997: Status-Server), without asking for anybody. An answer is an
// Access-Accept that the shared secret signs. A server is silent to clients that it does not know, and to other secrets (RFC 2865 section 3).
func radiusScheme() appScheme {
	return appScheme{name: schemeRADIUS, port: 1812, takes: []string{"secret"}, ahead: 104, back: 104,
		remedy:  "a server is silent to whom it does not know and to a wrong secret, and may have to be told to answer Status-Server",
		service: func(p App) (appService, error) { return newRADIUS(p.Secret) }}
}

const schemeRADIUS = "radius"

// Codes and attributes (RFC 2865, RFC 5997).
const (
	radiusAccept     = 2
	radiusReject     = 3
	radiusAccounting = 5 // what the accounting port answers Status-Server with
	radiusStatus     = 12

	radiusAuthenticator = 80 // Message-Authenticator (RFC 3579 section 3.2)

	radiusHeader     = 20
	radiusMost       = 4096
	radiusMostSecret = 256
)

type radiusService struct {
	secret []byte
	last   atomic.Uint32 // identifier
}

// newRADIUS reads the secret, which the file has and nothing else, so that no other file serves as one.
func newRADIUS(path string) (*radiusService, error) {
	text, err := os.ReadFile(path)
	secret := bytes.TrimRight(text, "\r\n")
	switch {
	case err != nil:
		return nil, fmt.Errorf("read secret: %w", err)
	case len(secret) == 0 || len(secret) > radiusMostSecret || bytes.ContainsAny(secret, "\r\n"):
		return nil, &input.Error{Field: "secret", Value: path, Remedy: fmt.Sprintf("write the secret there, in one line of at most %d bytes, and nothing else", radiusMostSecret)}
	}
	return &radiusService{secret: secret}, nil
}

func (s *radiusService) exchange(ctx context.Context, to netip.AddrPort) (appAnswer, error) {
	var authenticator [16]byte
	rand.Read(authenticator[:])
	id := byte(s.last.Add(1))
	var code byte
	unsigned := false
	_, sent, came, err := askDatagram(ctx, to, radiusRequest(id, authenticator, s.secret), func(answer []byte) (is bool) {
		var signed bool
		code, is, signed = radiusAnswer(answer, id, authenticator, s.secret)
		unsigned = unsigned || is && !signed
		return is && signed
	})
	switch {
	case isSilence(err) && unsigned:
		return appAnswer{}, errors.New("what answers signs with another secret")
	case err != nil:
		return appAnswer{}, err
	}
	if code != radiusAccept && code != radiusAccounting {
		return appAnswer{}, fmt.Errorf("the server answers %s", radiusCode(code))
	}
	return appAnswer{rtt: came.Sub(sent), said: radiusCode(code)}, nil
}

func radiusCode(code byte) string {
	switch code {
	case radiusAccept:
		return "Access-Accept"
	case radiusReject:
		return "Access-Reject"
	case radiusAccounting:
		return "Accounting-Response"
	}
	return fmt.Sprintf("code %d", code)
}

// radiusRequest is a Status-Server packet, whose one attribute signs it: HMAC-MD5 over the packet with that attribute's value as zeros.
//
//	 0                   1                   2                   3
//	|    12 (code)   |  Identifier   |           Length (38)        |   0
//	|                  Request Authenticator (128)                  |   4
//	|   80 (type)    |  18 (length)  | Message-Authenticator (128)  |  20
func radiusRequest(id byte, authenticator [16]byte, secret []byte) []byte {
	b := make([]byte, radiusHeader, radiusHeader+2+md5.Size)
	b[0], b[1] = radiusStatus, id
	binary.BigEndian.PutUint16(b[2:], uint16(cap(b)))
	copy(b[4:], authenticator[:])
	b = append(b, radiusAuthenticator, 2+md5.Size)
	b = append(b, make([]byte, md5.Size)...)
	copy(b[radiusHeader+2:], radiusHMAC(b, secret))
	return b
}

func radiusHMAC(packet, secret []byte) []byte {
	h := hmac.New(md5.New, secret)
	h.Write(packet)
	return h.Sum(nil)
}

// radiusAnswer reads a packet. is: it is well formed, and has the request's identifier. signed: its Response Authenticator, and its
// Message-Authenticator if it has one, are of the request and of the secret.
func radiusAnswer(b []byte, id byte, request [16]byte, secret []byte) (code byte, is, signed bool) {
	if len(b) < radiusHeader || b[1] != id {
		return 0, false, false
	}
	length := int(binary.BigEndian.Uint16(b[2:]))
	if length < radiusHeader || length > radiusMost || length > len(b) {
		return 0, false, false
	}
	whole := bytes.Clone(b[:length])
	response := [16]byte(whole[4:])
	copy(whole[4:], request[:]) // both signatures are over the request's authenticator
	sum := md5.Sum(append(bytes.Clone(whole), secret...))
	signed = hmac.Equal(sum[:], response[:])
	for rest := whole[radiusHeader:]; len(rest) > 0; {
		if len(rest) < 2 || rest[1] < 2 || int(rest[1]) > len(rest) {
			return 0, false, false
		}
		value := rest[2:rest[1]]
		if rest[0] == radiusAuthenticator {
			if len(value) != md5.Size {
				return 0, false, false
			}
			told := [md5.Size]byte(value)
			clear(value)
			signed = signed && hmac.Equal(radiusHMAC(whole, secret), told[:])
			copy(value, told[:])
		}
		rest = rest[rest[1]:]
	}
	return whole[0], true, signed
}
