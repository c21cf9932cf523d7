package lookup

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// written is the path of a file with a text, packed where its name says so.
func written(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	if strings.HasSuffix(name, ".gz") {
		packer := gzip.NewWriter(&b)
		if _, err := packer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := packer.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		b.WriteString(text)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Text and packed text, MaxMind DBs and all together.
func TestOpen(t *testing.T) {
	var s Sources
	var errs [4]error
	s.Hosts, errs[0] = OpenNames(written(t, "hosts", "# names\n10.0.1.1 home.example.net home # mine\n::ffff:10.0.1.1 later\nfd00::1 six\x1b[2J\n"))
	s.ASNs, errs[1] = OpenASNs("testdata/Test-ASN.mmdb")
	s.Owners, errs[2] = OpenOwners(written(t, "owners.gz", "inetnum: 10.0.1.0/24\ndescr: Example University\n"))
	s.Places, errs[3] = OpenPlaces("testdata/Test-City.mmdb")
	if errs != [4]error{} {
		t.Fatal(errs)
	}
	var addresses []netip.Addr
	for _, a := range []string{"10.0.1.1", "10.0.2.1", "10.0.3.1", "10.1.0.1", "192.0.2.1", "fd00::1", "2001:db8::1"} {
		addresses = append(addresses, netip.MustParseAddr(a))
	}
	ten, six := netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("2001:db8::/32")
	want := map[netip.Addr]Info{
		addresses[0]: {Name: "home.example.net", ASN: 64500, ASName: "EXAMPLE", Prefix: ten, Owner: "Example University",
			Place: Place{City: "Geneva", Country: "CH", Latitude: 46.2, Longitude: 6.14, Located: true}},
		addresses[1]: {ASN: 64500, ASName: "EXAMPLE", Prefix: ten, Place: Place{Country: "FR"}},
		addresses[2]: {ASN: 64500, ASName: "EXAMPLE", Prefix: ten, Place: Place{City: "Nowhere", Country: "XX"}},
		addresses[3]: {ASN: 64501, Prefix: netip.MustParsePrefix("10.1.0.0/16")},
		addresses[5]: {Name: "six[2J"},
		addresses[6]: {ASN: 64510, ASName: "SIX [2J", Prefix: six},
	}
	if d := cmp.Diff(want, allAnswered(t, s, append(addresses, netip.Addr{})), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOpenRefuses(t *testing.T) {
	asns := func(path string) error { _, err := OpenASNs(path); return err }
	places := func(path string) error { _, err := OpenPlaces(path); return err }
	names := func(path string) error { _, err := OpenNames(path); return err }
	owners := func(path string) error { _, err := OpenOwners(path); return err }
	for _, test := range []struct {
		open       func(string) error
		path, want string
	}{
		{asns, "testdata/Test-City.mmdb", `a MaxMind DB of type "Test-City", which has no numbers of autonomous systems`},
		{places, "testdata/Test-ASN.mmdb", `a MaxMind DB of type "Test-ASN", which has no places`},
		{asns, "testdata/none", "open testdata/none: no such file or directory"},
		{names, "testdata/none", "open testdata/none: no such file or directory"},
		{owners, "testdata", "read registrations: read testdata: is a directory"},
		{asns, written(t, "a", "hello"), `line 1: "hello": want a prefix and a number, an address, a length and a number, or two addresses and a number`},
		{names, written(t, "a", "10.0.0.1 a\n10.0.0.2 # b"), `line 2: "10.0.0.2 ": want an address and a name`},
		{places, written(t, "a", "# geofeed\n10.0.0.0/8,CH,,Geneva,,46"), `line 2: "": want degrees from -180 to 180`},
		{places, written(t, "a", "10.0.0.0/8,CH,,Geneva,,91,0"), `line 1: "91": want degrees from -90 to 90`},
		{places, written(t, "a", "x,CH"), `line 1: "x": want a prefix or an address`},
		{asns, written(t, "a", "\x1f\x8bnot packed"), "gzip: invalid header"},
		{asns, written(t, "a.mmdb", "\xab\xcd\xefMaxMind.com"), "read MaxMind DB: at offset 0: unexpected end of database"},
	} {
		want := test.path + ": " + test.want
		if filepath.Base(test.path) == "none" {
			want = test.want
		}
		if err := test.open(test.path); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestReadPlaces(t *testing.T) {
	table, err := ReadPlaces(strings.NewReader("# a geofeed\n10.0.0.0/8,ch,CH-GE,Geneva,\n10.0.1.0/24, FR,,\"Paris, centre\",,48.86,2.35\n10.0.2.1,DE\n10.0.3.0/24\n2001:db8::/32,,,,,0,-0.5\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Place{}
	for _, a := range []string{"10.9.9.9", "10.0.1.1", "10.0.2.1", "10.0.3.1", "2001:db8::1", "11.0.0.1"} {
		got[a], _, _ = table.Find(netip.MustParseAddr(a))
	}
	geneva := Place{City: "Geneva", Country: "CH"}
	want := map[string]Place{"10.9.9.9": geneva, "10.0.1.1": {"Paris, centre", "FR", 48.86, 2.35, true}, "10.0.2.1": {Country: "DE"}, "10.0.3.1": geneva,
		"2001:db8::1": {Longitude: -0.5, Located: true}, "11.0.0.1": {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A MaxMind DB with any of its bytes wrong is refused, or says something or nothing.
func TestDamagedMMDB(t *testing.T) {
	for _, name := range []string{"testdata/Test-ASN.mmdb", "testdata/Test-City.mmdb"} {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0xff
			lookThrough(damaged)
		}
	}
}

// A MaxMind DB in which each node leads to the next by both its bits has no end that a search comes to: it is refused all the same.
func TestEndlessMMDB(t *testing.T) {
	for _, empty := range []int{95, 127} { // the leaves are those of IPv4, which all else leads to as well, or those of IPv6
		db := endless(empty)
		if _, err := newMMDB[asnRecord](db, "numbers"); err == nil || err.Error() != `a MaxMind DB of type "x", which has no numbers` {
			t.Errorf("node %d is the last: %v", empty, err)
		}
	}
}

// endless is such a file. A node is two numbers of 24 bits: of nodes, or how many there are, where there is nothing.
func endless(last int) []byte {
	const nodes = 128
	var db []byte
	for i := range nodes {
		next := byte(i + 1)
		if i >= last {
			next = nodes
		}
		db = append(db, 0, 0, next, 0, 0, next)
	}
	db = append(db, make([]byte, 16)...)
	db = append(db, "\xab\xcd\xefMaxMind.com\xe9"...) // a map of nine
	name := func(s string) { db = append(append(db, 0x40|byte(len(s))), s...) }
	number := func(s string, kind, n byte) { name(s); db = append(db, kind|1, n) }
	const uint16s, uint32s, uint64s = 0xa0, 0xc0, 0x00
	number("node_count", uint32s, nodes)
	number("record_size", uint16s, 24)
	number("ip_version", uint16s, 6)
	number("binary_format_major_version", uint16s, 2)
	number("binary_format_minor_version", uint16s, 0)
	name("build_epoch")
	db = append(db, uint64s|1, 2, 1) // an extended kind: 7 + 2
	name("database_type")
	name("x")
	name("languages")
	db = append(db, 0, 4) // an empty array: 7 + 4
	name("description")
	return append(db, 0xe0)
}

// No file has more addresses than a host has room for.
func TestManyHosts(t *testing.T) {
	text := "10.0.0.1 a\n10.0.0.1 again\n10.0.0.2 b\n"
	if names, err := readHosts(strings.NewReader(text), 2); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := readHosts(strings.NewReader(text+"10.0.0.3 c\n"), 2); err == nil || err.Error() != "line 4: more than 2 addresses" {
		t.Error(err)
	}
}

func FuzzMMDB(f *testing.F) {
	for _, name := range []string{"testdata/Test-ASN.mmdb", "testdata/Test-City.mmdb"} {
		whole, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
	}
	f.Fuzz(func(t *testing.T, db []byte) { lookThrough(db) })
}

// lookThrough looks addresses up in a database that may be damaged.
func lookThrough(db []byte) {
	var s Sources
	s.ASNs, _ = newMMDB[asnRecord](db, "numbers")
	s.Places, _ = newMMDB[placeRecord](db, "places")
	s.All(context.Background(), []netip.Addr{netip.MustParseAddr("10.0.1.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("255.0.0.1")})
}

func FuzzReadPlaces(f *testing.F) {
	f.Add("10.0.0.0/8,CH,CH-GE,Geneva,,46.2,6.14\n#\n::/0,FR\n10.0.0.1,\"x\n")
	f.Fuzz(func(t *testing.T, text string) {
		if table, err := ReadPlaces(strings.NewReader(text)); err == nil {
			checkSorted(t, table)
		}
	})
}

func FuzzReadHosts(f *testing.F) {
	f.Add("10.0.0.1 a b # c\n\nfe80::1%eth0 z\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, _ := ReadHosts(strings.NewReader(text))
		for a, name := range names {
			if !a.IsValid() || a.Zone() != "" || strings.ContainsAny(name, "\x1b\x07\u009b") {
				t.Fatalf("%v: %q", a, name)
			}
		}
	})
}
