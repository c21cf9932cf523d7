package probe

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// The search finds the MTU of any path in a few rounds, whatever routers say of it, and where they say what is so in two.
func TestMTUSearch(t *testing.T) {
	for _, c := range []struct {
		name         string
		least, most  int
		path         int // MTU; 0: nothing comes through
		told, rounds int // what a router says at the first, 0: nothing; rounds at the most
	}{
		{"all that this host sends", 68, 1500, 1500, 0, 1},
		{"told", 68, 1500, 1400, 1400, 3},
		{"told what is too small", 68, 1500, 1400, 1300, 6},
		{"told what is too large", 68, 1500, 1400, 1450, 6},
		{"told more than was sent", 68, 1500, 1400, 9000, 5},
		{"a usual one", 68, 1500, 1492, 0, 3},
		{"an unusual one", 68, 1500, 1333, 0, 5},
		{"the least", 68, 1500, 68, 0, 5},
		{"nothing comes through", 68, 1500, 0, 0, 1},
		{"jumbo frames", 68, 9000, 9000, 0, 1},
		{"behind jumbo frames", 68, 9000, 8191, 0, 6},
		{"the largest packets", 68, 65535, 40000, 0, 8},
		{"IPv6", 1280, 1500, 1281, 0, 5},
		{"IPv6, the least", 1280, 1500, 1280, 0, 5},
	} {
		s := &mtuSearch{least: c.least, most: c.most}
		rounds := 0
		for sizes := s.round(); sizes != nil && rounds < 20; sizes = s.round() {
			rounds++
			passed, silent := 0, map[int]bool{}
			for i, size := range sizes {
				if i > 0 && size >= sizes[i-1] || size < c.least || size > c.most {
					t.Fatalf("%s: a round of %v", c.name, sizes)
				}
				if size <= c.path {
					passed = max(passed, size)
				} else {
					silent[size] = c.told == c.path && c.told > 0
				}
			}
			s.tried(passed, silent)
			s.told = c.told
		}
		if s.passes != c.path || rounds > c.rounds {
			t.Errorf("%s: found %d in %d rounds, want %d in %d", c.name, s.passes, rounds, c.path, c.rounds)
		}
	}
}

// A size whose packets were lost by accident is tried again.
func TestMTUSearchAfterLosses(t *testing.T) {
	s := &mtuSearch{least: 68, most: 1500}
	for rounds, sizes := 0, s.round(); sizes != nil; rounds, sizes = rounds+1, s.round() {
		passed, silent := 0, map[int]bool{}
		for _, size := range sizes {
			if size > 1400 || rounds == 0 && size > 1280 { // in the first round 1400 got lost
				silent[size] = false
			} else {
				passed = max(passed, size)
			}
		}
		s.tried(passed, silent)
	}
	if s.passes != 1400 {
		t.Errorf("found %d, want 1400", s.passes)
	}
}

