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

// Each TLV is answered as RFC 8972 section 4 says, and the answer leaves with the DSCP that it is asked for where that is allowed.
func TestTLVs(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		how      leaving
	}{
		"none":                            {"", "", leaving{}},
		"padding without TLVs":            {"00000000 0000", "00000000 0000", leaving{}},
		"random padding":                  {"7f112233 4455", "7f112233 4455", leaving{}},
		"extra padding":                   {"80010003 aabbcc", "00010003 aabbcc", leaving{}},
		"where time comes from":           {"80030004 00000000", "00030004 01020102", leaving{}},
		"class as it came":                {"80040004 00000000", "00040004 02e80000", leaving{}},
		"the class that it came in":       {"80040004 b8000000", "00040004 bae80000", leaving{tos: 46 << 2}},
		"a class that is allowed":         {"80040004 28000000", "00040004 2ae80000", leaving{tos: 10 << 2}},
		"a class that is not allowed":     {"80040004 c0000000", "00040004 c2e90000", leaving{tos: 46 << 2}},
		"direct measurement":              {"8005000c 00000009 00000000 00000000", "0005000c 00000009 00000008 00000007", leaving{}},
		"access report":                   {"80060004 10010000", "00060004 10010000", leaving{}},
		"access report of no network":     {"80060004 30010000", "80060004 30010000", leaving{}},
		"not known, then known":           {"80630002 aaaa 80010001 ff", "80630002 aaaa 00010001 ff", leaving{}},
		"a wrong length stops what comes": {"80030002 0000 80010001 ff", "40030002 0000 80010001 ff", leaving{}},
		"longer than the packet":          {"80010004 aabb", "40010004 aabb", leaving{}},
		"not known and too long":          {"80630004 aabb", "c0630004 aabb", leaving{}},
		"flags of the sender":             {"ff010001 ff", "00010001 ff", leaving{}},
		"an HMAC that nobody can check":   {"80010001 ff 80080010" + strings.Repeat("0", 32), "20010001 ff 20080010" + strings.Repeat("0", 32), leaving{}},
		"shorter than a TLV's head":       {"800100", "800100", leaving{}},
		"padding behind the last TLV":     {"80010001 ff 0000", "00010001 ff 0000", leaving{}},
		"follow-up":                       {"80070010" + strings.Repeat("ff", 16), "00070010 00000006 ebd3f8cc 80000000 02000000", leaving{stamped: true}},
		"follow-up of a wrong length":     {"80070004 01020304", "40070004 00000000", leaving{}},
	} {
		in := unhex(t, c.in)
		about := seen{tos: 46<<2 | 2, marks: []int{10}, synchronised: true, counted: true, came: 8, left: 7,
			before: FollowUp{6, 0xebd3f8cc80000000, stampedByKernel}}
		how := NewSealer(nil).answerTLVs(make([]byte, LeastBytes), 0, in, about)
		if diff := cmp.Diff(strings.ReplaceAll(c.want, " ", ""), hex.EncodeToString(in)); diff != "" || how != c.how {
			t.Errorf("%s: leaves with %+v, want %+v (-want +got):\n%s", name, how, c.how, diff)
		}
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A reflector that counts nothing says so, and that it does not know when an answer left.
func TestNotCounted(t *testing.T) {
	for in, want := range map[string]string{
		"8005000c 00000009 00000000 00000000":      "8005000c 00000009 00000000 00000000",
		"80070010" + strings.Repeat("ff000000", 4): "00070010" + strings.Repeat("00000000", 4),
	} {
		b := unhex(t, in)
		how := NewSealer(nil).answerTLVs(make([]byte, LeastBytes), 0, b, seen{})
		if !bytes.Equal(b, unhex(t, want)) || how.stamped {
			t.Errorf("%s is answered by %x, want %s; stamped: %v", in, b, want, how.stamped)
		}
	}
}

// What values hold is written and read again, and those of another length are not.
func TestValues(t *testing.T) {
	counters, follow := Counters{1, 2, 3}, FollowUp{7, 0x0102030405060708, stampedByHardware}
	b, c := make([]byte, CountersBytes), make([]byte, FollowUpBytes)
	counters.Put(b)
	follow.Put(c)
	if got, ok := ReadCounters(b); got != counters || !ok {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := ReadFollowUp(c); got != follow || !ok || !got.Stamped() || (FollowUp{Left: 1, Method: 3}).Stamped() || (FollowUp{Method: 2}).Stamped() {
		t.Errorf("%+v, %v", got, ok)
	}
	_, counts := ReadCounters(c)
	if _, follows := ReadFollowUp(b); counts || follows {
		t.Error("values of another length are read")
	}
}

func FuzzTLVs(f *testing.F) {
	for _, text := range []string{"8004000400000000", "800300040000000080060004100100008008001000112233445566778899aabbccddeeff80010001ff", "80030002", "8005000c", "80070010000000000000000000000000", "800700020000"} {
		b, _ := hex.DecodeString(text)
		f.Add(b, false)
		f.Add(b, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, secured bool) {
		s := NewSealer(nil)
		if secured {
			s = NewSealer(exampleKey)
		}
		about := seen{tos: 46 << 2, counted: true, came: 3, left: 2}
		packet := make([]byte, s.LeastBytes(), s.LeastBytes()+len(b))
		packet = append(packet, b...)
		s.SealProbe(packet, aProbe)
		tlvs := bytes.Clone(packet[s.LeastBytes():])
		s.answerTLVs(packet, 9, tlvs, about)
		if len(tlvs) != len(b) {
			t.Errorf("%d bytes behind the packet are answered by %d", len(b), len(tlvs))
		}
		_, _ = s.OpenTLVs(append(packet[:s.LeastBytes()], tlvs...))
	})
}
