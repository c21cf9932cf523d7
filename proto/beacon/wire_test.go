package beacon

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	exampleProbe = &Probe{Member: 0x0102030405060708, Name: "bob", Sequence: 7, Planned: 100, Interval: 100 * time.Millisecond,
		Began: 0x1112131415161718, Sent: 0x2122232425262728, Error: 0x8102, TTL: 64, DSCP: 46}
	exampleReport = &ReceiverReport{Member: 0x0102030405060708, Name: "bob", Listening: 0x1112131415161718, Judged: 0x2122232425262728, Began: 0x3132333435363738, Sent: 9,
		Done: true, Told: true, Leaving: true, All: 3, Blocks: []Block{{Member: 0xa, Name: "eve", Age: 1500 * time.Millisecond, Known: 10, Done: true, Final: true,
			Figures: Figures{From: 1, To: 10, Received: 8, Duplicates: 3, Reordered: 2, MaxExtent: 5, LossRun: 1, Remarked: 4, Hops: 2, HopsMost: 3,
				Delay: Delay{-1, 2, 3}, Variation: Variation{4, 5}, ClockError: 9, ClockKnown: true}},
			{Member: 0xb, Name: "x", Known: 2, Figures: Figures{To: 2, LossRun: 2, Hops: -1, HopsMost: -1}}}}
)

const (
	probeText = "50574d42 01 01 00 03 0102030405060708 00000007 00000064 000186a0 1112131415161718 2122232425262728 8102 40 2e 626f62 0000"
	// A report, and its two blocks.
	reportText = "50574d42 01 02 0d 03 0102030405060708 1112131415161718 2122232425262728 3132333435363738 00000009 0002 0003 626f62" +
		"000000000000000a 03 03 02 03 000005dc 0000000a 00000001 0000000a 00000008 00000003 00000002 00000005 00000001 00000004" +
		"ffffffffffffffff 0000000000000002 0000000000000003 0000000000000004 0000000000000005 0000000000000009 657665" +
		"000000000000000b 00 01 ff ff 00000000 00000002 00000000 00000002 00000000 00000000 00000000 00000000 00000002 00000000" +
		"0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 ffffffffffffffff 78"
)

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Packets are laid out as the drawings say.
func TestPackets(t *testing.T) {
	for text, p := range map[string]Packet{probeText: exampleProbe, reportText: exampleReport} {
		want := bytesOf(t, text)
		var got []byte
		switch p := p.(type) {
		case *Probe:
			got = p.Append(nil, len(want))
		case *ReceiverReport:
			got = p.Append(nil)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", p, diff)
		}
		read, err := Decode(want)
		if diff := cmp.Diff(p, read); diff != "" || err != nil {
			t.Errorf("%T: %v (-want +got):\n%s", p, err, diff)
		}
	}
}

// What is no beacon's, or cannot be, is refused.
func TestBadPackets(t *testing.T) {
	set := func(text string, at int, value ...byte) []byte {
		b := bytesOf(t, text)
		copy(b[at:], value)
		return b
	}
	for name, c := range map[string]struct {
		packet []byte
		want   error
	}{
		"nothing":               {nil, ErrForeign},
		"a DNS query":           {bytesOf(t, "1234 0100 0001 0000 0000 0000 03777777 00 0001 0001"), ErrForeign},
		"short":                 {bytesOf(t, probeText)[:15], ErrForeign},
		"another version":       {set(probeText, 4, 2), ErrMalformed},
		"another kind":          {set(probeText, 5, 3), ErrMalformed},
		"probe cut off":         {bytesOf(t, probeText)[:50], ErrMalformed},
		"probe without a name":  {set(probeText, 7, 0), ErrMalformed},
		"a name that escapes":   {set(probeText, 48, 0x1b), ErrMalformed},
		"more than planned":     {set(probeText, 19, 100), ErrMalformed},
		"planned too many":      {set(probeText, 20, 0, 0, 0x27, 0x11), ErrMalformed},
		"no interval":           {set(probeText, 24, 0, 0, 0, 0), ErrMalformed},
		"no time":               {set(probeText, 36, 0, 0, 0, 0, 0, 0, 0, 0), ErrMalformed},
		"no error":              {set(probeText, 45, 0), ErrMalformed},
		"TTL 0":                 {set(probeText, 46, 0), ErrMalformed},
		"DSCP 64":               {set(probeText, 47, 64), ErrMalformed},
		"report cut off":        {bytesOf(t, reportText)[:49], ErrMalformed},
		"block cut off":         {bytesOf(t, reportText)[:100], ErrMalformed},
		"more than its blocks":  {append(bytesOf(t, reportText), 0), ErrMalformed},
		"sent, but never began": {set(reportText, 32, 0, 0, 0, 0, 0, 0, 0, 0), ErrMalformed},
		"blocks beyond all":     {set(reportText, 46, 0, 1), ErrMalformed},
		"too many blocks":       {set(reportText, 46, 1, 1), ErrMalformed},
		"received beyond":       {set(reportText, 51+31, 10), ErrMalformed},
		"judged beyond known":   {set(reportText, 51+27, 11), ErrMalformed},
		"no name in a block":    {set(reportText, 51+9, 0), ErrMalformed},
	} {
		if p, err := Decode(c.packet); !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// A report of all members that there may be takes packets of no more than what passes any path, with all its blocks.
func TestFit(t *testing.T) {
	blocks := make([]Block, MostMembers)
	for i := range blocks {
		blocks[i].Name = strings.Repeat("n", 1+i%mostName)
	}
	name, told := strings.Repeat("m", mostName), 0
	for left := blocks; len(left) > 0; {
		n := fit(name, left)
		r := ReceiverReport{Name: name, Judged: 1, Listening: 1, All: len(blocks), Blocks: left[:n]}
		b := r.Append(nil)
		if p, err := Decode(b); err != nil || len(p.(*ReceiverReport).Blocks) != n || len(b) > MostBytes || n == 0 {
			t.Fatalf("%d blocks in %d bytes: %v", n, len(b), err)
		}
		told, left = told+n, left[n:]
	}
	if told != len(blocks) {
		t.Errorf("%d blocks told", told)
	}
}

// Whatever arrives, decoding ends, and what it takes for a packet comes back from what that is written as.
func FuzzDecode(f *testing.F) {
	f.Add(bytesOf(f, probeText))
	f.Add(bytesOf(f, reportText))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		var again []byte
		switch p := p.(type) {
		case *Probe:
			again = p.Append(nil, len(b))
		case *ReceiverReport:
			again = p.Append(nil)
		}
		q, err := Decode(again)
		if diff := cmp.Diff(p, q); diff != "" || err != nil {
			t.Errorf("%v (-first +second):\n%s", err, diff)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for name, text := range map[string]string{"probe": probeText, "report": reportText} {
		packet := bytesOf(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
