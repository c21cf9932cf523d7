package control

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
	"time"
)

var examplePacket = Packet{7, TimestampOf(time.Unix(0, 250_000_000)), 0x9401}

// Packets as hashlib and OpenSSL make them of the same keys, by RFC 4656, section 4.1.2.
var packets = map[Mode]string{
	Open:          "00000007" + "83aa7e8040000000" + "9401",
	Authenticated: "bcbd97266954f54542a9c967976cb236" + "83aa7e80400000009401000000000000" + "8822af67887557f0a4100bc13760ced3",
	Encrypted:     "bcbd97266954f54542a9c967976cb236" + "a25002a46da58b372695e75caad7d30b" + "c6ffec7ff8478031ae07a47f4583efe8",
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPackets(t *testing.T) {
	id := SID(unhex(t, "2872979303ab47eeac028dab3829dab2"))
	for mode, text := range packets {
		want := unhex(t, text)
		s := NewSealer(mode, exampleKeys, id)
		b := NewPacket(mode, 10)
		padding := bytes.Clone(b[len(b)-10:])
		s.Seal(b, examplePacket)
		if !bytes.Equal(b[:len(b)-10], want) || !bytes.Equal(b[len(b)-10:], padding) {
			t.Errorf("%v:\n%x, want\n%x and the padding", mode, b, want)
		}
		before := bytes.Clone(b)
		if got, err := s.Open(b); err != nil || got != examplePacket || !bytes.Equal(before, b) {
			t.Errorf("%v: opened %+v (%v)", mode, got, err)
		}
	}
}

// What is short, forged or says nothing of its error is no packet.
func TestBadPackets(t *testing.T) {
	id := SID(unhex(t, "2872979303ab47eeac028dab3829dab2"))
	for mode := range packets {
		s := NewSealer(mode, exampleKeys, id)
		b := NewPacket(mode, 0)
		s.Seal(b, examplePacket)
		if _, err := s.Open(b[:len(b)-1]); !errors.Is(err, ErrCut) {
			t.Errorf("%v, cut short: %v", mode, err)
		}
		s.Seal(b, Packet{7, examplePacket.Sent, 0x9400})
		if _, err := s.Open(b); !errors.Is(err, ErrNoError) {
			t.Errorf("%v, multiplier 0: %v", mode, err)
		}
		if mode == Open {
			continue
		}
		s.Seal(b, examplePacket)
		for _, at := range []int{0, 15, fieldsBytes, securedBytes - 1} {
			b[at] ^= 1
			if _, err := s.Open(b); !errors.Is(err, ErrSealed) {
				t.Errorf("%v, byte %d changed: %v", mode, at, err)
			}
			b[at] ^= 1
		}
		other := NewSealer(mode, exampleKeys, SID(unhex(t, "deadbeefdeadbeefdeadbeefdeadbeef")))
		if _, err := other.Open(b); !errors.Is(err, ErrSealed) {
			t.Errorf("%v, of another session: %v", mode, err)
		}
	}
}

func FuzzPacket(f *testing.F) {
	for _, text := range packets {
		b, _ := hex.DecodeString(text)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for mode := range packets {
			if p, err := NewSealer(mode, exampleKeys, SID{}).Open(b); err == nil && (mode != Open || !p.Error.Valid()) {
				t.Errorf("%v: %x is taken for %+v", mode, b, p)
			}
		}
	})
}
