package peertest

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reflect runs a reflector until the end of the test, or until it is waited for.
func reflect(t *testing.T, s *STAMPReflector) (to netip.AddrPort, wait func() ([]STAMPPacket, error)) {
	t.Helper()
	socket := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	var all []STAMPPacket
	var err error
	go func() {
		defer close(done)
		all, err = s.Reflect(ctx, socket)
	}()
	wait = func() ([]STAMPPacket, error) { cancel(); <-done; return all, err }
	t.Cleanup(func() { cancel(); <-done })
	return netip.AddrPortFrom(loopback, socket.Port), wait
}

var stampKeys = map[string][]byte{"open": nil, "authenticated": []byte("a key of some length")}

// Every TLV goes to a reflector and comes back as RFC 8972 has it.
func TestSTAMP(t *testing.T) {
	t.Parallel()
	for name, key := range stampKeys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, wait := reflect(t, &STAMPReflector{Key: key, Stateful: true})
			socket := listen(t)
			sender := STAMPSender{Key: key, SSID: 7, TOS: 46<<2 | 1}
			tlvs := func(all ...TLV) []TLV {
				if key != nil {
					all = append(all, Request(HMAC))
				}
				return all
			}
			if _, err := sender.Ping(socket, to, 100); err != nil {
				t.Fatal(err)
			}
			e, err := sender.Ping(socket, to, 101, tlvs(Request(ExtraPadding, 1, 2, 3), Request(TimestampInformation),
				Request(ClassOfService, 10<<2, 0, 0, 0), Request(DirectMeasurement, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
				Request(AccessReport, 0x10, 1, 0, 0), Request(FollowUpTelemetry), Request(99, 5))...)
			if err != nil {
				t.Fatal(err)
			}
			want := []TLV{{0, ExtraPadding, []byte{1, 2, 3}, 0}, {0, TimestampInformation, []byte{5, 2, 5, 2}, 0},
				{0, ClassOfService, []byte{10<<2 | 46>>4, 46&15<<4 | 1<<2, 0, 0}, 0},
				{0, DirectMeasurement, []byte{0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2}, 0}, {0, AccessReport, []byte{0x10, 1, 0, 0}, 0}}
			if diff := cmp.Diff(want, e.Reflection.TLVs[:5]); diff != "" {
				t.Error(diff)
			}
			if e.Reflection.TLVs[5].Value[12] != 2 || e.Reflection.TLVs[6].Flags != Unrecognized || e.TOS>>2 != 10 || e.Reflection.Seq != 1 {
				t.Errorf("exchange %+v", e)
			}
			e, err = sender.Ping(socket, to, 102, tlvs(Request(ClassOfService, 0), Request(AccessReport))...)
			if err != nil || e.Reflection.TLVs[0].Flags != Malformed {
				t.Errorf("a TLV that is too short: %+v, %v", e, err)
			}
			if all, err := wait(); err != nil || len(all) != 3 {
				t.Errorf("the reflector saw %v, %v", all, err)
			}
		})
	}
}

// The ports and addresses of a packet come back in a Location TLV.
func TestSTAMPLocation(t *testing.T) {
	t.Parallel()
	to, _ := reflect(t, &STAMPReflector{})
	socket := listen(t)
	value := append([]byte{0, 0, 0, 0, Unrecognized, 7, 0, 16}, make([]byte, 16)...)
	e, err := STAMPSender{}.Ping(socket, to, 0, Request(Location, value...))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]byte{byte(to.Port() >> 8), byte(to.Port()), byte(socket.Port >> 8), byte(socket.Port), 0, 8, 0, 16, 127, 0, 0, 1}, make([]byte, 12)...)
	if diff := cmp.Diff(want, e.Reflection.TLVs[0].Value); diff != "" {
		t.Error(diff)
	}
}

// TLVs whose HMAC does not fit come back with the I flag, and packets whose HMAC does not fit do not come back.
func TestSTAMPWrongKey(t *testing.T) {
	t.Parallel()
	key := stampKeys["authenticated"]
	to, wait := reflect(t, &STAMPReflector{Key: key})
	socket := listen(t)
	e, err := STAMPSender{Key: key, TLVKey: []byte("another")}.Ping(socket, to, 0, Request(AccessReport, 0x10, 1, 0, 0), Request(HMAC))
	if err != nil {
		t.Fatal(err)
	}
	for _, tlv := range e.Reflection.TLVs {
		if tlv.Flags != Integrity {
			t.Errorf("TLV %+v", tlv)
		}
	}
	if err := socket.Write(STAMPPacket{}.Encode([]byte("another")), to, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := wait(); !errors.As(err, new(*Violation)) {
		t.Errorf("the reflector says %v", err)
	}
}
