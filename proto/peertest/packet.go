package peertest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/binary"
)

// Packet is a test packet of OWAMP, or of the sender in TWAMP (RFC 4656 section 4.1.2):
//
//	open             Sequence Number (4) | Timestamp (8) | Error Estimate (2) | Padding
//	secure           Sequence Number (4) | MBZ (12) | Timestamp (8) | Error Estimate (2) | MBZ (6) | HMAC (16) | Padding
//
// Authenticated mode encrypts the first 16 octets and has the HMAC over them; encrypted mode has the first 32, in CBC mode with a
// vector of zero. The HMAC itself is not encrypted.
type Packet struct {
	Seq     uint32
	Sent    Timestamp
	Error   ErrorEstimate
	Padding []byte
}

// Encode makes the octets of a packet.
func (p Packet) Encode(mode Mode, keys Keys) []byte {
	if mode.ofPackets() == Open {
		b := make([]byte, 14, 14+len(p.Padding))
		binary.BigEndian.PutUint32(b, p.Seq)
		binary.BigEndian.PutUint64(b[4:], uint64(p.Sent))
		binary.BigEndian.PutUint16(b[12:], uint16(p.Error))
		return append(b, p.Padding...)
	}
	b := make([]byte, 48, 48+len(p.Padding))
	binary.BigEndian.PutUint32(b, p.Seq)
	binary.BigEndian.PutUint64(b[16:], uint64(p.Sent))
	binary.BigEndian.PutUint16(b[24:], uint16(p.Error))
	sealPacket(b, mode, keys)
	return append(b, p.Padding...)
}

// DecodePacket reads a packet, its HMAC and what must be zero.
func DecodePacket(b []byte, mode Mode, keys Keys) (Packet, error) {
	const section = "RFC 4656 section 4.1.2"
	if mode.ofPackets() == Open {
		if len(b) < 14 {
			return Packet{}, violated(section, "a test packet has %d octets, want 14 at least", len(b))
		}
		p := Packet{binary.BigEndian.Uint32(b), Timestamp(binary.BigEndian.Uint64(b[4:])), ErrorEstimate(binary.BigEndian.Uint16(b[12:])), b[14:]}
		return p, p.Error.check()
	}
	if len(b) < 48 {
		return Packet{}, violated(section, "a test packet has %d octets, want 48 at least", len(b))
	}
	head := bytes.Clone(b[:48])
	if err := openPacket(section, head, mode, keys); err != nil {
		return Packet{}, err
	}
	p := Packet{binary.BigEndian.Uint32(head), Timestamp(binary.BigEndian.Uint64(head[16:])),
		ErrorEstimate(binary.BigEndian.Uint16(head[24:])), b[48:]}
	return p, first(p.Error.check(), zero(section, "MBZ after Sequence Number", head[4:16]), zero(section, "MBZ after Error Estimate", head[26:32]))
}

// covered is how much of a packet is encrypted and counted into its HMAC: one block, or all before the HMAC.
func covered(b []byte, mode Mode) []byte {
	if mode.ofPackets() == Authenticated {
		return b[:16]
	}
	return b[:len(b)-16]
}

// sealPacket sets the HMAC in the last 16 octets of a packet without its padding, and encrypts the packet.
func sealPacket(b []byte, mode Mode, keys Keys) {
	plain := covered(b, mode)
	copy(b[len(b)-16:], packetHMAC(plain, keys))
	block, err := aes.NewCipher(keys.AES[:])
	if err != nil {
		panic(err) // a key of 16 octets is always valid
	}
	cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(plain, plain) // of one block, that is the mode ECB
}

// openPacket decrypts a packet without its padding in its place, and checks its HMAC.
func openPacket(section string, b []byte, mode Mode, keys Keys) error {
	block, err := aes.NewCipher(keys.AES[:])
	if err != nil {
		return err
	}
	sealed := covered(b, mode)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(sealed, sealed)
	if got, want := b[len(b)-16:], packetHMAC(sealed, keys); !bytes.Equal(got, want) {
		return violated(section, "the HMAC of a test packet is % x, want % x", got, want)
	}
	return nil
}

func packetHMAC(plain []byte, keys Keys) []byte {
	mac := hmac.New(sha1.New, keys.HMAC[:])
	mac.Write(plain)
	return mac.Sum(nil)[:16]
}
