package control

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"fmt"
)

// Keys are those of one connection, which its client draws. The test packets of its sessions have others, made of these.
type Keys struct {
	AES  [16]byte
	HMAC [32]byte
}

// ForSession makes the keys of a session's test packets of those of its connection (RFC 4656, section 4.1.2): each encrypted with the session's
// ID as the key, the AES key as one block, the HMAC key in CBC.
func (k Keys) ForSession(id SID) Keys {
	by := Cipher(id)
	by.Encrypt(k.AES[:], k.AES[:])
	cipher.NewCBCEncrypter(by, make([]byte, BlockBytes)).CryptBlocks(k.HMAC[:], k.HMAC[:])
	return k
}

// DeriveKey makes the key of a token of a secret: PBKDF2 with HMAC-SHA1 (RFC 8018), by the salt and the count of a greeting.
func DeriveKey(secret, salt []byte, count uint32) ([16]byte, error) {
	key, err := pbkdf2.Key(sha1.New, string(secret), salt, int(count), 16)
	if err != nil {
		return [16]byte{}, fmt.Errorf("derive key: %w", err)
	}
	return [16]byte(key), nil
}

// token is what a client shows of its secret.
//
//	 0  challenge of the greeting (16)
//	16  AES key of the connection (16)
//	32  HMAC key of the connection (32)
//
// all of it encrypted in AES-CBC from an IV of zeros.
type token struct {
	challenge [16]byte
	keys      Keys
}

func (t token) seal(key [16]byte) (sealed [tokenBytes]byte) {
	copy(sealed[:], t.challenge[:])
	copy(sealed[16:], t.keys.AES[:])
	copy(sealed[32:], t.keys.HMAC[:])
	cipher.NewCBCEncrypter(Cipher(key), make([]byte, BlockBytes)).CryptBlocks(sealed[:], sealed[:])
	return sealed
}

func openToken(sealed [tokenBytes]byte, key [16]byte) token {
	cipher.NewCBCDecrypter(Cipher(key), make([]byte, BlockBytes)).CryptBlocks(sealed[:], sealed[:])
	return token{[16]byte(sealed[:]), Keys{[16]byte(sealed[16:]), [32]byte(sealed[32:])}}
}

// Cipher is AES with a key of 16 bytes, which every key of these protocols has.
func Cipher(key [16]byte) cipher.Block {
	block, err := aes.NewCipher(key[:])
	if err != nil { // of another length
		panic(err)
	}
	return block
}
