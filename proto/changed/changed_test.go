package changed

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// syn is a SYN from 10.0.0.1:40000 to 10.0.5.2:443 with DSCP 46, ECN 2, MSS 1460, SACK permitted, time stamps, window scale 7 and Multipath TCP.
const syn = "45ba 0040 0000 4000 0106 0000 0a000001 0a000502" +
	"9c40 01bb 00000064 00000000 b0c2 faf0 0000 0000 020405b4 0402 080a 00000064 00000000 01 030307 1e040101"

func quote(t testing.TB, text string, change func(b []byte)) icmp.Quote {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(b)
	}
	q, err := icmp.ParseQuote(b)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Offsets in it.
const (
	tcp       = 20
	optionsAt = tcp + 20
)

func TestFields(t *testing.T) {
	sent := quote(t, syn, nil)
	for _, c := range []struct {
		name   string
		change func(b []byte)
		cut    int // bytes of TCP that are shown; 0: all
		shown  string
		want   []Field // that are not as sent
	}{
		{"as sent", nil, 0, ShownAll, nil},
		{"a router that has counted down", func(b []byte) { b[8] = 0 }, 0, ShownAll, nil},
		{"IP header", func(b []byte) { b[1] = 0; b[8] = 3; b[6] = 0; b[15] = 9; b[3] = 0x44 }, 0, ShownAll, []Field{
			{"DSCP", "46", "0"}, {"ECN", "2", "0"}, {"length", "64", "68"}, {"source address", "10.0.0.1", "10.0.0.9"}, {"TTL", AsSent, "by +2"}, {"don't fragment", "true", "false"}}},
		{"TCP header", func(b []byte) { b[tcp+1] = 0x41; b[tcp+7] = 0x65; b[tcp+11] = 1; b[tcp+13] = 2; b[tcp+15] = 0 }, 0, ShownAll, []Field{
			{"source port", AsSent, "to 40001"}, {"sequence number", AsSent, "by +1"}, {"acknowledgement", "0", "1"}, {"flags", "CWR ECE SYN", "SYN"}, {"window", "64240", "64000"}}},
		{"an MSS that is lowered", func(b []byte) { binary.BigEndian.PutUint16(b[optionsAt+2:], 1380) }, 0, ShownAll, []Field{{"MSS", "1460", "1380"}}},
		{"options that are taken out", func(b []byte) { copy(b[optionsAt+4:], bytes.Repeat([]byte{1}, 12)) }, 0, ShownAll, []Field{
			{"SACK permitted", "there", None}, {"time stamps", AsSent, None}}},
		{"an option that is put in", func(b []byte) { b[optionsAt+20] = 76 }, 0, ShownAll, []Field{
			{"Multipath TCP", "0101", None}, {"option 76", None, "0101"}}},
		{"time stamps of another clock", func(b []byte) { b[optionsAt+11] = 0x63 }, 0, ShownAll, []Field{{"time stamps", AsSent, "by -1"}}},
		{"8 bytes", func(b []byte) { b[tcp+7] = 0x65; b[tcp+13] = 2 }, 8, ShownPorts, []Field{{"sequence number", AsSent, "by +1"}}},
		{"no more than the IP header", func(b []byte) { b[tcp+7] = 0x65 }, -1, ShownIP, nil},
		{"the TCP header without options", func(b []byte) { b[optionsAt] = 9 }, 20, ShownHeader, nil},
		{"a part of the options", func(b []byte) { binary.BigEndian.PutUint16(b[optionsAt+2:], 1380) }, 25, ShownHeader, []Field{{"MSS", "1460", "1380"}}},
	} {
		seen := quote(t, syn, c.change)
		if c.cut != 0 {
			seen.Transport = seen.Transport[:max(0, c.cut)]
		}
		var got []Field
		for _, f := range Fields(sent, seen, 1) {
			if f.Sent != f.Seen {
				got = append(got, f)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || Shown(seen) != c.shown {
			t.Errorf("%s: %s is shown, want %s (-want +got):\n%s", c.name, Shown(seen), c.shown, diff)
		}
	}
}

// What is known at some places and not at others is changed between the last place that shows it as before and the first that does not.
func TestChanges(t *testing.T) {
	mss := func(sent, seen string) Field { return Field{"MSS", sent, seen} }
	port := Field{"source port", AsSent, AsSent}
	points := []Point{
		{Hop: 1, Fields: []Field{mss("1460", "1460"), port, {"DSCP", "46", "0"}}},
		{Hop: 2, Fields: []Field{port, {"DSCP", "46", "0"}}},
		{Hop: 4, Fields: []Field{mss("1460", "1380"), port, {"DSCP", "46", "46"}}},
		{Hop: 6, Far: true, Fields: []Field{mss("1460", "1380"), {"source port", AsSent, "to 61000"}, {"DSCP", "46", "46"}, {"window scale", "7", None}}},
	}
	want := []Change{
		{Field: "DSCP", From: "46", To: "0", By: 1},
		{Field: "MSS", From: "1460", To: "1380", After: 1, By: 4},
		{Field: "DSCP", From: "0", To: "46", After: 2, By: 4},
		{Field: "source port", From: AsSent, To: "to 61000", By: 6, Far: true},
		{Field: "window scale", From: "7", To: None, By: 6, Far: true},
	}
	if diff := cmp.Diff(want, Changes(points)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever is quoted has no more fields than it shows, and what is shown as it was sent is not changed.
func FuzzFields(f *testing.F) {
	whole, _ := hex.DecodeString(strings.ReplaceAll(syn, " ", ""))
	f.Add(whole)
	f.Add(whole[:28])
	f.Add(append(whole[:optionsAt:optionsAt], 8, 255, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		sent := quote(t, syn, nil)
		seen, err := icmp.ParseQuote(b)
		if err != nil {
			return
		}
		Changes([]Point{{Hop: 1, Shown: Shown(seen), Fields: Fields(sent, seen, 1)}})
		Fields(seen, sent, 0)
		TimeStamp(seen.Transport)
		for _, one := range Fields(seen, seen, 0) {
			if one.Sent != one.Seen {
				t.Errorf("%+v", one)
			}
		}
	})
}
