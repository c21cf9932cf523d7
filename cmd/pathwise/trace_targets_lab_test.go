package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// treeHops is how long the routes are to the hosts of a tree.
const treeHops = 12

// tree is a lab of so many hosts behind four branches of a trunk of seven routers, of which the first answers no oftener than limit a second.
func tree(hosts, limit int) string {
	var s strings.Builder
	s.WriteString("hosts:\n  bob: {}\n")
	for i := range hosts {
		fmt.Fprintf(&s, "  h%d: {}\n", i)
	}
	fmt.Fprintf(&s, "routers:\n  r1: {icmp: {rate: %d/s, burst: 20}}\n", limit)
	links := "  - {between: [bob, r1], delay: 1ms}\n"
	for i := 2; i <= 7; i++ {
		fmt.Fprintf(&s, "  r%d: {}\n", i)
		links += fmt.Sprintf("  - {between: [r%d, r%d], delay: 1ms}\n", i-1, i)
	}
	for branch := range 4 {
		for i := 8; i < treeHops; i++ {
			fmt.Fprintf(&s, "  b%d-%d: {}\n", branch, i)
			from := fmt.Sprintf("b%d-%d", branch, i-1)
			if i == 8 {
				from = "r7"
			}
			links += fmt.Sprintf("  - {between: [%s, b%d-%d], delay: 1ms}\n", from, branch, i)
		}
	}
	for i := range hosts {
		links += fmt.Sprintf("  - {between: [b%d-%d, h%d], delay: 1ms}\n", i%4, treeHops-1, i)
	}
	return s.String() + "links:\n" + links
}

// Many hosts are traced in one command, each to its end, while no router is asked too often: the first one, which answers hardly more than that, answers
// all. PATHWISE_SWEEPS=all takes 500 hosts, and in less than a minute.
func TestManyTracesInLab(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	hosts, rate := 24, 60
	if allSweeps() {
		hosts, rate = 500, 200
	}
	spec, err := lab.ParseSpec(t.Name(), []byte(tree(hosts, rate+rate/10)))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	file := filepath.Join(t.TempDir(), "hosts.txt")
	if err := os.WriteFile(file, []byte(listed(hosts)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments []string
		nobody    bool
	}{{nil, false}, {[]string{"--proto", "icmp"}, true}, {[]string{"--proto", "tcp"}, true}} {
		if c.nobody && os.Geteuid() != 0 {
			continue // who is root of a user namespace alone can be nobody else there
		}
		argv := append([]string{lab.Self(), "trace", "--json", "--hop-rate", fmt.Sprint(rate)}, c.arguments...)
		if c.nobody { // who may not read the file
			argv = asNobody(append(argv, strings.Fields(listed(hosts))...))
		} else {
			argv = append(argv, "--targets", file)
		}
		var out bytes.Buffer
		began := time.Now()
		onHost(t, l, "bob", &out, argv...)
		took := time.Since(began)
		t.Logf("%v: %d targets in %.1f s", c.arguments, hosts, took.Seconds())
		if took > time.Minute {
			t.Errorf("%v: took %v", c.arguments, took)
		}
		checkTraces(t, &out, hosts)
	}
}

// listed are the hosts of a tree, a line each.
func listed(hosts int) string {
	var s strings.Builder
	for i := range hosts {
		fmt.Fprintf(&s, "h%d\n", i)
	}
	return s.String()
}

// checkTraces holds traces of the hosts of a tree against it.
func checkTraces(t *testing.T, out *bytes.Buffer, hosts int) {
	t.Helper()
	i, unanswered := 0, map[int]int{}
	for lines := json.NewDecoder(out); lines.More(); i++ {
		var r measure.Result
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Target.Name != fmt.Sprintf("h%d", i) || r.Metrics[measure.HopCount] != treeHops || len(r.Samples.Hops) != treeHops {
			t.Errorf("line %d is of %s: %v hops, %v", i, r.Target.Name, r.Metrics[measure.HopCount], r.Notes)
			continue
		}
		for ttl, h := range r.Samples.Hops {
			if answers(h) < len(h.RTTSeconds) {
				unanswered[ttl+1]++
			}
			if len(h.Addresses) != 1 || ttl == treeHops-1 && h.Addresses[0] != r.Target.Address {
				t.Errorf("%s: hop %+v", r.Target.Name, h)
			}
		}
	}
	if i != hosts {
		t.Errorf("%d lines, want %d", i, hosts)
	}
	for ttl, n := range unanswered {
		if n > hosts/20+1 { // a busy machine may be late
			t.Errorf("hop %d did not answer all of %d targets", ttl, n)
		}
	}
}
