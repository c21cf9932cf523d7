package peertest

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// ourSTAMP runs the reflector of package stamp.
func ourSTAMP(t *testing.T, r *stamp.Reflector) netip.AddrPort {
	t.Helper()
	socket, err := stamp.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	to := netip.MustParseAddrPort(socket.Addr().String())
	go func() { done <- r.Serve(ctx, socket) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return to
}

// signed are TLVs, with an HMAC TLV if there is a key.
func signed(key []byte, all ...TLV) []TLV {
	if key != nil {
		all = append(all, Request(HMAC))
	}
	return all
}

// Package stamp's reflector answers every TLV: those that it knows as RFC 8972 has them, and copies of others with the U flag.
func TestOurReflector(t *testing.T) {
	t.Parallel()
	for name, key := range stampKeys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := ourSTAMP(t, &stamp.Reflector{Key: key, Marks: []int{10}})
			socket := listen(t)
			sender := STAMPSender{Key: key, SSID: 7, TOS: 46<<2 | 1}
			e, err := sender.Ping(socket, to, 100)
			if err != nil || e.Reflection.Seq != 0 || e.Reflection.SenderTTL != 255 || e.TTL != 255 {
				t.Fatalf("exchange %+v, %v", e, err)
			}
			location := append([]byte{0, 0, 0, 0, Unrecognized, 7, 0, 16}, make([]byte, 16)...)
			e, err = sender.Ping(socket, to, 101, signed(key, Request(ExtraPadding, 1, 2, 3), Request(TimestampInformation),
				Request(ClassOfService, 10<<2, 0, 0, 0), Request(DirectMeasurement, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
				Request(AccessReport, 0x10, 1, 0, 0), Request(FollowUpTelemetry), Request(Location, location...), Request(99, 5))...)
			if err != nil {
				t.Fatal(err)
			}
			got := e.Reflection.TLVs
			information := got[1].Value // section 4.3: Sync Src In, Timestamp In, Sync Src Out, Timestamp Out; 5.5 and 5.6 have their values
			if got[1].Flags != 0 || information[0] < 1 || information[0] > 5 || information[1] < 1 || information[1] > 3 ||
				information[2] < 1 || information[2] > 5 || information[3] < 1 || information[3] > 3 {
				t.Errorf("Timestamp Information TLV %+v", got[1])
			}
			want := []TLV{{0, ExtraPadding, []byte{1, 2, 3}, 0}, got[1],
				{0, ClassOfService, []byte{10<<2 | 46>>4, 46&15<<4 | 1<<2, 0, 0}, 0},
				{0, DirectMeasurement, []byte{0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2}, 0}, {0, AccessReport, []byte{0x10, 1, 0, 0}, 0}}
			if diff := cmp.Diff(want, got[:5]); diff != "" {
				t.Error(diff)
			}
			for _, tlv := range got[5:8] {
				if tlv.Type == 99 && tlv.Flags != Unrecognized || tlv.Flags&^Unrecognized != 0 {
					t.Errorf("TLV %+v", tlv)
				}
			}
			if e.TOS>>2 != 10 || e.Reflection.Seq != 1 {
				t.Errorf("exchange %+v", e)
			}
		})
	}
}

// A TLV whose length does not fit its type, or goes beyond the packet, comes back with the M flag.
func TestOurReflectorMalformed(t *testing.T) {
	t.Parallel()
	to := ourSTAMP(t, &stamp.Reflector{})
	socket := listen(t)
	for _, tlv := range []TLV{Request(ClassOfService, 0), Request(DirectMeasurement, 1, 2, 3, 4), Request(TimestampInformation, 1, 2, 3, 4, 5, 6, 7, 8),
		{Flags: Unrecognized, Type: ExtraPadding, Value: []byte{1, 2}, Cut: 3}, {Flags: Unrecognized, Type: AccessReport, Value: []byte{0x10, 1}, Cut: 2}} {
		e, err := STAMPSender{}.Ping(socket, to, 0, Request(AccessReport, 0x10, 1, 0, 0), tlv)
		if err != nil {
			t.Errorf("TLV %+v: %v", tlv, err)
		} else if got := e.Reflection.TLVs; got[0].Flags&Malformed != 0 || got[1].Flags&Malformed == 0 {
			t.Errorf("TLV %+v comes back as %+v, want the M flag (RFC 8972 section 4)", tlv, got)
		}
	}
}

