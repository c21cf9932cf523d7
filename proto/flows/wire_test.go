package flows

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/traffic"
)

func TestMessages(t *testing.T) {
	terms := Terms{Longest: 3 * time.Second, Linger: time.Second, Rate: 1e6, Flows: []traffic.FlowLoad{{Packets: 7, Bytes: 700}, {Packets: 1 << 20, Bytes: 1 << 40}}}
	b := encodeHello("secret", terms)
	if n := flowsOf(b); n != 2 || len(b) != helloBytes+2*termBytes {
		t.Errorf("%d flows in %d bytes", n, len(b))
	}
	secret, got, err := decodeHello(b[:helloBytes], b[helloBytes:])
	if diff := cmp.Diff(terms, got); diff != "" || secret != "secret" || err != nil {
		t.Errorf("%q, %v (-want +got):\n%s", secret, err, diff)
	}
	w := welcome{verdict: tooMuch, number: number{1, 2}, allowed: Ask{Longest: time.Minute, Packets: 5, Rate: 2e9}}
	if got, err := decodeWelcome(w.encode()); got != w || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, w)
	}
	d := datagram{number: number{3}, flow: 5, dscp: 46, seq: 1 << 31, sent: 1 << 60}
	into := make([]byte, headerBytes)
	d.encode(into)
	if got := decodeDatagram(into); got != d {
		t.Errorf("%+v, want %+v", got, d)
	}
	a := Account{Foreign: 1, Strangers: 2, Flows: []FlowAccount{{SoFar{1, 2}, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, {}}}
	if got, err := decodeAccount(a.encode()[markBytes:]); err != nil || cmp.Diff(a, got) != "" {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(a, got))
	}
	soFar := []SoFar{{1, 2}, {3, 4}}
	if diff := cmp.Diff(soFar, decodeSoFar(encodeSoFar(soFar)[markBytes:])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What cannot be is refused.
func TestTermsValidate(t *testing.T) {
	good := Terms{Longest: time.Second, Flows: []traffic.FlowLoad{{Packets: 1}}}
	for name, change := range map[string]func(*Terms){
		"no flow": func(t *Terms) { t.Flows = nil }, "no time": func(t *Terms) { t.Longest = 0 }, "two days": func(t *Terms) { t.Longest = 48 * time.Hour },
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

// Losses, copies and order of a flow are counted by packets, and its delays vary as its packets did.
func TestArrivals(t *testing.T) {
	a := arrivals{most: 10}
	const ms = int64(time.Millisecond)
	for _, c := range []struct {
		seq  uint32
		at   int64 // in ms; packet n was sent at 10 n
		dscp int
		want bool
	}{{0, 5, 0, true}, {2, 25, 0, true}, {1, 27, 0, true}, {1, 28, 0, true}, {5, 55, 8, true}, {6, 66, -1, true}, {10, 70, 0, false}} {
		if got := a.take(datagram{seq: c.seq, sent: 10 * ms * int64(c.seq)}, 100, c.at*ms, c.dscp); got != c.want {
			t.Errorf("packet %d: %v", c.seq, got)
		}
	}
	want := FlowAccount{SoFar: SoFar{5, 500}, Copies: 1, Reordered: 1, MaxExtent: 1, MaxN: 1, LossRuns: 2, LongestRun: 2, Remarked: 1,
		Span: 61 * time.Millisecond, IPDVP95: 12 * time.Millisecond, PDVP95: 12 * time.Millisecond, PDVMost: 12 * time.Millisecond}
	if diff := cmp.Diff(want, a.account(8)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := new(arrivals).account(3); got != (FlowAccount{LossRuns: 1, LongestRun: 3}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(encodeHello("s", Terms{Longest: time.Second, Flows: []traffic.FlowLoad{{Packets: 1, Bytes: 100}}}))
	f.Add((&Account{Flows: []FlowAccount{{}}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= helloBytes {
			if n := flowsOf(b); len(b) >= helloBytes+n*termBytes {
				if _, terms, err := decodeHello(b, b[helloBytes:helloBytes+n*termBytes]); err == nil && terms.ask().Packets > traffic.MostPackets {
					t.Errorf("terms %+v", terms)
				}
			}
		}
		if len(b) >= welcomeBytes {
			_, _ = decodeWelcome(b[:welcomeBytes])
		}
		if len(b) >= accountBytes(1) {
			_, _ = decodeAccount(b[:accountBytes(1)])
		}
		if len(b) >= headerBytes {
			a := arrivals{most: 100}
			a.take(decodeDatagram(b), len(b), 0, -1)
		}
	})
}
