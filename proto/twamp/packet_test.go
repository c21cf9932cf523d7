package twamp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// exampleKeys have the bytes 20… as AES key and 30… as HMAC key.
func exampleKeys() (k control.Keys) {
	for i := range k.AES {
		k.AES[i] = byte(0x20 + i)
	}
	for i := range k.HMAC {
		k.HMAC[i] = byte(0x30 + i)
	}
	return k
}

var (
	exampleID  = control.SID{0x28, 0x72, 0x97, 0x93, 0x03, 0xab, 0x47, 0xee, 0xac, 0x02, 0x8d, 0xab, 0x38, 0x29, 0xda, 0xb2}
	reflection = Reflection{Sequence: 9, Received: 0x3132333435363738, Sent: 0x2122232425262728, Error: 0x3f01, TTL: 64,
		Packet: control.Packet{Sequence: 7, Sent: 0x83aa7e8040000000, Error: 0x9401}}
)

const openExample = "00000009 2122232425262728 3f01 0000 3132333435363738 00000007 83aa7e8040000000 9401 0000 40"

// Reflections as hashlib and OpenSSL make them of the same keys, by RFC 5357, section 4.2.1.
var reflections = map[control.Mode]string{
	control.Open:  openExample,
	control.Mixed: openExample,
	control.Authenticated: "b9b274eb3a658e4d92386d20f41448c221222324252627283f0100000000000031323334353637380000000000000000" +
		"0000000700000000000000000000000083aa7e8040000000940100000000000040000000000000000000000000000000" +
		"33f44bd122a94d761d20cab2edfbd00f",
	control.Encrypted: "b9b274eb3a658e4d92386d20f41448c2b0efba3c5f3be8f21b8a2b000611e31265f2bcde48f36c087ec4a8bfebd19aff" +
		"b18ef6304527d9a73541f3194784d6465dbac254d4405500d78fcb718fb00d1fd7a22a91a386a369a312f1aba974b2e5" +
		"2f31daa91b06e1c1978f9a4a6de7a920",
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An answer is as long as what it answers, and has the padding of that from its beginning on, in each mode, with symmetrical sizes and without.
func TestReflections(t *testing.T) {
	for mode, text := range reflections {
		for _, more := range []control.Mode{0, control.SymmetricalSize} {
			m := mode | more
			s := NewSealer(m, exampleKeys(), exampleID)
			padding := LeastPadding(m) + 6
			b := NewPacket(m, padding)
			sent := bytes.Clone(b[SenderBytes(m, 0):])
			s.Seal(b, reflection.Packet)
			if p, err := s.Open(b); err != nil || p != reflection.Packet {
				t.Errorf("%v: %+v (%v)", m, p, err)
			}
			length := len(b)
			s.SealReflection(b, reflection)
			want := append(unhex(t, text), sent[:6]...)
			if len(b) != length || !bytes.Equal(b, want) {
				t.Errorf("%v:\n%x, want\n%x", m, b, want)
			}
			before := bytes.Clone(b)
			if got, err := s.OpenReflection(b); err != nil || got != reflection || !bytes.Equal(before, b) {
				t.Errorf("%v: opened %+v (%v)", m, got, err)
			}
			if _, err := s.OpenReflection(b[:len(b)-7]); !errors.Is(err, control.ErrCut) {
				t.Errorf("%v, cut short: %v", m, err)
			}
		}
	}
}

// What is changed on its way, of another session, or says nothing of its error is no answer.
func TestBadReflections(t *testing.T) {
	for _, mode := range []control.Mode{control.Authenticated, control.Encrypted} {
		s := NewSealer(mode, exampleKeys(), exampleID)
		b := unhex(t, reflections[mode])
		for _, at := range []int{0, 15, securedFields, securedReflection - 1} {
			b[at] ^= 1
			if _, err := s.OpenReflection(b); !errors.Is(err, control.ErrSealed) {
				t.Errorf("%v, byte %d changed: %v", mode, at, err)
			}
			b[at] ^= 1
		}
		if _, err := NewSealer(mode, exampleKeys(), control.SID{}).OpenReflection(b); !errors.Is(err, control.ErrSealed) {
			t.Errorf("%v, of another session: %v", mode, err)
		}
	}
	b := unhex(t, openExample)
	b[13] = 0
	if _, err := NewSealer(control.Open, control.Keys{}, control.SID{}).OpenReflection(b); !errors.Is(err, control.ErrNoError) {
		t.Errorf("multiplier 0: %v", err)
	}
}

// Terms cross the connection and come back as they were, unless nothing could do them.
func TestTerms(t *testing.T) {
	const features = control.Open | control.ReflectOctets
	terms := Terms{Port: 7, Padding: 40, Reflect: 8, DSCP: 46, Timeout: defaultTimeout}
	if got, supported := termsOf(terms.request(features), features); !supported || got != terms {
		t.Errorf("%+v, %v", got, supported)
	}
	for name, change := range map[string]func(*Terms){
		"shorter than its answer": func(t *Terms) { t.Padding = 26 },
		"no port":                 func(t *Terms) { t.Port = 0 },
		"too long":                func(t *Terms) { t.Padding = mostPadding + 1 },
		"DSCP":                    func(t *Terms) { t.DSCP = 64 },
		"timeout":                 func(t *Terms) { t.Timeout = -1 },
		"reflected":               func(t *Terms) { t.Reflect = 41 },
	} {
		bad := terms
		if change(&bad); bad.Validate(features) == nil {
			t.Errorf("%s: %+v is taken", name, bad)
		}
	}
	for name, change := range map[string]func(*control.Request){
		"slots": func(r *control.Request) { r.Slots = 1 }, "packets": func(r *control.Request) { r.Packets = 1 },
		"one way": func(r *control.Request) { r.ServerReceives = true }, "what it looks like": func(r *control.Request) { r.TypeP = 1 },
		"timeout": func(r *control.Request) { r.Timeout = 1 << 63 }, "padding": func(r *control.Request) { r.Padding = 0 },
	} {
		r := terms.request(features)
		if change(&r); r == terms.request(features) {
			t.Fatal(name)
		}
		if got, supported := termsOf(r, features); supported {
			t.Errorf("%s: %+v is supported", name, got)
		}
	}
}

func FuzzReflection(f *testing.F) {
	for mode, text := range reflections {
		b, _ := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		f.Add(b, uint8(mode))
		f.Add(b, uint8(mode|control.SymmetricalSize))
	}
	f.Fuzz(func(t *testing.T, b []byte, mode uint8) {
		m := control.Mode(mode) & (Modes | Features)
		if _, one := reflections[m.Protection()]; !one {
			return
		}
		s := NewSealer(m, exampleKeys(), exampleID)
		if r, err := s.OpenReflection(b); err == nil && !r.Error.Valid() {
			t.Errorf("%v: %x is taken for %+v", m, b, r)
		}
		if p, err := s.Open(b); err == nil && len(b) >= ReflectionBytes(m, 0) {
			answer := bytes.Clone(b)
			s.SealReflection(answer, Reflection{Error: 1, Packet: p})
			if r, err := s.OpenReflection(answer); err != nil || r.Packet != p || len(answer) != len(b) {
				t.Errorf("%v: %x is answered by %+v (%v)", m, b, r, err)
			}
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add(Terms{Port: 7, Padding: 40, Reflect: 8, DSCP: 46}.request(control.ReflectOctets|control.Open).Encode(), uint8(33))
	f.Fuzz(func(t *testing.T, b []byte, mode uint8) {
		m := control.Mode(mode)
		r, err := control.DecodeRequest(b)
		if err != nil {
			return
		}
		if terms, supported := termsOf(r, m); supported && terms.Validate(m) != nil {
			t.Errorf("%+v is taken for terms", terms)
		}
	})
}

// FuzzServed has a server read whatever a client may send once its connection is set up.
func FuzzServed(f *testing.F) {
	request := append(Terms{Port: 7, Padding: 40}.request(control.Open).Encode(), make([]byte, control.BlockBytes)...)
	start := append(control.EncodeStart(), make([]byte, control.BlockBytes)...)
	stop := append(control.EncodeStop(control.OK, 1), make([]byte, control.BlockBytes)...)
	f.Add(slices.Concat(request, start, stop, request))
	f.Add(slices.Concat(request, request, start, stop))
	f.Add(start)
	f.Fuzz(func(t *testing.T, b []byte) {
		near, far := net.Pipe() // for the deadlines alone
		defer near.Close()
		defer far.Close()
		in := io.MultiReader(bytes.NewReader(control.SetUp{Mode: control.Open}.Encode()), bytes.NewReader(b))
		c, err := control.Answer(struct {
			io.Reader
			io.Writer
		}{in, io.Discard}, control.Offer{Modes: control.Open})
		if err != nil {
			t.Fatal(err)
		}
		host := netip.MustParseAddr("127.0.0.1")
		v := &visit{server: &Server{Log: slog.New(slog.DiscardHandler)}, Visit: &endpoint.Visit{Connection: c, Conn: addressed{far}, From: host, Local: host,
			Limits: endpoint.Policy{}.LimitsOf(host, "")}}
		_ = v.Commands(func() bool { return len(v.sessions.all) > 0 }, v.do)
		if v.close(); v.Bytes != 0 {
			t.Errorf("%d bytes of packets that nobody sent", v.Bytes)
		}
	})
}

// addressed is a connection that has an address as one over TCP has.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return &net.TCPAddr{} }
