package echo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

var comparing = []cmp.Option{cmpopts.IgnoreUnexported(Targets{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	cmpopts.EquateEmpty()}

func at(address, name, where string) Target {
	a, _ := netip.ParseAddr(address)
	return Target{Name: name, Address: a, Where: where}
}

func TestTargetsAdd(t *testing.T) {
	for _, c := range []struct {
		give, want, problem string
	}{
		{give: "192.0.2.7", want: "192.0.2.7"},
		{give: "router-1.example.net", want: "router-1.example.net"},
		{give: "2001:db8::1", want: "2001:db8::1"},
		{give: "[2001:db8::1]", want: "2001:db8::1"},
		{give: "fe80::1%eth0", want: "fe80::1%eth0"},
		{give: "192.0.2.0/30", want: "192.0.2.1 192.0.2.2"},
		{give: "192.0.2.4/31", want: "192.0.2.4 192.0.2.5"},
		{give: "192.0.2.4/32", want: "192.0.2.4"},
		{give: "2001:db8::8/126", want: "2001:db8::8 2001:db8::9 2001:db8::a 2001:db8::b"},
		{give: "255.255.255.252/30", want: "255.255.255.253 255.255.255.254"},
		{give: "", problem: `target "": give a name, an address, or a prefix such as 192.0.2.0/28`},
		{give: "192.0.2.300", problem: `target "192.0.2.300": give a name, an address, or a prefix such as 192.0.2.0/28`},
		{give: "192.0.2.7:80", problem: `target "192.0.2.7:80": give a name, an address, or a prefix such as 192.0.2.0/28`},
		{give: "two words", problem: `target "two words": give a name, an address, or a prefix such as 192.0.2.0/28`},
		{give: "a..b", problem: `target "a..b": give a name, an address, or a prefix such as 192.0.2.0/28`},
		{give: "224.0.0.1", problem: `target "224.0.0.1": give addresses of single hosts`},
		{give: "255.255.255.255", problem: `target "255.255.255.255": give addresses of single hosts`},
		{give: "::", problem: `target "::": give addresses of single hosts`},
		{give: "192.0.2.5/28", problem: `target "192.0.2.5/28": give 192.0.2.0/28, or 192.0.2.5 alone`},
		{give: "10.0.0.0/15", problem: `target "10.0.0.0/15": give a prefix of at least 16 bits: 65536 targets are the most`},
		{give: "2001:db8::/64", problem: `target "2001:db8::/64": give a prefix of at least 112 bits: 65536 targets are the most`},
		{give: "host/24", problem: `target "host/24": give a prefix such as 192.0.2.0/28 or 2001:db8::/120`},
		{give: "239.0.0.0/24", problem: `target "239.0.0.0/24": give addresses of single hosts`},
	} {
		var list Targets
		err := list.Add(c.give, "")
		var names []string
		for _, target := range list.All {
			names = append(names, target.Name)
		}
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if got := strings.Join(names, " "); got != c.want || problem != c.problem || err != nil && !input.Bad(err) {
			t.Errorf("%q: %q, %q; want %q, %q", c.give, got, problem, c.want, c.problem)
		}
	}
}

const hostsFile = `# the office
192.0.2.1     # printer

gateway.example
192.0.2.0/30  # the first again
GATEWAY.example.
`

func TestTargetsRead(t *testing.T) {
	var list Targets
	if err := list.Add("192.0.2.2", ""); err != nil {
		t.Fatal(err)
	}
	if err := list.Read(strings.NewReader(hostsFile), "hosts.txt"); err != nil {
		t.Fatal(err)
	}
	want := Targets{
		All: []Target{at("192.0.2.2", "192.0.2.2", ""), at("192.0.2.1", "192.0.2.1", "hosts.txt:2"), at("", "gateway.example", "hosts.txt:4")},
		Repeats: []Repeat{
			{at("192.0.2.1", "192.0.2.1", "hosts.txt:5"), at("192.0.2.1", "192.0.2.1", "hosts.txt:2")},
			{at("192.0.2.2", "192.0.2.2", "hosts.txt:5"), at("192.0.2.2", "192.0.2.2", "")},
			{at("", "GATEWAY.example.", "hosts.txt:6"), at("", "gateway.example", "hosts.txt:4")},
		},
	}
	if diff := cmp.Diff(want, list, comparing...); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var told []string
	for _, r := range list.Repeats {
		told = append(told, r.String())
	}
	if diff := cmp.Diff([]string{
		"hosts.txt:5: 192.0.2.1 is given twice, first at hosts.txt:2",
		"hosts.txt:5: 192.0.2.2 is given twice",
		"hosts.txt:6: GATEWAY.example. is given twice, first as gateway.example at hosts.txt:4",
	}, told); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestTargetsReadRefuses(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name, text, want string
		bad              bool
	}{
		{"a wrong line", "192.0.2.1\nnot a host\n", `hosts.txt:2: target "not a host": give a name, an address, or a prefix such as 192.0.2.0/28`, true},
		{"a long line", "192.0.2.1\n" + strings.Repeat("a", 1<<17), `hosts.txt:2: a line of more than 65536 bytes: give one target a line`, true},
		{"too many", "10.0.0.0/16\n10.1.0.0/29\n", `hosts.txt:2: targets "10.1.0.3": give at most 65536`, true},
	} {
		var list Targets
		err := list.Read(strings.NewReader(c.text), "hosts.txt")
		if err == nil || err.Error() != c.want || input.Bad(err) != c.bad {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	var list Targets
	if err := list.Read(failing{broken}, "hosts.txt"); !errors.Is(err, broken) || input.Bad(err) {
		t.Errorf("%v; want a failure of reading", err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// Names that are one host are one target, and one that is not known does not stop the others.
func TestResolve(t *testing.T) {
	list := Targets{}
	for _, text := range []string{"192.0.2.1", "one.example", "also-one.example", "unknown.example", "six.example", "2001:db8::6"} {
		if err := list.Add(text, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := list.Read(strings.NewReader("lost.example\n"), "hosts.txt"); err != nil {
		t.Fatal(err)
	}
	known := map[string]string{"one.example": "192.0.2.2", "also-one.example": "192.0.2.2", "six.example": "2001:db8::7"}
	find := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if known[host] == "" {
			return nil, nil
		}
		return []netip.Addr{netip.MustParseAddr(known[host])}, nil
	}
	var told []string
	for _, u := range list.Resolve(t.Context(), find, sock.IPv4) {
		told = append(told, u.Name+": "+u.Err.Error())
	}
	want := Targets{All: []Target{at("192.0.2.1", "192.0.2.1", ""), at("192.0.2.2", "one.example", "")},
		Repeats: []Repeat{{at("192.0.2.2", "also-one.example", ""), at("192.0.2.2", "one.example", "")}}}
	if diff := cmp.Diff(want, list, comparing...); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		`unknown.example: resolve "unknown.example": no such host; check the name or give an address`,
		`six.example: target "six.example": it has no IPv4 address; choose the other family`,
		`2001:db8::6: target "2001:db8::6": it has no IPv4 address; choose the other family`,
		`lost.example: hosts.txt:1: resolve "lost.example": no such host; check the name or give an address`,
	}, told); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Whatever a file holds, each target is in the list once, and what is in it is read again the same.
func FuzzTargets(f *testing.F) {
	f.Add(hostsFile)
	f.Add("2001:db8::/126\n[::1]\r\nfe80::1%lo")
	f.Fuzz(func(t *testing.T, text string) {
		var list Targets
		err := list.Read(strings.NewReader(text), "file")
		if err != nil && !input.Bad(err) {
			t.Errorf("not the caller's to mend: %v", err)
		}
		var again Targets
		for _, target := range list.All {
			if err := again.Add(target.Name, target.Where); err != nil {
				t.Fatalf("%+v: %v", target, err)
			}
		}
		if len(again.Repeats) > 0 || fmt.Sprint(again.All) != fmt.Sprint(list.All) {
			t.Errorf("%d targets, read again %d with %d repeats", len(list.All), len(again.All), len(again.Repeats))
		}
	})
}
