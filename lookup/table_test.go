package lookup

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found is what a source says of an address.
func found(t Finder[ASN], address string) string {
	as, prefix, ok := t.Find(netip.MustParseAddr(address))
	if !ok {
		return "-"
	}
	text := fmt.Sprintf("AS%d", as.Number)
	if as.Name != "" {
		text += " " + as.Name
	}
	if as.Country != "" {
		text += ", " + as.Country
	}
	return text + " " + prefix.String()
}

func TestReadASNs(t *testing.T) {
	table, err := ReadASNs(strings.NewReader(`; pyasn
10.0.0.0/8	64500
10.1.0.0/16	64501
# pfx2as
10.1.2.0	24	64502_64503
2001:db8::	32	64510,64511

192.0.2.0	192.0.2.191	64520	CH	EXAMPLE - Example
192.0.2.64	192.0.2.95	0	None	Not routed
2001:db8:1::	2001:db8:2:ffff:ffff:ffff:ffff:ffff	64530	FR	Range
255.255.255.0/24 64540
`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, address := range []string{"9.255.255.255", "10.0.0.0", "10.0.255.255", "10.1.0.0", "10.1.2.3", "10.1.3.0", "10.2.0.0", "11.0.0.0", "192.0.2.1", "192.0.2.70", "192.0.2.150",
		"192.0.2.192", "255.255.255.255", "2001:db7::", "2001:db8::1", "2001:db8:1::1", "2001:db8:2::", "2001:db8:3::", "2001:db9::", "::ffff:10.1.2.3", "fe80::1%eth0"} {
		got[address] = found(table, address)
	}
	want := map[string]string{"9.255.255.255": "-", "10.0.0.0": "AS64500 10.0.0.0/8", "10.0.255.255": "AS64500 10.0.0.0/8", "10.1.0.0": "AS64501 10.1.0.0/16",
		"10.1.2.3": "AS64502 10.1.2.0/24", "10.1.3.0": "AS64501 10.1.0.0/16", "10.2.0.0": "AS64500 10.0.0.0/8", "11.0.0.0": "-",
		"192.0.2.1": "AS64520 EXAMPLE - Example, CH 192.0.2.0/25", "192.0.2.70": "AS64520 EXAMPLE - Example, CH 192.0.2.0/25",
		"192.0.2.150": "AS64520 EXAMPLE - Example, CH 192.0.2.128/26", "192.0.2.192": "-", "255.255.255.255": "AS64540 255.255.255.0/24",
		"2001:db7::": "-", "2001:db8::1": "AS64510 2001:db8::/32", "2001:db8:1::1": "AS64530 Range, FR 2001:db8:1::/48", "2001:db8:2::": "AS64530 Range, FR 2001:db8:2::/48",
		"2001:db8:3::": "AS64510 2001:db8::/32", "2001:db9::": "-", "::ffff:10.1.2.3": "AS64502 10.1.2.0/24", "fe80::1%eth0": "-"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if table.Len() != 7 {
		t.Errorf("%d ranges, want 7", table.Len())
	}
	var none *Table[ASN]
	if found(none, "10.0.0.1") != "-" || none.Len() != 0 {
		t.Error("an empty table knows something")
	}
}

func TestReadASNsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                  `line 1: "hello": want a prefix and a number, an address, a length and a number, or two addresses and a number`,
		"# ok\n10.0.0.0\t33\t1":  `line 2: "10.0.0.0\t33\t1": want a length of a prefix of at most 32`,
		"10.0.0.9\t10.0.0.1\t1":  `line 1: "10.0.0.9\t10.0.0.1\t1": want a length or a last address of the same family, not below the first`,
		"10.0.0.0\t2001::\t1":    `line 1: "10.0.0.0\t2001::\t1": want a length or a last address of the same family, not below the first`,
		"10.0.0.0/8\tx":          `line 1: "10.0.0.0/8\tx": want the number of an autonomous system`,
		"10.0.0.0/8\t4294967296": `line 1: "10.0.0.0/8\t4294967296": want a number of an autonomous system below 2^32`,
		"10.0.0.0/8\t1" + strings.Repeat("0", mostLine): "read prefixes: bufio.Scanner: token too long",
	} {
		if _, err := ReadASNs(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestReadOwners(t *testing.T) {
	table, err := ReadOwners(strings.NewReader(`% a dump
inetnum:        192.0.2.0 - 192.0.2.255
netname:        EXAMPLE
descr:          Example University # of nowhere
descr:          second line
                goes on
country:        ch

inet6num:       2001:db8::/32
netname:        V6
country:        FR

inetnum:        198.51.100/24
owner:          unreadable

inetnum:        192.0.2.128/25
owner:          A part` + "\x1b[2J" + `

person:         Nobody
country:        DE
`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Owner{}
	for _, a := range []string{"192.0.2.1", "192.0.2.200", "2001:db8::9", "198.51.100.1"} {
		got[a], _, _ = table.Find(netip.MustParseAddr(a))
	}
	want := map[string]Owner{"192.0.2.1": {"Example University", "CH"}, "192.0.2.200": {Name: "A part[2J"}, "2001:db8::9": {"V6", "FR"}, "198.51.100.1": {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A table says the same as a look at every prefix does.
func TestTableAgainstAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 15 {
		var all []span[int]
		for i := range 1 + r.IntN(40) {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], r.Uint32()&0x0f0000ff) // close together, so that they lie in each other
			a := netip.AddrFrom4(b)
			if i%3 == 0 {
				a = netip.AddrFrom16([16]byte{0x20, 14: b[0], 15: b[3]})
			}
			p, _ := a.Prefix(r.IntN(a.BitLen() + 1))
			all = append(all, spanOf(p, i))
		}
		table := newTable(all)
		for range 100 {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], r.Uint32()&0x0f0000ff)
			a := netip.AddrFrom4(b)
			if r.IntN(3) == 0 {
				a = netip.AddrFrom16([16]byte{0x20, 14: b[0], 15: b[3]})
			}
			want, longest := -1, -1
			for i, s := range all {
				if p := prefixIn(s.first, s.last, a); p.IsValid() && p.Contains(a) && p.Bits() >= longest {
					want, longest = i, p.Bits()
				}
			}
			got, _, ok := table.Find(a)
			if !ok {
				got = -1
			}
			if got != want {
				t.Fatalf("%v: range %d, want %d of %v", a, got, want, all)
			}
		}
	}
}

func FuzzReadASNs(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8\t64500\n", "10.0.0.0\t8\t1_2\n", "10.0.0.0\t10.0.0.9\t1\tCH\tx\n10.0.0.5\t10.0.1.9\t2\n", "::/0 1\n::ffff:1.2.3.4/120 2\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadASNs(strings.NewReader(text))
		if err != nil {
			return
		}
		checkSorted(t, table)
	})
}

func FuzzReadOwners(f *testing.F) {
	f.Add("inetnum: 10.0.0.0 - 10.0.0.9\nnetname: x\n\ninet6num: ::/0\nowner: y\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadOwners(strings.NewReader(text))
		if err != nil {
			return
		}
		checkSorted(t, table)
	})
}

// checkSorted holds a table to its order, and each of its ranges to be found by what it says, or by one in it.
func checkSorted[V any](t *testing.T, table *Table[V]) {
	for i := 1; i < len(table.starts4); i++ {
		if table.starts4[i-1] >= table.starts4[i] {
			t.Fatal("the starts of IPv4 are not sorted")
		}
	}
	for i := 1; i < len(table.starts6); i++ {
		if compare6(table.starts6[i-1], table.starts6[i]) >= 0 {
			t.Fatal("the starts of IPv6 are not sorted")
		}
	}
	for _, s := range table.ranges {
		if _, p, ok := table.Find(s.first); !s.first.Is4In6() && (!ok || !p.Contains(s.first)) {
			t.Fatalf("%v to %v is not found", s.first, s.last)
		}
	}
}

// A table as large as the global one of IPv4.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []span[ASN]
	for range 1_000_000 {
		var x [4]byte
		binary.BigEndian.PutUint32(x[:], r.Uint32())
		p, _ := netip.AddrFrom4(x).Prefix(16 + r.IntN(9))
		all = append(all, spanOf(p, ASN{Number: 1}))
	}
	table := newTable(all)
	a := netip.AddrFrom4([4]byte{1, 2, 3, 4})
	for b.Loop() {
		table.Find(a)
		a = a.Next()
	}
}
