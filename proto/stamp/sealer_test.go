package stamp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var exampleKey = []byte("0123456789abcdef")

// Packets of the authenticated mode are laid out as RFC 8762 draws them in figures 4 and 6, with the session of RFC 8972 figures 2 and 4; the
// digests are those of Python's hmac.
const (
	securedProbe = "01020304 000000000000000000000000 0a0b0c0d0e0f1011 8102 1234 00000000" +
		"00000000000000000000000000000000 00000000000000000000000000000000 00000000000000000000000000000000 00000000000000000000000000000000" +
		"5c2d9ed8b5a10a9a67f11137771804fa"
	securedAnswer = "00000007 000000000000000000000000 2122232425262728 3f01 1234 00000000 3132333435363738 0000000000000000" +
		"01020304 000000000000000000000000 0a0b0c0d0e0f1011 8102 000000000000 40 000000000000000000000000000000" +
		"326346167d637f67bb458699a428d57b"
)

func TestSealed(t *testing.T) {
	s := NewSealer(exampleKey)
	for want, seal := range map[string]func([]byte){
		securedProbe:  func(b []byte) { s.SealProbe(b, aProbe) },
		securedAnswer: func(b []byte) { s.SealAnswer(b, answer) },
	} {
		b := []byte(strings.Repeat("x", SecuredBytes))
		if seal(b); !bytes.Equal(b, unhex(t, want)) {
			t.Errorf("got  %x\nwant %s", b, strings.ReplaceAll(want, " ", ""))
		}
	}
	if got, err := s.OpenProbe(unhex(t, securedProbe)); err != nil || got != aProbe {
		t.Errorf("opened %+v (%v)", got, err)
	}
	if got, err := s.OpenAnswer(unhex(t, securedAnswer)); err != nil || got != answer {
		t.Errorf("opened %+v (%v)", got, err)
	}
	for _, at := range []int{0, 26, 95, 96, 111} {
		b := unhex(t, securedAnswer)
		b[at] ^= 1
		if _, err := s.OpenAnswer(b); !errors.Is(err, ErrForged) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	if _, err := s.OpenProbe(make([]byte, SecuredBytes-1)); !errors.Is(err, ErrShort) {
		t.Errorf("cut short: %v", err)
	}
}

// TLVs of either mode go there and back under an HMAC, which is of the sequence number at either end. With a wrong one, or with one that is not the
// last, none is used, and each says so; so it is without any in the authenticated mode.
func TestSealedTLVs(t *testing.T) {
	for name, s := range map[string]*Sealer{"authenticated": NewSealer(exampleKey), "TLVs alone": NewTLVSealer(exampleKey)} {
		t.Run(name, func(t *testing.T) { testSealedTLVs(t, s) })
	}
}

func testSealedTLVs(t *testing.T, s *Sealer) {
	least := s.LeastBytes()
	sent := AppendTLV(nil, TLV{TimestampInfo, make([]byte, 4)})
	report := TLV{AccessReport, []byte{0x10, 1, 0, 0}}
	sent = AppendTLV(AppendSeal(AppendTLV(sent, report)), TLV{ExtraPadding, []byte{1, 2}})
	about := seen{synchronised: true}
	packet := append(make([]byte, least), sent...)
	s.SealProbe(packet, aProbe)
	answered := bytes.Clone(packet)
	s.answerTLVs(packet, answer.Sequence, answered[least:], about)
	s.SealAnswer(answered, answer)
	got, err := s.OpenTLVs(answered)
	want := []TLV{{TimestampInfo, []byte{1, 2, 1, 2}}, report, {ExtraPadding, []byte{1, 2}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	answered[least+5] ^= 1
	if _, err := s.OpenTLVs(answered); !errors.Is(err, ErrForged) {
		t.Errorf("changed on the way: %v", err)
	}
	wrong := bytes.Clone(packet)
	wrong[least+5] ^= 1
	for name, b := range map[string][]byte{
		"a wrong one": wrong,
		"none":        AppendTLV(make([]byte, least), report),
		"not last":    AppendTLV(packet, report),
	} {
		tlvs, want := bytes.Clone(b[least:]), byte(notIntact)
		if name == "none" && s.mac == nil {
			want = 0 // it may be left out
		}
		s.answerTLVs(b, 0, tlvs, about)
		for rest := tlvs; ; {
			tlv, after, is := first(rest, 0)
			if !is {
				break
			}
			if tlv[0] != want {
				t.Errorf("%s: flags %#x, want %#x", name, tlv[0], want)
			}
			rest = after
		}
		s.SealAnswer(b, answer)
		if _, err := s.OpenTLVs(append(b[:least:least], tlvs...)); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	padded := AppendTLV(make([]byte, least), TLV{ExtraPadding, []byte{1}})
	s.answerTLVs(padded, 0, padded[least:], about)
	if padded[least] != 0 {
		t.Errorf("extra padding alone needs no HMAC: flags %#x", padded[least])
	}
}

func TestReadKey(t *testing.T) {
	for text, want := range map[string]string{
		" 30313233343536373839616263646566\n": string(exampleKey), "3031": "", "": "", "key": "", strings.Repeat("30", mostKey+1): "",
	} {
		if got, err := ReadKey(strings.NewReader(text)); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %x, %v", text, got, err)
		}
	}
}

func FuzzPackets(f *testing.F) {
	probe, answer := make([]byte, SecuredBytes), make([]byte, SecuredBytes)
	NewSealer(exampleKey).SealProbe(probe, aProbe)
	NewSealer(nil).SealProbe(answer, aProbe)
	f.Add(probe)
	f.Add(answer[:LeastBytes])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range []*Sealer{NewSealer(nil), NewSealer(exampleKey)} {
			p, err := s.OpenProbe(b)
			if err == nil {
				again := bytes.Clone(b)
				if s.SealProbe(again, p); len(again) < s.LeastBytes() {
					t.Errorf("%d bytes are taken for a packet", len(b))
				}
			}
			if a, err := s.OpenAnswer(b); err == nil && a.Probe.Session != p.Session {
				t.Errorf("sessions %d and %d", a.Probe.Session, p.Session)
			}
		}
	})
}

// The key of a run is the same for every build, as both ends make it.
func TestRunKey(t *testing.T) {
	const want = "a9ceb7f4b9c5f49da8161c22d96e8accde36de13405f1450ea1c5e02859ad884"
	if got := hex.EncodeToString(RunKey("abcdefghijklmnopqrstuvwxyz0123456789")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