// Which hop narrows a path is known as well as the hops answer.
func TestMTUNarrowing(t *testing.T) {
	at := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}) }
	hop := func(ttl int, reply string, addresses ...string) measure.Hop {
		return measure.Hop{TTL: ttl, Addresses: append([]string{}, addresses...), RTTSeconds: []*float64{}, Reply: reply}
	}
	passes := func(n int) mtuHop { return mtuHop{small: at(n), large: at(n)} }
	for _, c := range []struct {
		name string
		ttls []mtuHop
		want []measure.Hop
		text string
	}{
		{"a black hole", []mtuHop{passes(1), passes(2), {small: at(3)}, {target: true}},
			[]measure.Hop{hop(1, "", "10.0.0.1"), hop(2, mtuSilence, "10.0.0.2")},
			"larger packets vanish behind hop 2 (10.0.0.2), and nobody says why: a black hole"},
		{"before the target", []mtuHop{passes(1), {target: true}}, []measure.Hop{hop(1, mtuSilence, "10.0.0.1")},
			"larger packets vanish behind hop 1 (10.0.0.1), and nobody says why: a black hole"},
		{"among silent hops", []mtuHop{passes(1), {}, {}, {small: at(4)}, {target: true}},
			[]measure.Hop{hop(1, "", "10.0.0.1"), hop(2, ""), hop(3, mtuSilence)},
			"larger packets vanish behind hop 1 (10.0.0.1) or beyond, where hops answer nothing, and nobody says why: a black hole"},
		{"behind one of which larger ones are known to come", []mtuHop{passes(1), {}, passes(3), {small: at(4)}, {target: true}},
			[]measure.Hop{hop(1, "", "10.0.0.1"), hop(2, ""), hop(3, mtuSilence, "10.0.0.3")},
			"larger packets vanish behind hop 3 (10.0.0.3), and nobody says why: a black hole"},
		{"nobody answers", []mtuHop{{}, {}, {target: true}}, []measure.Hop{hop(1, ""), hop(2, mtuSilence)},
			"larger packets vanish at an unknown hop, and nobody says why: a black hole"},
		{"nobody answers, nor the target", nil, []measure.Hop{hop(1, mtuSilence)},
			"larger packets vanish at an unknown hop, and nobody says why: a black hole"},
		{"before the first hop", []mtuHop{{small: at(1)}, {target: true}}, []measure.Hop{hop(0, mtuSilence, "10.0.0.99")},
			"larger packets vanish on the link that this host is on, and nobody says why: a black hole"},
		{"refused", []mtuHop{passes(1), passes(2), {small: at(3), refused: at(2)}, {target: true, refused: at(2)}},
			[]measure.Hop{hop(1, "", "10.0.0.1"), hop(2, mtuRefused, "10.0.0.2")}, "larger packets are refused by hop 2 (10.0.0.2)"},
		{"refused by another address", []mtuHop{passes(1), passes(2), {small: at(3), refused: at(22)}, {target: true, refused: at(22)}},
			[]measure.Hop{hop(1, "", "10.0.0.1"), hop(2, mtuRefused, "10.0.0.22")}, "larger packets are refused by hop 2 (10.0.0.22)"},
		{"refused by one that answers nothing else", []mtuHop{passes(1), {}, {target: true, refused: at(2)}},
			[]measure.Hop{hop(1, "", "10.0.0.1"), hop(2, mtuRefused, "10.0.0.2")}, "larger packets are refused by hop 2 (10.0.0.2)"},
	} {
		got := mtuNarrowing(at(99), c.ttls)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if text := narrowedText(got); text != c.text {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}

// Loopback carries whatever IP has a length for. Paths with narrower links are those of docs/mtu.md, in the lab.
func TestMTULoopback(t *testing.T) {
	for _, target := range []string{"127.0.0.1", "::1"} {
		if _, err := sock.Source(netip.MustParseAddr(target)); err != nil {
			t.Logf("no %s on this machine: %v", target, err)
			continue
		}
		needEcho(t, target == "::1")
		r, err := MTU{Target: target}.Do(t.Context())
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if want := map[measure.Metric]float64{measure.PathMTU: 65535, measure.SentPackets: 2, measure.ReceivedPackets: 2}; !cmp.Equal(want, r.Metrics) ||
			len(r.Samples.Hops) > 0 {
			t.Errorf("%s: %v, hops %v, want %v and no hops", target, r.Metrics, r.Samples.Hops, want)
		}
	}
}

// Who reads the Result learns the size, and who takes no larger packets or behind whom they vanish.
func TestMTUText(t *testing.T) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.1"}}, {TTL: 2, Addresses: []string{"10.0.1.1"}}}
	for reply, want := range map[string]string{
		mtuRefused: "b (10.0.2.1): path MTU 1400 bytes\nlarger packets are refused by hop 2 (10.0.1.1)\n",
		mtuSilence: "b (10.0.2.1): path MTU 1400 bytes\nlarger packets vanish behind hop 2 (10.0.1.1), and nobody says why: a black hole\n",
	} {
		r := measure.NewResult("mtu", time.Now())
		r.Target = measure.Endpoint{Name: "b", Address: "10.0.2.1"}
		r.Metrics[measure.PathMTU], r.Samples.Hops = 1400, hops
		hops[1].Reply = reply
		var text strings.Builder
		if WriteText(&text, r); text.String() != want {
			t.Errorf("%s:\n%swant\n%s", reply, text.String(), want)
		}
	}
}
