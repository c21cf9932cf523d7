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

// The search finds the MTU of any path, whatever routers say of it, in as many sizes as a plan reckons with, and where they say what is
// so in three.
func TestMTUSearch(t *testing.T) {
	for _, c := range []struct {
		name  string
		path  int // MTU; 0: nothing comes through
		told  int // what a router says of packets that are larger; 0: nothing
		known int // what the kernel has learnt
		tried []int
	}{
		{"all that this host sends", 1500, 0, 0, []int{1500}},
		{"told", 1400, 1400, 0, []int{1500, 1400, 1401}},
		{"told what is too small", 1400, 1300, 0, nil},
		{"told what is too large", 1400, 1450, 0, nil},
		{"told more than was sent", 1400, 9000, 0, nil},
		{"told nothing", 1400, 0, 0, []int{1500, 68, 784, 1142, 1321, 1410, 1365, 1387, 1398, 1404, 1401, 1399, 1400}},
		{"known", 1400, 1400, 1400, []int{1500, 1400, 1401}},
		{"the least", 68, 0, 0, nil},
		{"nothing comes through", 0, 0, 0, []int{1500, 68}},
	} {
		s := &mtuSearch{least: 68, most: 1500, told: c.known}
		var tried []int
		for size, more := s.next(); more; size, more = s.next() {
			tried = append(tried, size)
			s.tried(size, size <= c.path)
			if size > c.path && c.told > 0 {
				s.told = c.told
			}
			if len(tried) > mtuSizes {
				break
			}
		}
		if s.passes != c.path || len(tried) > mtuSizes {
			t.Errorf("%s: found %d, want %d, by %v", c.name, s.passes, c.path, tried)
		}
		if diff := cmp.Diff(c.tried, tried); c.tried != nil && diff != "" {
			t.Errorf("%s: sizes (-want +got):\n%s", c.name, diff)
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
		if want := map[measure.Metric]float64{measure.PathMTU: 65535, measure.SentPackets: 1, measure.ReceivedPackets: 1}; !cmp.Equal(want, r.Metrics) ||
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