// A DSCP that is not allowed is refused by the RP field, and the answer has that of the packet (RFC 8972 section 4.4).
func TestOurReflectorRefusesMark(t *testing.T) {
	t.Parallel()
	to := ourSTAMP(t, &stamp.Reflector{Marks: []int{10}})
	e, err := STAMPSender{TOS: 46 << 2}.Ping(listen(t), to, 0, Request(ClassOfService, 20<<2, 0, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{20<<2 | 46>>4, 46&15<<4 | 0<<2 | 1, 0, 0}
	if diff := cmp.Diff(want, e.Reflection.TLVs[0].Value); diff != "" || e.TOS>>2 != 46 {
		t.Errorf("TOS %#x, %s", e.TOS, diff)
	}
}

// TLVs come back with the I flag, as they were, if their HMAC does not fit, is missing or is not in its place (RFC 8972 section 4.8).
func TestOurReflectorIntegrity(t *testing.T) {
	t.Parallel()
	key := stampKeys["authenticated"]
	to := ourSTAMP(t, &stamp.Reflector{Key: key})
	for name, one := range map[string]struct {
		key  []byte
		tlvs []TLV
	}{
		"wrong key": {[]byte("another key, of some length"), []TLV{Request(AccessReport, 0x10, 1, 0, 0), Request(HMAC)}},
		"missing":   {key, []TLV{Request(AccessReport, 0x10, 1, 0, 0)}},
		"not last":  {key, []TLV{Request(HMAC), Request(AccessReport, 0x10, 1, 0, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := STAMPSender{Key: key, TLVKey: one.key}.Ping(listen(t), to, 0, one.tlvs...)
			if err != nil {
				t.Fatal(err)
			}
			for _, tlv := range e.Reflection.TLVs {
				if tlv.Flags&Integrity == 0 {
					t.Errorf("TLV %+v, want the I flag", tlv)
				}
			}
		})
	}
	t.Run("padding after it", func(t *testing.T) {
		e, err := STAMPSender{Key: key}.Ping(listen(t), to, 0, Request(AccessReport, 0x20, 1, 0, 0), Request(HMAC), Request(ExtraPadding, 1, 2))
		if err != nil || slices.ContainsFunc(e.Reflection.TLVs, func(t TLV) bool { return t.Flags != 0 }) {
			t.Errorf("TLVs %+v, %v", e.Reflection.TLVs, err)
		}
	})
}

// The HMAC TLV may be used without the authenticated mode, too (RFC 8972 section 4.8): its TLVs are answered under one if it fits, and come back
// with the I flag if it does not, or if the reflector has no key.
func TestOurReflectorHMACAlone(t *testing.T) {
	t.Parallel()
	key := stampKeys["authenticated"]
	for name, c := range map[string]struct {
		reflector, sender []byte
		want              byte
	}{
		"one key": {key, key, 0}, "another key": {key, []byte("another key, of some length"), Integrity}, "no key": {nil, key, Integrity},
	} {
		to := ourSTAMP(t, &stamp.Reflector{TLVKey: c.reflector})
		socket := listen(t)
		for seq := range uint32(3) {
			e, err := STAMPSender{TLVKey: c.sender}.Ping(socket, to, 10+seq, Request(DirectMeasurement, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0), Request(HMAC))
			if err != nil || e.Reflection.Seq != seq {
				t.Fatalf("%s: %+v, %v", name, e, err)
			}
			for _, tlv := range e.Reflection.TLVs {
				if tlv.Flags != c.want {
					t.Errorf("%s: TLV %+v, want flags %#x", name, tlv, c.want)
				}
			}
			if came := e.Reflection.TLVs[0].Value[7]; c.want == 0 && int(came) != int(seq)+1 {
				t.Errorf("%s: %d came", name, came)
			}
		}
		if e, err := (STAMPSender{}).Ping(socket, to, 0, Request(AccessReport, 0x10, 1, 0, 0)); err != nil || e.Reflection.TLVs[0].Flags != 0 {
			t.Errorf("%s: without an HMAC: %+v, %v", name, e.Reflection.TLVs, err)
		}
	}
}

// A packet with a wrong HMAC is not answered (RFC 8762 section 4.4); one of the right key after it is.
func TestOurReflectorWrongKey(t *testing.T) {
	t.Parallel()
	key := stampKeys["authenticated"]
	to := ourSTAMP(t, &stamp.Reflector{Key: key})
	socket := listen(t)
	if err := socket.Write(STAMPPacket{Seq: 1, Sent: Stamp(time.Now()), Error: someError}.Encode([]byte("another")), to, 0); err != nil {
		t.Fatal(err)
	}
	if e, err := (STAMPSender{Key: key}).Ping(socket, to, 2); err != nil { // the answer to the first would come first
		t.Errorf("exchange %+v, %v", e, err)
	}
}

// A stateless reflector copies the sender's number (RFC 8762 section 4).
func TestOurReflectorStateless(t *testing.T) {
	t.Parallel()
	to := ourSTAMP(t, &stamp.Reflector{Stateless: true})
	if e, err := (STAMPSender{}).Ping(listen(t), to, 77); err != nil || e.Reflection.Seq != 77 {
		t.Errorf("exchange %+v, %v", e, err)
	}
}

// A TWAMP-light sender gets its answer from package stamp's reflector (RFC 8762 section 4.6).
func TestOurReflectorLight(t *testing.T) {
	t.Parallel()
	to := ourSTAMP(t, &stamp.Reflector{})
	light := Session{Mode: Open, Request: SessionRequest{Padding: openSTAMP - 14}}
	socket := listen(t)
	p := Packet{Seq: 5, Sent: Stamp(time.Now()), Error: someError, Padding: make([]byte, light.Request.Padding)}
	if err := socket.Write(p.Encode(Open, Keys{}), to, 0); err != nil {
		t.Fatal(err)
	}
	d, err := socket.Read()
	if err != nil {
		t.Fatal(err)
	}
	r, err := DecodeReflection(d.Octets, Open, Keys{})
	if err := first(err, light.checkReflection(p, r, openSTAMP, len(d.Octets))); err != nil {
		t.Error(err)
	}
}

// Probes of package stamp are taken by the reflector of this package, and its answers by package stamp.
func TestOurProbes(t *testing.T) {
	t.Parallel()
	for name, key := range stampKeys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, wait := reflect(t, &STAMPReflector{Key: key, Stateful: true})
			socket := listen(t)
			sealer := stamp.NewSealer(key)
			b := stamp.AppendTLV(make([]byte, sealer.LeastBytes()), stamp.TLV{Type: stamp.ClassOfService, Value: []byte{10 << 2, 0, 0, 0}})
			b = stamp.AppendTLV(b, stamp.TLV{Type: stamp.DirectMeasurement, Value: []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}})
			if key != nil {
				b = stamp.AppendSeal(b)
			}
			probe := stamp.Probe{Sequence: 9, Sent: control.Timestamp(Stamp(time.Now())), Error: control.Unknown, Session: 3}
			sealer.SealProbe(b, probe)
			if err := socket.Write(b, to, 46<<2); err != nil {
				t.Fatal(err)
			}
			d, err := socket.Read()
			if err != nil {
				t.Fatal(err)
			}
			a, err := sealer.OpenAnswer(d.Octets)
			if err != nil || a.Sequence != 0 || a.TTL != 255 || a.Probe != probe {
				t.Errorf("answer %+v, %v", a, err)
			}
			tlvs, err := sealer.OpenTLVs(d.Octets)
			want := []stamp.TLV{{Type: stamp.ClassOfService, Value: []byte{10<<2 | 46>>4, 46 & 15 << 4, 0, 0}},
				{Type: stamp.DirectMeasurement, Value: []byte{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}}}
			if diff := cmp.Diff(want, tlvs[:min(2, len(tlvs))]); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			if all, err := wait(); err != nil || len(all) != 1 || all[0].Seq != 9 || all[0].SSID != 3 {
				t.Errorf("the reflector saw %+v, %v", all, err)
			}
		})
	}
}
