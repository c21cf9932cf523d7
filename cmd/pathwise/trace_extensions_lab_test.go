package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// What a lab's routers tell of MPLS labels and interfaces (RFC 4950, RFC 5837) is read alike by pathwise, by traceroute -e, by scamper, which reads
// answers with one object, and by tshark.
func TestTraceExtensionsBesideOthers(t *testing.T) {
	installed(t, "traceroute", "scamper", "tshark")
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(`
hosts: {bob: {}, carol: {sysctl: {net.ipv4.icmp_ratelimit: "0", net.ipv6.icmp.ratelimit: "0"}}}
routers:
  r1: {mpls: [1048575, 16, 3], mpls_class: 5, mpls_ttl: 254}
  r2: {interfaces: true}
  r3: {mpls: [23990], mpls_class: 2, interfaces: [incoming, sub-ip, outgoing, next-hop]}
  r4: {interfaces: [outgoing]}
  r5: {interfaces: [next-hop]}
  r6: {mpls: [1, 2, 3, 4, 5, 6, 7, 8]}
links:
  - {between: [bob, r1], delay: 1ms}
  - {between: [r1, r2], delay: 1ms}
  - {between: [r2, r3], delay: 1ms, mtu: 9000}
  - {between: [r3, r4], delay: 1ms, mtu: 1400}
  - {between: [r4, r5], delay: 1ms}
  - {between: [r5, r6], delay: 1ms}
  - {between: [r6, carol], delay: 1ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	const hops = 7
	for family, carol := range map[string]string{"-4": "10.0.6.2", "-6": "fd70:6174:6877:6::2"} {
		var own measure.Result
		captured := capturedOnBob(t, l, func() {
			if err := json.Unmarshal(printedOnBob(t, l, lab.Self(), "trace", carol, family, "--json", "-n", "1"), &own); err != nil {
				t.Fatal(err)
			}
		})
		if len(own.Samples.Hops) != hops {
			t.Fatalf("%s: %d hops", family, len(own.Samples.Hops))
		}
		var roles []string
		for i, h := range own.Samples.Hops {
			if i < hops-1 && h.MPLS == nil && h.Interfaces == nil {
				t.Errorf("%s: hop %d tells nothing", family, h.TTL)
			}
			for _, p := range h.Interfaces {
				roles = append(roles, p.Role)
			}
		}
		if want := []string{"arrived by", "arrived by", "arrived by part", "would leave by", "next hop", "would leave by", "next hop"}; !slices.Equal(roles, want) {
			t.Errorf("%s: roles %q, want %q", family, roles, want)
		}
		type reading struct {
			as     func(measure.Hop) string
			theirs map[string]string // by address
		}
		readings := map[string]reading{
			"traceroute": {asTraceroute, readTraceroute(printedOnBob(t, l, "traceroute", family, "-n", "-e", "-q", "1", carol))},
			"tshark":     {asShark, readShark(t, captured)},
		}
		if os.Geteuid() == 0 { // who is root of a user namespace alone can be nobody else there, which scamper insists on
			readings["scamper"] = reading{asScamper, readScamper(t, printedOnBob(t, l, scamperInLab("trace -P udp-paris -w 1 -q 1", carol)...))}
		}
		for by, told := range readings {
			want, got := map[string]string{}, map[string]string{}
			for _, h := range own.Samples.Hops {
				want[h.Addresses[0]], got[h.Addresses[0]] = told.as(h), told.theirs[h.Addresses[0]]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, by address (-pathwise +%s)\n%s", family, by, diff)
			}
		}
	}
}

// The lab's routers write by other code than that by which a trace reads: what both get wrong alike would show in no test of one against the other.
func TestLabWritesByOtherCode(t *testing.T) {
	const module = "github.com/pathwise-net/pathwise/"
	ours := func(name string) (all []string) {
		printed, err := exec.Command("go", "list", "-deps", module+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		for p := range strings.FieldsSeq(string(printed)) {
			if strings.HasPrefix(p, module) {
				all = append(all, strings.TrimPrefix(p, module))
			}
		}
		return all
	}
	writes, reads := ours("lab/packet"), ours("proto/icmp")
	if !slices.Contains(writes, "lab/packet") || !slices.Contains(reads, "proto/icmp") {
		t.Fatalf("the packages are %q and %q", writes, reads)
	}
	for _, p := range writes {
		if slices.Contains(reads, p) {
			t.Errorf("lab/packet and proto/icmp share %s", p)
		}
	}
}

func printedOnBob(t *testing.T, l *lab.Lab, argv ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	onHost(t, l, "bob", &out, argv...)
	return out.Bytes()
}

// scamperInLab is a command line of scamper, which does not begin without a name server, and asks it nothing.
func scamperInLab(command, target string) []string {
	const named = `f=$(mktemp); echo nameserver 127.0.0.1 >$f; mount --bind $f /etc/resolv.conf; rm -f $f; exec scamper "$@"`
	return []string{"unshare", "-m", "sh", "-c", named, "scamper", "-O", "json", "-c", command, "-i", target}
}

// capturedOnBob is the file of what passes bob meanwhile.
func capturedOnBob(t *testing.T, l *lab.Lab, do func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "captured.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error)
	go func() { ended <- l.Capture(ctx, file, "bob") }()
	until(t, "a capture", func() bool {
		begun, err := file.Stat()
		return err == nil && begun.Size() > 0
	})
	do()
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return file.Name()
}
