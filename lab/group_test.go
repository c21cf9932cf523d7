package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fan has three members behind two routers, one of them behind a link that loses every second packet.
const fan = `
hosts: {a: {}, b: {}, c: {}, d: {}}
routers: [r, s]
groups: {239.1.2.3: [a, b, c, d], "ff05::7": [b, a]}
links:
  - {between: [a, r], rate: 10mbit, delay: 1ms}
  - {between: [r, s], rate: 10mbit, delay: 5ms}
  - {between: [s, b], delay: 1ms}
  - {between: [s, c], delay: 2ms, forward: {loss: {every: 2}}}
  - {between: [r, d], delay: 3ms}
`

// accounts tells what became of the packets of each flow: sent, delivered, dropped.
func (v *virtual) accounts() map[string]string {
	all := map[string]string{}
	for _, f := range v.Book.Totals() {
		all[f.Name] = fmt.Sprint(f.Packets, f.Delivered, f.Duplicates, f.Dropped)
	}
	return all
}

// carried tells how many packets each direction carried that carried any.
func (v *virtual) carried() map[string]uint64 {
	all := map[string]uint64{}
	for _, l := range v.Truth().Links {
		if l.Packets > 0 {
			all[strings.Join(l.Between[:], " ")+" "+l.Direction] = l.Packets
		}
	}
	return all
}

// A packet for a group takes each link once, comes to every other member once, and has an account for each.
func TestGroup(t *testing.T) {
	v := newVirtual(t, fan)
	for i := range 10 {
		v.Inject(int64(i)*int64(10*time.Millisecond), 0, v.udp("10.0.0.1", "239.1.2.3", 64, 500, i))
	}
	v.Inject(0, 0, v.udp("10.0.0.1", "239.9.9.9", 64, 500, 0))  // nobody's group
	v.Inject(0, 0, v.udp("10.0.99.1", "239.1.2.3", 64, 500, 0)) // nobody's address
	v.Advance(forever)
	want := map[string]string{
		"udp 10.0.0.1:1000 > 10.0.2.2:2000": "10 10 0 map[]",
		"udp 10.0.0.1:1000 > 10.0.3.2:2000": "10 5 0 map[loss:5]",
		"udp 10.0.0.1:1000 > 10.0.4.2:2000": "10 10 0 map[]",
	}
	if diff := cmp.Diff(want, v.accounts()); diff != "" {
		t.Errorf("flows (-want +got):\n%s", diff)
	}
	links := map[string]uint64{"a r forward": 10, "r s forward": 10, "s b forward": 10, "s c forward": 10, "r d forward": 10}
	if diff := cmp.Diff(links, v.carried()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if len(v.got) != 25 {
		t.Errorf("%d packets came, want 25", len(v.got))
	}
}

// Who sends need not be the file's first member, and IPv6 has groups too.
func TestGroupOfIPv6(t *testing.T) {
	v := newVirtual(t, fan)
	v.Inject(0, 4, v.udp("fd70:6174:6877:2::2", "ff05::7", 64, 500, 0))
	v.Advance(forever)
	want := map[string]string{"udp [fd70:6174:6877:2::2]:1000 > [fd70:6174:6877::1]:2000": "1 1 0 map[]"}
	if diff := cmp.Diff(want, v.accounts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Equally short ways lead to no copy too many; packets whose hops are used up, and members that no way leads to, are counted as what they are.
func TestGroupWays(t *testing.T) {
	const diamond = `
hosts: {a: {}, b: {}, c: {}}
routers: {r: {balance: packet}, up: {}, down: {}, s: {balance: flow}}
reroute: 1ms
groups: {239.1.2.3: [a, b, c]}
links:
  - {between: [a, r]}
  - {between: [r, up]}
  - {between: [r, down]}
  - {between: [up, s]}
  - {between: [down, s]}
  - {between: [s, b]}
  - {between: [down, c]}
timeline: [{at: 1s, between: [down, c], down: true}]
`
	for name, c := range map[string]struct {
		at   time.Duration
		hops byte
		want [2]string // of b and c
	}{
		"far enough":   {0, 64, [2]string{"1 1 0 map[]", "1 1 0 map[]"}},
		"c alone":      {0, 3, [2]string{"1 0 0 map[ttl:1]", "1 1 0 map[]"}},
		"hops used up": {0, 1, [2]string{"1 0 0 map[ttl:1]", "1 0 0 map[ttl:1]"}},
		"no way to c":  {2 * time.Second, 64, [2]string{"1 1 0 map[]", "1 0 0 map[no_route:1]"}},
	} {
		v := newVirtual(t, diamond)
		v.Advance(int64(c.at))
		v.Inject(int64(c.at), 0, v.udp("10.0.0.1", "239.1.2.3", c.hops, 500, 0))
		v.Advance(forever)
		want := map[string]string{"udp 10.0.0.1:1000 > 10.0.5.2:2000": c.want[0], "udp 10.0.0.1:1000 > 10.0.6.2:2000": c.want[1]}
		if diff := cmp.Diff(want, v.accounts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestGroupsAreChecked(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("h%d", i)
	}
	for want, groups := range map[string]string{
		`groups: "10.0.0.1": want a multicast address`: "{10.0.0.1: [a]}",
		`groups: "224.0.0.5": want a multicast`:        "{224.0.0.5: [a]}",
		`groups: "ff02::1": want a multicast`:          `{"ff02::1": [a]}`,
		`groups: 239.1.1.1: "r": no such host`:         "{239.1.1.1: [a, r]}",
		`groups: 239.1.1.1: "a" twice`:                 "{239.1.1.1: [a, a]}",
		`groups: 239.1.1.1: 65 members`:                "{239.1.1.1: [" + strings.Join(many, ", ") + "]}",
	} {
		_, err := ParseSpec("lab.yaml", []byte("hosts: {a: {}, b: {}}\nrouters: [r]\ngroups: "+groups+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "lab.yaml:3:") {
			t.Errorf("%s:\ngot  %v\nwant %s", groups, err, want)
		}
	}
}
