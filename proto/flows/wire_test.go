package flows

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/traffic"
)

func TestMessages(t *testing.T) {
	terms := Terms{Longest: 3 * time.Second, Linger: time.Second, Rate: 1e6, Flows: []traffic.FlowLoad{{Packets: 7, Bytes: 700}, {Packets: 1 << 20, Bytes: 1 << 40}},
		Interval: 200 * time.Millisecond, Intervals: 2, Script: "flow a", Turned: true}
	b := encodeHello("secret", terms)
	if n := restOf(b); n != 2*termBytes+6 || len(b) != helloBytes+n {
		t.Errorf("%d bytes behind a hello, of %d", n, len(b))
	}
	secret, got, err := decodeHello(b[:helloBytes], b[helloBytes:])
	if diff := cmp.Diff(terms, got); diff != "" || secret != "secret" || err != nil {
		t.Errorf("%q, %v (-want +got):\n%s", secret, err, diff)
	}
	w := welcome{verdict: tooMuch, number: number{1, 2}, allowed: Ask{Longest: time.Minute, Packets: 5, Rate: 2e9}}
	if got, err := decodeWelcome(w.encode()); got != w || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, w)
	}
	d := datagram{number: number{3}, flow: 5, dscp: 46, during: 49, seq: 1 << 31, sent: 1 << 60}
	into := make([]byte, headerBytes)
	d.encode(into)
	if got := decodeDatagram(into); got != d {
		t.Errorf("%+v, want %+v", got, d)
	}
	a := Account{Foreign: 1, Strangers: 2, Flows: []FlowAccount{{SoFar{1, 2}, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, []Interval{{SoFar{1, 2}, 3, 4}, {}}},
		{Intervals: make([]Interval, 2)}}}
	if got, err := decodeAccount(a.encode()[markBytes:], 2); err != nil || cmp.Diff(a, got) != "" {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(a, got))
	}
	script, _ := parsed(t, "flow a end 1s constant rate 1/s size 99\nflow b reverse end 1s constant rate 1/s size 99")
	sent := Sent{Packets: 4, Bytes: 2, Skipped: 3, Refused: 1, LateP95: 5, LateMost: 6, Intervals: []int{1, 3}}
	if got, err := decodeSent(encodeSent(script, []Sent{{}, sent})[markBytes:], 8); err != nil || cmp.Diff(sent, got) != "" {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(sent, got))
	}
	soFar := []SoFar{{1, 2}, {3, 4}}
	if got, err := decodeSoFar(encodeSoFar(soFar)[markBytes:]); err != nil || cmp.Diff(soFar, got) != "" {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(soFar, got))
	}
}

