package control

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// row is the 16 bytes from a first on, one more each.
func row(first byte) (b [16]byte) {
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

var exampleKeys = Keys{AES: row(32), HMAC: [32]byte(append(row48(), row64()...))}

func row48() []byte { b := row(48); return b[:] }
func row64() []byte { b := row(64); return b[:] }

func text(t *testing.T, hexadecimal string) []byte {
	t.Helper()
	b, err := hex.DecodeString(hexadecimal)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The test vectors of RFC 6070, as far as they fill 16 bytes.
func TestDeriveKey(t *testing.T) {
	for _, v := range []struct {
		secret, salt string
		count        uint32
		want         string
	}{
		{"password", "salt", 1, "0c60c80f961f0e71f3a9b524af601206"},
		{"password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0"},
		{"password", "salt", 4096, "4b007901b765489abead49d926f721d0"},
		{"passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096, "3d2eec4fe41c849b80c8d83662c0e44a"},
	} {
		got, err := DeriveKey([]byte(v.secret), []byte(v.salt), v.count)
		if want := text(t, v.want); err != nil || !bytes.Equal(got[:], want) {
			t.Errorf("%q, %q, %d: %x (%v), want %x", v.secret, v.salt, v.count, got, err, want)
		}
	}
}

// A token as hashlib and OpenSSL make it of the same secret, challenge and keys.
func TestToken(t *testing.T) {
	salt := row(0)
	key, err := DeriveKey([]byte("pass phrase"), salt[:], 1024)
	if want := text(t, "d4390cac0f2363289e95053b2b853f4d"); err != nil || !bytes.Equal(key[:], want) {
		t.Fatalf("key %x (%v), want %x", key, err, want)
	}
	want := text(t, "1dc4202d48b5673b7476527f29209d0675d31e1191d50bf6085b94bace12670d"+
		"ea6602e2509215d90a07af4ac668eaf2feb279b6d48bf07f0283ee571077b58f")
	plain := token{row(16), exampleKeys}
	sealed := plain.seal(key)
	if !bytes.Equal(sealed[:], want) {
		t.Errorf("token %x, want %x", sealed, want)
	}
	if got := openToken(sealed, key); got != plain {
		t.Errorf("opened: %x, want %x", got, plain)
	}
}

// clientBytes are a start and an end of sessions from the client's IV 50…, serverBytes the last block of a server's start and a start's
// acknowledgement from the IV 60…, as hashlib and OpenSSL make them.
const (
	clientBytes = "65f052272d84f5a95484dee80cab7032fcdcf3ed716a7a29d0dc33d10d651283" +
		"a3116bc812abbfd6d121444e1ee5c44bb13ffb17d9c5abd1d52abea2d9dc3bfb"
	serverBytes = "1e8a4cf75389f43e3ca1f52eeb019bffcc1f43fd5d2907c3e3c1edf5edca4351" + "8b04bddca6a4ad903b435e073c6077b8"
)

// Messages are one chain, and their digests begin anew; the last block of a Start enters the first digest of its server.
func TestStream(t *testing.T) {
	var wire bytes.Buffer
	client, server := Writer{to: &wire}, Writer{to: &wire}
	client.secure(exampleKeys, row(80))
	server.secure(exampleKeys, row(96))
	if err := errors.Join(client.Send(EncodeStart()), client.Send(EncodeStop(OK, 1))); err != nil {
		t.Fatal(err)
	}
	since := time.Unix(0, 250_000_000)
	server.Add(Start{Since: TimestampOf(since)}.Encode()[startClear:])
	if err := errors.Join(server.Flush(), server.Send(EncodeStartAck(OK))); err != nil {
		t.Fatal(err)
	}
	if want := text(t, clientBytes+serverBytes); !bytes.Equal(wire.Bytes(), want) {
		t.Errorf("wrote\n%x, want\n%x", wire.Bytes(), want)
	}

	reader := Reader{from: &wire}
	reader.secure(exampleKeys, row(80))
	for _, want := range [][]byte{EncodeStart(), EncodeStop(OK, 1)} {
		got := make([]byte, StartStopBytes)
		if err := reader.Receive(got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("read %x (%v), want %x", got, err, want)
		}
	}
}

// What was changed on its way, or is of another place in the stream, is forged; what is short is not taken for whole.
func TestForged(t *testing.T) {
	sent := text(t, clientBytes)
	for name, bad := range map[string][]byte{
		"changed in its plain text": flipped(sent, 3),
		"changed in its digest":     flipped(sent, 20),
		"replayed":                  append(sent[32:], sent...),
		"of another key":            make([]byte, 64),
	} {
		r := Reader{from: bytes.NewReader(bad)}
		r.secure(exampleKeys, row(80))
		if err := r.Receive(make([]byte, 16)); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := Reader{from: bytes.NewReader(sent[:31])}
	if err := r.Receive(make([]byte, 16)); err == nil || errors.Is(err, ErrForged) {
		t.Errorf("cut short: %v", err)
	}
	if err := r.Read(make([]byte, 15)); err == nil {
		t.Error("read a part of a block")
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

// met has a client and a server set up a connection over a real socket.
func met(t *testing.T, w Wish, o Offer) (client, server *Connection, clientErr, serverErr error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			serverErr = err
			return
		}
		t.Cleanup(func() { conn.Close() })
		if server, serverErr = Answer(conn, o); serverErr != nil {
			conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if client, clientErr = Dial(conn, w); clientErr != nil {
		conn.Close()
	}
	<-done
	return client, server, clientErr, serverErr
}

var (
	secretOf = func(id string) ([]byte, bool) { return []byte("pass phrase"), id == "ann" }
	since    = time.Date(2026, 5, 4, 3, 2, 1, 5, time.Local)
)

// In every mode both ends agree, and understand what the other sends.
func TestSetUp(t *testing.T) {
	all := Open | Authenticated | Encrypted | Mixed
	for _, mode := range []Mode{Open, Authenticated, Encrypted, Mixed, Open | SymmetricalSize} {
		offered := Offer{Modes: all | SymmetricalSize | ReflectOctets, Since: since, Secret: secretOf}
		client, server, err, serverErr := met(t, Wish{Modes: []Mode{mode}, Extra: ReflectOctets | IndividualControl, KeyID: "ann",
			Secret: []byte("pass phrase")}, offered)
		if err != nil || serverErr != nil {
			t.Errorf("%v: %v, %v", mode, err, serverErr)
			continue
		}
		if !client.Since.Equal(since) || client.Mode != mode|ReflectOctets {
			t.Errorf("%v: server began %v, mode %#x", mode, client.Since, uint32(client.Mode))
		}
		ignored := cmp.Options{cmpopts.IgnoreFields(Connection{}, "Reader", "Writer", "Since")}
		if diff := cmp.Diff(client, server, ignored); diff != "" {
			t.Errorf("%v: -client +server:\n%s", mode, diff)
		}
		got := make([]byte, StartStopBytes)
		err = errors.Join(client.Send(EncodeStart()), server.Receive(got), server.Send(EncodeStartAck(OK)), client.Receive(got))
		if err != nil {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// Who is not let in is told why, and both ends have an error.
func TestRefused(t *testing.T) {
	refused := func(a Accept) error { return &RefusedError{"control connection", a} }
	good := Wish{Modes: []Mode{Encrypted}, KeyID: "ann", Secret: []byte("pass phrase")}
	offer := Offer{Modes: Open | Encrypted, Secret: secretOf}
	for name, c := range map[string]struct {
		change func(*Wish, *Offer)
		want   error
	}{
		"wrong secret":   {func(w *Wish, _ *Offer) { w.Secret = []byte("pass phrasf") }, refused(Refused)},
		"unknown ID":     {func(w *Wish, _ *Offer) { w.KeyID = "bob" }, refused(Refused)},
		"no secrets":     {func(_ *Wish, o *Offer) { o.Secret = nil }, refused(Refused)},
		"not admitted":   {func(_ *Wish, o *Offer) { o.Admit = func(Mode, string) Accept { return Busy } }, refused(Busy)},
		"not offered":    {func(w *Wish, _ *Offer) { w.Modes = []Mode{Authenticated} }, ErrMode},
		"two modes":      {func(w *Wish, _ *Offer) { w.Modes = []Mode{Encrypted | Open} }, ErrMode},
		"nothing at all": {func(_ *Wish, o *Offer) { o.Modes = 0 }, ErrUnwilling},
	} {
		w, o := good, offer
		c.change(&w, &o)
		_, _, err, serverErr := met(t, w, o)
		var got *RefusedError
		if errors.As(err, &got); got != nil {
			if diff := cmp.Diff(c.want, error(got)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		} else if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if serverErr == nil {
			t.Errorf("%s: the server let it in", name)
		}
	}
}

// A server that asks for more hashing than a client can bear, or for too little, gets no answer.
func TestCount(t *testing.T) {
	for count, ok := range map[uint32]bool{0: false, 512: false, 1024: true, 2000: false, 1 << 18: true, 1 << 19: false, 1 << 31: false} {
		if err := (Greeting{Count: count}).checkCount(); (err == nil) != ok {
			t.Errorf("%d: %v", count, err)
		}
	}
}

// messages are of every kind, with other values in each field.
func TestMessages(t *testing.T) {
	request := Request{
		Command: RequestSession, ServerSends: true, Slots: 2, Packets: 100, SenderPort: 8760, ReceiverPort: 8761,
		SenderAddress: netip.MustParseAddr("192.0.2.1"), ReceiverAddress: netip.MustParseAddr("192.0.2.2"), SID: SID(row(1)), Padding: 300,
		Start: TimestampOf(since), Timeout: IntervalOf(2 * time.Second), TypeP: DSCPType(46), Rest: [8]byte{1, 2},
	}
	sixth := request
	sixth.Command, sixth.IPv6, sixth.ServerSends, sixth.ServerReceives = RequestTwoWay, true, false, true
	sixth.SenderAddress, sixth.ReceiverAddress = netip.MustParseAddr("2001:db8::1"), netip.Addr{}
	for _, want := range []Request{request, sixth} {
		if got, err := DecodeRequest(want.Encode()); err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
	}
	b := request.Encode()
	want := text(t, "01040100"+"00000002"+"00000064"+"22382239"+"c0000201000000000000000000000000"+"c0000202000000000000000000000000"+
		"0102030405060708090a0b0c0d0e0f10"+"0000012c")
	if !bytes.Equal(b[:68], want) || !bytes.Equal(b[76:], text(t, "0000000200000000"+"2e000000"+"0102000000000000")) {
		t.Errorf("a request is\n%x, want\n%x…", b, want)
	}
	accepted := Accepted{Accept: Busy, Port: 9000, SID: SID(row(1)), Rest: [12]byte{3: 9}}
	if got, err := DecodeAccepted(accepted.Encode()); err != nil || got != accepted {
		t.Errorf("%+v (%v), want %+v", got, err, accepted)
	}
	if a, n, err := DecodeStop(EncodeStop(Failed, 7)); a != Failed || n != 7 || err != nil {
		t.Errorf("%v, %d, %v", a, n, err)
	}
	greeting := Greeting{Modes: 7, Challenge: row(1), Salt: row(2), Count: 2048}
	if got, err := DecodeGreeting(greeting.Encode()); err != nil || got != greeting {
		t.Errorf("%+v (%v), want %+v", got, err, greeting)
	}
	setUp := SetUp{Mode: 4, KeyID: "ann", Token: [64]byte{5: 6}, IV: row(3)}
	if got, err := DecodeSetUp(setUp.Encode()); err != nil || got != setUp {
		t.Errorf("%+v (%v), want %+v", got, err, setUp)
	}
	start := Start{Accept: Never, IV: row(3), Since: TimestampOf(since)}
	if got, err := DecodeStart(start.Encode()); err != nil || got != start {
		t.Errorf("%+v (%v), want %+v", got, err, start)
	}
	if dscp, ok := DSCPType(46).DSCP(); dscp != 46 || !ok {
		t.Errorf("DSCP %d, %v", dscp, ok)
	}
	if _, ok := TypeP(1 << 30).DSCP(); ok {
		t.Error("a per-hop behaviour is taken for a DSCP")
	}
}

// No bytes make a decoder fail but by an error, and what it takes it writes the same.
func FuzzMessages(f *testing.F) {
	f.Add(Request{Command: 1, SenderAddress: netip.MustParseAddr("192.0.2.1")}.Encode())
	f.Add(SetUp{Mode: 1, KeyID: "ann"}.Encode())
	f.Add(EncodeStop(OK, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeRequest(b); err == nil {
			if again, err := DecodeRequest(r.Encode()); err != nil || again != r {
				t.Errorf("%+v, then %+v (%v)", r, again, err)
			}
		}
		if s, err := DecodeSetUp(b); err == nil {
			if again, err := DecodeSetUp(s.Encode()); err != nil || again != s {
				t.Errorf("%+v, then %+v (%v)", s, again, err)
			}
		}
		if a, err := DecodeAccepted(b); err == nil {
			if again, err := DecodeAccepted(a.Encode()); err != nil || again != a {
				t.Errorf("%+v, then %+v (%v)", a, again, err)
			}
		}
		if g, err := DecodeGreeting(b); err == nil {
			if again, err := DecodeGreeting(g.Encode()); err != nil || again != g {
				t.Errorf("%+v, then %+v (%v)", g, again, err)
			}
		}
		_, _ = DecodeStart(b)
		_, _, _ = DecodeStop(b)
	})
}

// FuzzAnswer has a server read whatever a client may send.
func FuzzAnswer(f *testing.F) {
	f.Add(SetUp{Mode: Open}.Encode())
	f.Add(SetUp{Mode: Encrypted, KeyID: "ann"}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		wire := struct {
			*bytes.Reader
			*bytes.Buffer
		}{bytes.NewReader(b), &bytes.Buffer{}}
		c, err := Answer(duplex{wire.Reader, wire.Buffer}, Offer{Modes: Open | Encrypted, Count: leastCount, Secret: secretOf})
		if err == nil && c.Mode != Open {
			t.Errorf("let in: %+v", c)
		}
	})
}

type duplex struct {
	*bytes.Reader
	out *bytes.Buffer
}

func (d duplex) Write(b []byte) (int, error) { return d.out.Write(b) }
