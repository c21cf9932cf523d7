package owamp

import (
	"bytes"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// received has a receiver take what was sent to it before it began, and then end; or, of a session that began at a moment, when that is over.
func received(t *testing.T, begin time.Time, terms Terms, log *slog.Logger, send func(to netip.AddrPort, sender, other *sock.Socket, sealer *control.Sealer)) Session {
	t.Helper()
	var sockets [3]*sock.Socket
	var ports [3]uint16
	for i := range sockets {
		var err error
		if sockets[i], ports[i], err = openAt(exampleAddress, 0); err != nil {
			t.Fatal(err)
		}
		defer sockets[i].Close()
	}
	sealer := control.NewSealer(control.Open, control.Keys{}, control.SID{})
	send(netip.AddrPortFrom(exampleAddress, ports[0]), sockets[1], sockets[2], sealer)
	r := &receiver{ledger: newLedger(control.SID{}, terms, control.Request{}), sealer: sealer, socket: sockets[0],
		from: netip.AddrPortFrom(exampleAddress, ports[1]), log: log}
	if begin.IsZero() {
		begin = time.Now()
		sockets[0].Interrupt()
	}
	if err := r.run(begin); err != nil {
		t.Fatal(err)
	}
	return r.ledger.snapshot(0, lastSequence)
}

func sealed(sealer *control.Sealer, sequence uint32) []byte {
	b := control.NewPacket(control.Open, 0)
	sealer.Seal(b, control.Packet{Sequence: sequence, Sent: control.TimestampOf(time.Now()), Error: control.Unknown})
	return b
}

func sendTo(t *testing.T, s *sock.Socket, to netip.AddrPort, packets ...[]byte) {
	t.Helper()
	for _, b := range packets {
		if _, _, err := s.Send(b, to); err != nil {
			t.Fatal(err)
		}
	}
}

// Packets that came before the end of a session count, also where nobody had read them yet.
func TestUnreadAtTheEnd(t *testing.T) {
	t.Parallel()
	terms := Terms{Packets: 100, Slots: []Slot{Fixed(0)}, Timeout: patience}
	got := received(t, time.Time{}, terms, nil, func(to netip.AddrPort, sender, _ *sock.Socket, sealer *control.Sealer) {
		for i := range uint32(20) {
			sendTo(t, sender, to, sealed(sealer, i))
		}
	})
	if len(got.Records) != 20 {
		t.Errorf("%d of 20 packets are noted", len(got.Records))
	}
}

// Packets that came in time count, also where this process had to wait so long before it read them that others would be lost by now.
func TestReadLate(t *testing.T) {
	t.Parallel()
	terms := Terms{Packets: 20, Slots: []Slot{Fixed(0)}, Timeout: 200 * time.Millisecond}
	got := received(t, time.Now().Add(-time.Hour), terms, nil, func(to netip.AddrPort, sender, _ *sock.Socket, sealer *control.Sealer) {
		for i := range uint32(20) {
			if i != 7 {
				sendTo(t, sender, to, sealed(sealer, i))
			}
		}
	})
	lost := slices.IndexFunc(got.Records, Record.Lost)
	if len(got.Records) != 20 || lost < 0 || got.Records[lost].Sequence != 7 || slices.ContainsFunc(got.Records[lost+1:], Record.Lost) {
		t.Errorf("want packet 7 lost alone: %+v", got.Records)
	}
}

// When a packet came is told by the kernel's stamp, unless the wall clock was set meanwhile.
func TestCameAt(t *testing.T) {
	now := time.Now()
	for kept, want := range map[time.Duration]time.Duration{time.Second: time.Second, -time.Second: 0, time.Hour: 0} {
		if got := now.Sub(cameAt(sock.Stamp{User: now, Kernel: now.Round(0).Add(-kept)})); got != want {
			t.Errorf("kept for %v: came %v before it was read", kept, got)
		}
	}
	if got := cameAt(sock.Stamp{User: now}); got != now {
		t.Errorf("without a stamp: %v", got)
	}
}

// Of packets that do not count the log has how many there were of each reason: at the first, and at the end.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	terms := Terms{Packets: 2, Slots: []Slot{Fixed(0)}, Timeout: patience}
	received(t, time.Time{}, terms, slog.New(slog.NewTextHandler(&said, nil)), func(to netip.AddrPort, sender, other *sock.Socket, sealer *control.Sealer) {
		good := sealed(sealer, 0)
		sendTo(t, other, to, good, good, good)
		sendTo(t, sender, to, good[:5], good, good[:3], sealed(sealer, 2))
	})
	var got []string
	for line := range strings.Lines(said.String()) {
		_, counts, _ := strings.Cut(line, ` "packets.`)
		got = append(got, strings.TrimSpace(counts))
	}
	want := []string{
		`of another sender than the session's"=1`,
		`of another sender than the session's"=3 "packets.shorter than a test packet is"=2 "packets.too late, too often, or of a number that the session does not have"=1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, said.String())
	}
}
