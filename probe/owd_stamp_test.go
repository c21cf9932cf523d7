package probe

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// unhex reads bytes that are written in groups.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Packets have the layout of RFC 8762, and answers of it are read, with time stamps of NTP and of PTP; what answers no packet of ours is not.
func TestSTAMPPackets(t *testing.T) {
	p := OWD{Target: "a", Rand: rand.New(rand.NewPCG(1, 1))}.withDefaults()
	s := newStampPackets(p.Rand, p.Size, measure.NewClock(time.Second, true), nil, owdAsks())
	at := time.Unix(1_000_000_000, 500_000_000) // 0xbf454880 s after 1900 began
	s.packet(0, at)
	packet := s.packet(1, at)
	const zeros = "00000000 00000000"
	want := unhex(t, "00000001 bf454880 80000000 9980") // S, scale 25, multiplier 128: 1 s
	asks := unhex(t, "8005000c 00000002"+zeros+"80070010"+zeros+zeros)
	if diff := cmp.Diff(hex.EncodeToString(want), hex.EncodeToString(packet[:14])); diff != "" || !bytes.Equal(packet[44:], asks) {
		t.Errorf("behind it %x, want %x (-want +got):\n%s", packet[44:], asks, diff)
	}
	ours := "00000001 bf454880 80000000 9980"
	for name, c := range map[string]struct {
		answer string
		want   reflection
		ok     bool
	}{
		"NTP": {"00000007 bf454881 40000000 0001 0000 bf454881 00000000" + ours + "0000 3d000000", reflection{index: 1, count: 7,
			answered: at.Add(750 * time.Millisecond), arrived: at.Add(500 * time.Millisecond), ttl: 61}, true},
		"PTP, one second at the most": {"00000007 3b9aca01 0bebc200 d980 0000 3b9aca01 05f5e100" + ours + "0000 ff000000", reflection{index: 1, count: 7,
			answered: at.Add(700 * time.Millisecond), arrived: at.Add(600 * time.Millisecond), ttl: 255,
			clock: measure.NewClock(time.Second+1, true)}, true},
		"it counts, and says when the answer before left": {"00000007 bf454881 40000000 0001 0000 bf454881 00000000" + ours + "0000 3d000000" +
			"0005000c 00000002 00000008 00000008 00070010 00000006 bf454880 c0000000 02000000", reflection{index: 1, count: 7, counts: true,
			answered: at.Add(750 * time.Millisecond), arrived: at.Add(500 * time.Millisecond), ttl: 61, before: departure{6, at.Add(250 * time.Millisecond)}}, true},
		"it counts something else, and does not know": {"00000007 bf454881 40000000 0001 0000 bf454881 00000000" + ours + "0000 3d000000" +
			"0005000c 00000002 00000008 00000006 00070010" + zeros + zeros, reflection{index: 1, count: 7,
			answered: at.Add(750 * time.Millisecond), arrived: at.Add(500 * time.Millisecond), ttl: 61}, true},
		"it does not know what it is asked, and its clock was set back": {"00000007 bf454881 40000000 0001 0000 bf454881 00000000" + ours + "0000 3d000000" +
			"8005000c 00000002 00000008 00000008 00070010 00000006 bf454882 c0000000 02000000", reflection{index: 1, count: 7,
			answered: at.Add(750 * time.Millisecond), arrived: at.Add(500 * time.Millisecond), ttl: 61}, true},
		"of another time":   {"00000007 bf454881 40000000 0001 0000 bf454881 00000000 00000001 bf454880 80000001 9980 0000 3d000000", reflection{}, false},
		"of a later packet": {"00000007 bf454881 40000000 0001 0000 bf454881 00000000 00000002 bf454880 80000000 9980 0000 3d000000", reflection{}, false},
		"too short":         {zeros + zeros, reflection{}, false},
	} {
		got, ok := s.reflected(unhex(t, c.answer))
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(reflection{}, departure{})); diff != "" || ok != c.ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", name, ok, diff)
		}
	}
}

// Of a responder that was opened for a run, TWAMP needs the port and the secret; a reflector is open to the run's peer, and asks for the secret where it is
// sealed.
func TestOWDTakesResponder(t *testing.T) {
	for _, c := range []struct {
		proto, kind string
		sealed      bool
		secret      string
	}{
		{protoSTAMP, measure.ResponderSTAMP, false, ""}, {protoSTAMP, measure.ResponderSTAMP, true, "s3cret"}, {protoTWAMP, measure.ResponderTWAMP, false, "s3cret"},
	} {
		p := OWD{Proto: c.proto}
		p.equip(Options{Responder: &measure.Responder{Kind: c.kind, Port: 5000, Secret: "s3cret", Sealed: c.sealed}})
		if p.Port != 5000 || p.secret != c.secret {
			t.Errorf("%s: port %d, secret %q; want 5000 and %q", c.proto, p.Port, p.secret, c.secret)
		}
	}
}

// Packets can be authenticated by the secret of a run where a size or a mode that was asked for leaves that open, and are reckoned with then.
func TestSealable(t *testing.T) {
	bytes := func(size int) float64 { return 2 * float64(size+8+40+38) * owdCount } // of UDP, IPv6 and Ethernet
	for _, c := range []struct {
		p      OWD
		sealed bool
		size   int
	}{
		{OWD{}, true, 168}, {OWD{Size: 112}, true, 112}, {OWD{Size: 200}, true, 200}, {OWD{Size: 44}, false, 44}, {OWD{Size: 113}, false, 113},
		{OWD{Mode: modeOpen}, false, 80}, {OWD{KeyFile: "f"}, false, 168}, {OWD{Proto: protoTWAMP}, false, 41},
	} {
		c.p.Target, c.p.Family = "a", sock.IPv6
		if d := c.p.demand(); d.Sealed != c.sealed || d.Bytes != bytes(c.size) {
			t.Errorf("%+v: sealed %v, %v bytes; want %v, %v", c.p, d.Sealed, d.Bytes, c.sealed, bytes(c.size))
		}
	}
}
