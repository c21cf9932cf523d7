package lookup

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// However many ask for an address, and however often, a server is asked once, of what it knows and of what it does not.
func TestCacheAsksOnce(t *testing.T) {
	server, asked := nameServer(t, map[string][]string{"PTR 1.2.0.192.in-addr.arpa": {"r1.example.net"}})
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	c := NewCache(Sources{DNS: dns, Names: true})
	want := map[netip.Addr]Info{one: {Name: "r1.example.net"}}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			got, unanswered := c.All(context.Background(), []netip.Addr{one, other, netip.MustParseAddr("::ffff:192.0.2.1"), {}})
			if d := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" || unanswered != 0 {
				t.Errorf("%d are unanswered (-want +got):\n%s", unanswered, d)
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n != 2 {
		t.Errorf("%d questions of two addresses", n)
	}
	if got := c.Now(one); got != want[one] {
		t.Errorf("now it is %+v", got)
	}
}

// To begin waits for no server: what files know is there at once, and what a server that is silent did not say is asked no second time soon.
func TestCacheDoesNotWait(t *testing.T) {
	a := netip.MustParseAddr("192.0.2.1")
	server, asked := nameServer(t, map[string][]string{"TXT 1.2.0.192.origin.test": {"silence"}})
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCache(Sources{Hosts: map[netip.Addr]string{a: "home"}, DNS: dns, Zones: &Zones{V4: "origin.test"}})
	if got := c.Now(a); got != (Info{}) {
		t.Errorf("of what nobody asked for it knows %+v", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	began := time.Now()
	c.Begin(ctx, []netip.Addr{a})
	if took := time.Since(began); took > MostTime/2 {
		t.Errorf("to begin took %v", took)
	}
	if got := c.Now(a); got != (Info{Name: "home"}) {
		t.Errorf("it knows %+v", got)
	}
	select {
	case <-asked.first:
	case <-time.After(10 * MostTime):
		t.Fatal("the server was asked nothing")
	}
	cancel()
	began = time.Now()
	for range 2 {
		if got, unanswered := c.All(context.Background(), []netip.Addr{a}); unanswered != 1 || got[a].Name != "home" || len(got) != 1 {
			t.Errorf("%d are unanswered, %+v", unanswered, got)
		}
	}
	if took := time.Since(began); took > MostTime/2 {
		t.Errorf("once nobody wanted the answer any more, the question took %v", took)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// Of addresses beyond as many as are remembered files tell what they know, and no server is asked.
func TestCacheIsBounded(t *testing.T) {
	server, asked := nameServer(t, map[string][]string{"PTR 1.2.0.192.in-addr.arpa": {"r1.example.net"}})
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	first, beyond, named := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")
	c := NewCache(Sources{Hosts: map[netip.Addr]string{named: "home"}, DNS: dns, Names: true})
	c.Most = 1
	want := map[netip.Addr]Info{first: {Name: "r1.example.net"}, named: {Name: "home"}}
	for range 2 {
		got, unanswered := c.All(context.Background(), []netip.Addr{first, beyond, named, beyond, {}})
		if d := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" || unanswered != 2 {
			t.Errorf("%d are unanswered (-want +got):\n%s", unanswered, d)
		}
	}
	if n := asked.Load(); n != 1 || len(c.known) != 1 {
		t.Errorf("%d questions, %d remembered", n, len(c.known))
	}
}

// Many routes that share a router ask for it once, all together.
func TestCacheOfManyRoutes(t *testing.T) {
	server, asked := nameServer(t, nil)
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	var many []netip.Addr
	for i := range 500 {
		many = append(many, netip.MustParseAddr(fmt.Sprintf("192.0.%d.%d", i/250, 1+i%250)))
	}
	c := NewCache(Sources{DNS: dns, Names: true})
	var all sync.WaitGroup
	for i := range 100 { // each of five addresses that are its own, and of one that all have
		all.Go(func() { c.All(context.Background(), append([]netip.Addr{many[0]}, many[5*i:5*i+5]...)) })
	}
	all.Wait()
	if n := asked.Load(); n == 0 || n > 500 { // fewer where a busy machine has no time for all of them
		t.Errorf("%d questions of 500 addresses", n)
	}
}

// A server that was silent is asked again, once it was left alone for a while, and no sooner.
func TestCacheAsksASilentServerAgain(t *testing.T) {
	a := netip.MustParseAddr("192.0.2.1")
	const name = "PTR 1.2.0.192.in-addr.arpa"
	server, asked := nameServer(t, map[string][]string{name: {"silence"}})
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCache(Sources{DNS: dns, Names: true})
	var gone time.Duration
	began := time.Now()
	c.now = func() time.Time { return began.Add(gone) }
	silent, cancel := context.WithCancel(context.Background())
	c.Begin(silent, []netip.Addr{a})
	select {
	case <-asked.first:
	case <-time.After(10 * MostTime):
		t.Fatal("the server was asked nothing")
	}
	cancel()
	if _, unanswered := c.All(context.Background(), []netip.Addr{a}); unanswered != 1 {
		t.Fatal("a silent server answered")
	}
	answers, _ := nameServer(t, map[string][]string{name: {"r1.example.net"}})
	if dns, err = NewDNS(answers); err != nil {
		t.Fatal(err)
	}
	c.sources.DNS = dns
	for _, step := range []struct {
		wait time.Duration
		want string
	}{{AskAgain - time.Second, ""}, {AskAgain, "r1.example.net"}, {10 * AskAgain, "r1.example.net"}} {
		gone = step.wait
		if all, _ := c.All(context.Background(), []netip.Addr{a}); all[a].Name != step.want {
			t.Errorf("after %v: %q, want %q", step.wait, all[a].Name, step.want)
		}
	}
}
