package stamp

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	aProbe = Probe{Sequence: 0x01020304, Sent: 0x0a0b0c0d0e0f1011, Error: 0x8102, Session: 0x1234}
	answer = Answer{Sequence: 7, Answered: 0x2122232425262728, Error: 0x3f01, Arrived: 0x3132333435363738, Probe: aProbe, TTL: 64}
)

// Packets are laid out as RFC 8762 draws them in figures 3 and 5, with the session of RFC 8972 figures 1 and 3.
func TestPackets(t *testing.T) {
	const (
		probeBytes  = "01020304 0a0b0c0d0e0f1011 8102 1234 00000000000000000000000000000000000000000000000000000000"
		answerBytes = "00000007 2122232425262728 3f01 1234 3132333435363738 01020304 0a0b0c0d0e0f1011 8102 0000 40 000000"
	)
	for want, put := range map[string]func([]byte){probeBytes: aProbe.Put, answerBytes: answer.Put} {
		b := []byte(strings.Repeat("x", LeastBytes))
		put(b)
		if got := hex.EncodeToString(b); got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	b := make([]byte, LeastBytes)
	aProbe.Put(b)
	if got, ok := ReadProbe(b); !ok || got != aProbe {
		t.Errorf("read %+v, %v", got, ok)
	}
	answer.Put(b)
	if got, ok := ReadAnswer(b); !ok || got != answer {
		t.Errorf("read %+v, %v", got, ok)
	}
	if _, ok := ReadAnswer(b[:LeastBytes-1]); ok {
		t.Error("a short packet was read")
	}
}

// Each TLV is answered as RFC 8972 section 4 says.
func TestTLVs(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"none":                        {"", ""},
		"padding without TLVs":        {"00000000 0000", "00000000 0000"},
		"random padding":              {"7f112233 4455", "7f112233 4455"},
		"extra padding":               {"80010003 aabbcc", "00010003 aabbcc"},
		"where time comes from":       {"80030004 00000000", "00030004 01020102"},
		"class as it came":            {"80040004 00000000", "00040004 02e80000"},
		"a class that is wanted":      {"80040004 b8000000", "00040004 bae90000"},
		"direct measurement":          {"8005000c 00000009 00000000 00000000", "0005000c 00000009 00000008 00000007"},
		"access report":               {"80060004 10010000", "00060004 10010000"},
		"not known, then known":       {"80630002 aaaa 80010001 ff", "80630002 aaaa 00010001 ff"},
		"a wrong length, then known":  {"80030002 0000 80010001 ff", "40030002 0000 00010001 ff"},
		"longer than the packet":      {"80010004 aabb", "c0010004 aabb"},
		"shorter than a TLV's head":   {"800100", "800100"},
		"padding behind the last TLV": {"80010001 ff 0000", "00010001 ff 0000"},
	} {
		in, err := hex.DecodeString(strings.ReplaceAll(c.in, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		answerTLVs(in, seen{tos: 46<<2 | 2, synchronised: true, came: 8, left: 7})
		if diff := cmp.Diff(strings.ReplaceAll(c.want, " ", ""), hex.EncodeToString(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzTLVs(f *testing.F) {
	f.Add([]byte("\x80\x04\x00\x04\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		about := seen{tos: 46 << 2, came: 3, left: 2}
		answerTLVs(b, about)
		once := bytes.Clone(b)
		if answerTLVs(b, about); !bytes.Equal(once, b) {
			t.Errorf("what is answered is answered once more:\n%x\n%x", once, b)
		}
	})
}