// Figures that cannot be do not enter.
func TestFiguresThatCannotBe(t *testing.T) {
	for _, bad := range []SoFar{{Packets: -1}, {Bytes: -1}} {
		if _, err := decodeSoFar(encodeSoFar([]SoFar{bad, {}})[markBytes:]); !errors.Is(err, errForeign) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	script, _ := parsed(t, "flow a reverse end 1s constant rate 1/s size 99")
	for name, bad := range map[string]Sent{
		"more than the flow has": {Packets: 9, Intervals: []int{9}}, "more skipped": {Skipped: 9, Intervals: []int{0}}, "more refused": {Refused: 9, Intervals: []int{0}},
		"more in intervals": {Packets: 2, Intervals: []int{1, 2}}, "fewer in intervals": {Packets: 2, Intervals: []int{1, 0}}, "less than none": {Bytes: -1},
	} {
		if _, err := decodeSent(encodeSent(script, []Sent{bad})[markBytes:], 8); !errors.Is(err, errForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What cannot be is refused.
func TestTermsValidate(t *testing.T) {
	good := Terms{Longest: time.Second, Flows: []traffic.FlowLoad{{Packets: 1}}, Interval: time.Second, Intervals: 1}
	for name, change := range map[string]func(*Terms){
		"no flow": func(t *Terms) { t.Flows = nil }, "no time": func(t *Terms) { t.Longest = 0 }, "two days": func(t *Terms) { t.Longest = 48 * time.Hour },
		"no interval": func(t *Terms) { t.Intervals = 0 }, "intervals": func(t *Terms) { t.Intervals = 51 }, "interval": func(t *Terms) { t.Interval = 0 },
		"script": func(t *Terms) { t.Script = strings.Repeat("#", traffic.MostText+1) },
		"linger": func(t *Terms) { t.Linger = time.Hour }, "packets": func(t *Terms) { t.Flows = []traffic.FlowLoad{{Packets: traffic.MostPackets + 1}} },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); !input.Bad(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

// A capture that a client replays may last longer than all that the server knows of the script.
func TestTermsWithReplay(t *testing.T) {
	text := "flow a replay file x\nflow b reverse end 300ms constant rate 50/s size 100"
	script, err := traffic.Parse(text, func(string, int) ([]traffic.Recorded, error) {
		return []traffic.Recorded{{Bytes: 100}, {After: time.Minute, Bytes: 100}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	terms, err := TermsOf(script, text, false, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := terms.reversed(); err != nil {
		t.Error(err)
	}
}

// Losses, copies and order of a flow are counted by packets, and its delays vary as its packets did.
func TestArrivals(t *testing.T) {
	a := arrivals{most: 10, intervals: make([]interval, 2)}
	const ms = int64(time.Millisecond)
	for _, c := range []struct {
		seq  uint32
		at   int64 // in ms; packet n was sent at 10 n
		dscp int
		want bool
	}{{0, 5, 0, true}, {2, 25, 0, true}, {1, 27, 0, true}, {1, 28, 0, true}, {5, 55, 8, true}, {6, 66, -1, true}, {10, 70, 0, false}} {
		if got := a.take(datagram{seq: c.seq, during: int(c.seq) / 4, sent: 10 * ms * int64(c.seq)}, 100, c.at*ms, c.dscp); got != c.want {
			t.Errorf("packet %d: %v", c.seq, got)
		}
	}
	want := FlowAccount{SoFar: SoFar{5, 500}, Copies: 1, Reordered: 1, MaxExtent: 1, MaxN: 1, LossRuns: 2, LongestRun: 2, Remarked: 1,
		Span: 61 * time.Millisecond, IPDVP95: 12 * time.Millisecond, PDVP95: 12 * time.Millisecond, PDVMost: 12 * time.Millisecond,
		Intervals: []Interval{{SoFar{3, 300}, 4 * time.Millisecond, 12 * time.Millisecond}, {SoFar{2, 200}, 500 * time.Microsecond, time.Millisecond}}}
	if diff := cmp.Diff(want, a.account(8)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(FlowAccount{LossRuns: 1, LongestRun: 3}, new(arrivals).account(3)); diff != "" {
		t.Errorf("of nothing (-want +got):\n%s", diff)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(encodeHello("s", Terms{Longest: time.Second, Flows: []traffic.FlowLoad{{Packets: 1, Bytes: 100}}}))
	f.Add((&Account{Flows: []FlowAccount{{Intervals: make([]Interval, 1)}}}).encode())
	f.Add(encodeHello("s", Terms{Longest: time.Second, Flows: make([]traffic.FlowLoad, 1), Interval: time.Second, Intervals: 1, Script: "flow a reverse end 1s constant rate 1/s size 99"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= helloBytes {
			if n := restOf(b); len(b) >= helloBytes+n && n > 0 {
				_, terms, err := decodeHello(b[:helloBytes], b[helloBytes:helloBytes+n])
				if err == nil && terms.ask().Packets > traffic.MostPackets {
					t.Errorf("terms %+v", terms)
				}
				if script, err := terms.reversed(); err == nil && script != nil && len(script.Flows) != len(terms.Flows) {
					t.Errorf("a script of %d flows, terms %+v", len(script.Flows), terms)
				}
			}
		}
		if len(b) >= welcomeBytes {
			_, _ = decodeWelcome(b[:welcomeBytes])
		}
		if len(b) >= accountBytes(1, 1) {
			_, _ = decodeAccount(b[:accountBytes(1, 1)], 1)
		}
		if len(b) >= sentBytes+4 {
			_, _ = decodeSent(b[:sentBytes+4], 1)
			_, _ = decodeSoFar(b)
		}
		if len(b) >= headerBytes {
			a := arrivals{most: 100, intervals: make([]interval, 50)}
			a.take(decodeDatagram(b), len(b), 0, -1)
		}
	})
}
