package probe

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/x509"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

// fromHex reads bytes as they are printed.
func fromHex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var wwwMX = dnsmessage.Question{Name: dnsmessage.MustNewName("www.example.org."), Type: dnsmessage.TypeMX, Class: dnsmessage.ClassINET}

const wwwMXBytes = "03777777 07657861 6d706c65 036f7267 00 000f 0001"

// A query has one question, asks for recursion, and allows 1232 bytes.
func TestDNSQuery(t *testing.T) {
	got, err := dnsQuery(0xbeef, wwwMX)
	want := fromHex(t, "beef 0100 0001 0000 0000 0001"+wwwMXBytes+"00 0029 04d0 00000000 0000")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestDNSAnswer(t *testing.T) {
	type told struct {
		Code          string
		Truncated, Is bool
	}
	none := told{Code: "NOERROR"}
	for name, c := range map[string]struct {
		message string
		want    told
	}{
		"answer":              {"beef 8180 0001 0000 0000 0000" + wwwMXBytes, told{"NOERROR", false, true}},
		"in capitals":         {"beef 8180 0001 0000 0000 0000 03575757 07657861 6d706c65 036f7267 00 000f 0001", told{"NOERROR", false, true}},
		"no such name":        {"beef 8183 0001 0000 0000 0000" + wwwMXBytes, told{"NXDOMAIN", false, true}},
		"refused":             {"beef 8105 0001 0000 0000 0000" + wwwMXBytes, told{"REFUSED", false, true}},
		"cut short":           {"beef 8380 0001 0000 0000 0000" + wwwMXBytes, told{"NOERROR", true, true}},
		"no question":         {"beef 8101 0000 0000 0000 0000", told{"FORMERR", false, true}},
		"nothing understood":  {"beef 8109 0001 0000 0000 0000" + wwwMXBytes, told{"RCODE 9", false, true}},
		"no question, no why": {"beef 8180 0000 0000 0000 0000", none},
		"another ID":          {"beee 8180 0001 0000 0000 0000" + wwwMXBytes, none},
		"a query":             {"beef 0100 0001 0000 0000 0000" + wwwMXBytes, none},
		"another type":        {"beef 8180 0001 0000 0000 0000 03777777 07657861 6d706c65 036f7267 00 0001 0001", none},
		"another name":        {"beef 8180 0001 0000 0000 0000 03777778 07657861 6d706c65 036f7267 00 000f 0001", none},
		"too short":           {"beef 8180 0001", none},
		"cut":                 {"beef 8180 0001 0000 0000 0000 03777777", none},
	} {
		var got told
		var code dnsmessage.RCode
		code, got.Truncated, got.Is = dnsAnswer(fromHex(t, c.message), 0xbeef, wwwMX)
		got.Code = dnsCode(code)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzDNSAnswer(f *testing.F) {
	f.Add(fromHex(f, "beef 8180 0001 0000 0000 0000"+wwwMXBytes))
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, _, is := dnsAnswer(message, 0xbeef, wwwMX); is && (message[0] != 0xbe || message[1] != 0xef || message[2]&0x80 == 0) {
			t.Errorf("%x is no answer", message)
		}
	})
}

// The times are those of the figure of RFC 5905 section 8: 10 ms there, 1 ms at the server, 20 ms back, and a clock that is 100 ms ahead.
func TestNTP(t *testing.T) {
	if diff := cmp.Diff(fromHex(t, "23000000"+strings.Repeat("00", 36)+"0123456789abcdef"), ntpRequest(0x0123456789abcdef)); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	sent := time.Unix(1_700_000_000, 0)
	answer := fromHex(t, "24 02 06 e9 0000 8000 0000 4000 c0000201 e8fd0a80 00000000 0123456789abcdef"+
		"e8fe6f80 1c28f5c2"+ // t2: 110 ms after sent
		"e8fe6f80 1c6a7ef9") // t3: 111 ms
	p, is := parseNTP(answer)
	if !is {
		t.Fatal("not read")
	}
	got, err := p.reading(sent, 31*time.Millisecond)
	offset, within := got.offset()
	want := ntpReading{roundTrip: 30 * time.Millisecond, ahead: 110 * time.Millisecond, stratum: 2, synchronised: true, root: 500 * time.Millisecond}
	near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= 2*time.Nanosecond })
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(ntpReading{}), near); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// The truth lies within: 100 ms, of 95 ± 15.
	if diff := cmp.Diff([]time.Duration{95 * time.Millisecond, 15 * time.Millisecond}, []time.Duration{offset, within}, near); diff != "" {
		t.Errorf("offset (-want +got):\n%s", diff)
	}
	if _, err := p.reading(sent, time.Millisecond/2); err == nil {
		t.Error("a server that had the request for longer than the exchange took is believed")
	}
	p.received, p.answered = p.answered, p.received
	if _, err := p.reading(sent, time.Second); err == nil {
		t.Error("a server that answered before it was asked is believed")
	}
}

// Stamps are of the era that is nearest, which changes in 2036.
func TestNTPTime(t *testing.T) {
	for _, c := range []struct {
		stamp uint64
		near  int64
		want  time.Time
	}{
		{0xe8fe6f80_80000000, 1_700_000_000, time.Unix(1_700_000_000, 5e8)},
		{0x00000001_00000000, 2_085_978_495, time.Unix(2_085_978_497, 0)},
		{0xffffffff_00000000, 2_085_978_500, time.Unix(2_085_978_495, 0)},
	} {
		if got := ntpTime(c.stamp, time.Unix(c.near, 0)); !got.Equal(c.want) {
			t.Errorf("%x near %d: %v, want %v", c.stamp, c.near, got.UTC(), c.want.UTC())
		}
	}
}

