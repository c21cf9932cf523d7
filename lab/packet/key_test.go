package packet

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDescribe(t *testing.T) {
	want := map[string]string{
		"tcp4":   "tcp 10.0.0.1:5201 > 10.0.2.2:40000 101 bytes",
		"syn4":   "tcp 10.0.0.1:5201 > 10.0.2.2:40000 SYN 0 bytes",
		"udp4":   "udp 10.0.0.1:5201 > 10.0.2.2:40000 101 bytes",
		"echo4":  "icmp 10.0.0.1 > 10.0.2.2 id 7 echo request 101 bytes",
		"error4": "icmp 10.0.0.1 > 10.0.2.2 time exceeded about udp 10.0.2.2:5201 > 10.0.0.1:40000",
		"gre4":   "47 10.0.0.1 > 10.0.2.2 101 bytes",
		"tcp6":   "tcp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000 101 bytes",
		"syn6":   "tcp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000 SYN 0 bytes",
		"udp6":   "udp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000 101 bytes",
		"echo6":  "icmp6 2001:db8::1 > 2001:db8:0:2::2 id 7 echo request 101 bytes",
		"error6": "icmp6 2001:db8::1 > 2001:db8:0:2::2 time exceeded about " +
			"udp [2001:db8:0:2::2]:5201 > [2001:db8::1]:40000",
		"gre6":        "47 2001:db8::1 > 2001:db8:0:2::2 101 bytes",
		"options4":    "tcp 10.0.0.1:5201 > 10.0.2.2:40000 101 bytes",
		"extensions6": "tcp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000 101 bytes",
	}
	got := map[string]string{}
	for _, s := range samples() {
		got[s.name] = describe(s.data)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTransportBehindExtensions(t *testing.T) {
	type place struct {
		Protocol byte
		At       int
		Fragment bool
	}
	segment := tcp(FlagACK, nil, nil)
	for name, c := range map[string]struct {
		first   byte
		headers []byte
		want    place
	}{
		"none":           {0, nil, place{6, 40, false}},
		"hop by hop":     {hopByHop, []byte{6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, place{6, 56, false}},
		"authentication": {authentication, append([]byte{6, 4}, make([]byte, 22)...), place{6, 64, false}},
		"first fragment": {fragment, []byte{6, 0, 0, 1, 0, 0, 0, 9}, place{6, 48, true}},
		"atomic":         {fragment, []byte{6, 0, 0, 0, 0, 0, 0, 9}, place{6, 48, false}},
		"later fragment": {fragment, []byte{6, 0, 0, 8, 0, 0, 0, 9}, place{6, -1, true}},
		"routing, then fragment": {routing, []byte{fragment, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 9, 0, 0, 0, 9},
			place{6, -1, true}},
		"too long": {destination, []byte{6, 200, 0, 0, 0, 0, 0, 0}, place{6, -1, false}},
	} {
		b := ip(left6, right6, 6, c.headers, c.first, segment)
		protocol, at := Transport(b)
		if d := cmp.Diff(c.want, place{protocol, at, IsFragment(b)}); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// TestHashIsEven: 60,000 flows that differ little fall evenly into 64 bins, for two seeds, and independently of each
// other. The bound is chi-square's quantile at 0.999 for 63 degrees of freedom, 103.4 (NIST/SEMATECH handbook
// 1.3.6.7.4).
func TestHashIsEven(t *testing.T) {
	const flows, bins, bound = 60000, 64, 103.4
	var one, other, both [bins]float64
	for i := range flows {
		k := Key{Source: [16]byte{10, 0, 0, byte(i % 20)}, Target: [16]byte{10, 0, 2, 2}, SourcePort: uint16(40000 + i/20),
			TargetPort: 5201, Protocol: 6, Version: 4}
		a, b := k.Hash(1), k.Hash(2)
		one[a%bins]++
		other[b>>58]++
		both[a%8*8+b%8]++
	}
	for i, counts := range [][bins]float64{one, other, both} {
		chi := 0.0
		for _, n := range counts {
			chi += (n - flows/bins) * (n - flows/bins) / (flows / bins)
		}
		if chi > bound {
			t.Errorf("hash %d: chi-square %.1f, want at most %v", i, chi, bound)
		}
	}
}

// TestHashSeesAll: keys that differ in one byte have hashes of their own.
func TestHashSeesAll(t *testing.T) {
	seen := map[uint64]Key{}
	keys := []Key{{}, {SourcePort: 1}, {SourcePort: 256}, {TargetPort: 1}, {TargetPort: 256}, {Protocol: 1}, {Version: 1}}
	for i := range 16 {
		var source, target Key
		source.Source[i], target.Target[i] = 1, 1
		keys = append(keys, source, target)
	}
	for _, k := range keys {
		h := k.Hash(1)
		if other, taken := seen[h]; taken || h != k.Hash(1) {
			t.Errorf("%+v and %+v have the same hash, or one has two", k, other)
		}
		seen[h] = k
	}
}

// TestNoAllocation: what is done to every packet takes no memory.
func TestNoAllocation(t *testing.T) {
	var pool Pool
	p := super(&pool, GSOTCP6, true, random(newRand(), 9000), 1000, FlagACK)
	single := packetOf(&pool, find(t, "tcp4"))
	m := &Match{Source: prefix("10.0.0.0/24"), Port: 5201, DSCP: Codepoints{0, 46}}
	for name, do := range map[string]func(){
		"key":      func() { sink = KeyOf(p.Data); sink.Reverse().Hash(1) },
		"match":    func() { m.Matches(single.Data) },
		"cut":      func() { pool.Put(pool.Cut(p, 2, 5)) },
		"split":    func() { pool.Split(pool.Clone(p), pool.Put) },
		"rewrite":  func() { single.Rewrite(true, ends(right4, 9)); single.StripOption(OptionTimestamps) },
		"complain": func() { pool.Put(Complaint(&pool, right6, p, HopsUsedUp, 0)) },
	} {
		do()
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCauseNamesAll(t *testing.T) {
	for c := range Causes {
		if c.String() == "" || c.String() == "unknown" {
			t.Errorf("cause %d has no name", c)
		}
	}
}

var sink Key

func BenchmarkKeyOf(b *testing.B) {
	for _, name := range []string{"tcp4", "tcp6", "echo4"} {
		data := find(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = KeyOf(data)
			}
		})
	}
}

func BenchmarkHash(b *testing.B) {
	k := KeyOf(find(b, "tcp6"))
	b.ReportAllocs()
	for b.Loop() {
		k.Hash(7)
	}
}

func BenchmarkMatches(b *testing.B) {
	data := find(b, "tcp4")
	m := &Match{Source: Prefix{netip.MustParsePrefix("10.0.0.0/24")}, Port: 5201, Protocol: ProtocolTCP,
		DSCP: Codepoints{0}}
	b.ReportAllocs()
	for b.Loop() {
		if !m.Matches(data) {
			b.Fatal("no match")
		}
	}
}