func FuzzNTP(f *testing.F) {
	f.Add(fromHex(f, "240206e9"+strings.Repeat("00", 44)), int64(time.Second))
	f.Fuzz(func(t *testing.T, packet []byte, took int64) {
		p, is := parseNTP(packet)
		if !is || took < 0 {
			return
		}
		r, err := p.reading(time.Unix(1_700_000_000, 0), time.Duration(took))
		if _, within := r.offset(); err == nil && (r.roundTrip < 0 || r.roundTrip > time.Duration(took) || within < 0) {
			t.Errorf("%x in %v: %+v", packet, time.Duration(took), r)
		}
	})
}

// The example of RFC 5997 section 6.1, whose secret is xyzzy5461.
const (
	statusServer = "0cda0026 8a54f468 6fb394c5 2866e302 185d0623 5012 5a665e2e 1e8411f3 e2438220 97c84fa3"
	statusAnswer = "02da0014 ef0d552a 4bf2d693 ec2b6fe8 b5411d66"
)

var statusSecret = []byte("xyzzy5461")

func TestRADIUS(t *testing.T) {
	request := fromHex(t, statusServer)
	authenticator := [16]byte(request[4:20])
	if diff := cmp.Diff(request, radiusRequest(0xda, authenticator, statusSecret)); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	answer := fromHex(t, statusAnswer)
	type told struct {
		Code       byte
		Is, Signed bool
	}
	change := func(at int, to byte) []byte {
		b := append([]byte{}, answer...)
		b[at] = to
		return b
	}
	for name, c := range map[string]struct {
		answer []byte
		secret string
		want   told
	}{
		"the answer":        {answer, "xyzzy5461", told{2, true, true}},
		"padding":           {append(answer, 1, 2), "xyzzy5461", told{2, true, true}},
		"another secret":    {answer, "xyzzy5460", told{2, true, false}},
		"changed":           {change(0, 3), "xyzzy5461", told{3, true, false}},
		"another ID":        {change(1, 1), "xyzzy5461", told{}},
		"longer than it is": {change(3, 0x15), "xyzzy5461", told{}},
		"no header":         {change(3, 0x13), "xyzzy5461", told{}},
		"cut":               {answer[:19], "xyzzy5461", told{}},
		"its own signature": {signedAnswer(authenticator, false), "xyzzy5461", told{2, true, true}},
		"a forged one":      {signedAnswer(authenticator, true), "xyzzy5461", told{2, true, false}},
	} {
		var got told
		got.Code, got.Is, got.Signed = radiusAnswer(c.answer, 0xda, authenticator, []byte(c.secret))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzRADIUS(f *testing.F) {
	f.Add(fromHex(f, statusAnswer))
	f.Add(signedAnswer([16]byte{1}, false))
	f.Fuzz(func(t *testing.T, answer []byte) {
		before := string(answer)
		if _, is, signed := radiusAnswer(answer, 0xda, [16]byte{1}, statusSecret); signed && !is || string(answer) != before {
			t.Errorf("%x: changed, or signed and none", before)
		}
	})
}

func TestSMTPReply(t *testing.T) {
	type told struct {
		Code int
		Text string
		Bad  bool
	}
	for text, want := range map[string]told{
		"220 mx ESMTP\r\n":                {220, "mx ESMTP", false},
		"250-mx\r\n250-SIZE 1\r\n250 X\n": {250, "mx", false},
		"250\r\n":                         {250, "", false},
		"554 no\r\n":                      {554, "no", false},
		"250-mx\r\n251 X\r\n":             {Bad: true},
		"SSH-2.0-OpenSSH_9\r\n":           {Bad: true},
		"220":                             {Bad: true},
		"":                                {Bad: true},
		"99 x\r\n":                        {Bad: true},
		"2200 x\r\n":                      {Bad: true},
		"250-mx\r\n":                      {Bad: true},
	} {
		var got told
		var err error
		got.Code, got.Text, err = readReply(bufio.NewReader(strings.NewReader(text)))
		got.Bad = err != nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzSMTPReply(f *testing.F) {
	f.Add("250-mx\r\n250 x\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		code, _, err := readReply(bufio.NewReader(strings.NewReader(text)))
		if err == nil && (code < 200 || code > 599) {
			t.Errorf("%q: %d", text, code)
		}
	})
}

// No certificate is no fault of one.
func TestJudgeNoCertificate(t *testing.T) {
	if c := judgeCertificate(nil, "a", x509.NewCertPool()); c != nil {
		t.Errorf("%+v", c)
	}
}

// signedAnswer is an Access-Accept with a Message-Authenticator, which may be wrong.
func signedAnswer(request [16]byte, forged bool) []byte {
	b := append([]byte{radiusAccept, 0xda, 0, radiusHeader + 2 + md5.Size}, request[:]...)
	b = append(append(b, radiusAuthenticator, 2+md5.Size), make([]byte, md5.Size)...)
	copy(b[radiusHeader+2:], radiusHMAC(b, statusSecret))
	if forged {
		b[radiusHeader+2]++
	}
	sum := md5.Sum(append(bytes.Clone(b), statusSecret...))
	copy(b[4:], sum[:])
	return b
}
