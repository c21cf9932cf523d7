package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	carrying(t)
	for _, program := range []string{"traceroute", "scamper", "tshark"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
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

// objectOf is an interface as RFC 5837 has it: the type, which says its role and which parts follow, and these.
func objectOf(p measure.HopPort) (kind byte, parts []byte) {
	kind = byte(slices.Index([]string{"arrived by", "arrived by part", "would leave by", "next hop"}, p.Role)) << 6
	if p.Index > 0 {
		kind, parts = kind|8, fmt.Appendf(nil, "%08x", p.Index)
	}
	if a, err := netip.ParseAddr(p.Address); err == nil {
		family := 1
		if a.Is6() {
			family = 2
		}
		kind, parts = kind|4, fmt.Appendf(parts, "%04x0000%x", family, a.AsSlice())
	}
	if p.Name != "" {
		long := (1 + len(p.Name) + 3) / 4 * 4
		kind, parts = kind|2, fmt.Appendf(parts, "%02x%x%s", long, p.Name, strings.Repeat("00", long-1-len(p.Name)))
	}
	if p.MTU > 0 {
		kind, parts = kind|1, fmt.Appendf(parts, "%08x", p.MTU)
	}
	parts, _ = hex.DecodeString(string(parts))
	return kind, parts
}

// labelsOf are the label, class, bottom and TTL of each entry of a stack.
func labelsOf(h measure.Hop) (all [][4]int) {
	for i, l := range h.MPLS {
		bottom := 0
		if i == len(h.MPLS)-1 {
			bottom = 1
		}
		all = append(all, [4]int{int(l.Label), l.Class, bottom, l.TTL})
	}
	return all
}

// labelsAs writes each entry of a stack by a format.
func labelsAs(h measure.Hop, format, between string) string {
	var all []string
	for _, l := range labelsOf(h) {
		all = append(all, fmt.Sprintf(format, l[0], l[1], l[2], l[3]))
	}
	return strings.Join(all, between)
}

// asTraceroute is what traceroute -e shows of a hop: <MPLS:L=17,E=0,S=1,T=1;2/15:00000001,…>, of what is no label the class, the type and words.
func asTraceroute(h measure.Hop) string {
	var all []string
	if h.MPLS != nil {
		all = append(all, "MPLS:"+labelsAs(h, "L=%d,E=%d,S=%d,T=%d", "/"))
	}
	for _, p := range h.Interfaces {
		kind, parts := objectOf(p)
		var words []string
		for word := range slices.Chunk(parts, 4) {
			words = append(words, fmt.Sprintf("%x", word))
		}
		all = append(all, fmt.Sprintf("2/%d:%s", kind, strings.Join(words, ",")))
	}
	return strings.Join(all, ";")
}

func readTraceroute(printed []byte) map[string]string {
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ *\d+ +(\S+) <(\S+)>`).FindAllStringSubmatch(string(printed), -1) {
		all[m[1]] = m[2]
	}
	return all
}

// asScamper is what scamper shows of a hop: of labels all, of what else there is class, type and length. Where there are several objects it shows none.
func asScamper(h measure.Hop) string {
	switch {
	case h.MPLS != nil && h.Interfaces == nil:
		return labelsAs(h, "%d class %d bottom %d TTL %d", ", ")
	case h.MPLS == nil && len(h.Interfaces) == 1:
		kind, parts := objectOf(h.Interfaces[0])
		return fmt.Sprintf("2/%d, %d bytes", kind, len(parts))
	}
	return ""
}

func readScamper(t *testing.T, printed []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	for lines := json.NewDecoder(bytes.NewReader(printed)); lines.More(); {
		var trace struct {
			Hops []struct {
				Addr    string
				ICMPExt []struct {
					Class  int `json:"ie_cn"`
					Kind   int `json:"ie_ct"`
					Length int `json:"ie_dl"`
					Labels []struct {
						TTL    int `json:"mpls_ttl"`
						Bottom int `json:"mpls_s"`
						Class  int `json:"mpls_exp"`
						Label  int `json:"mpls_label"`
					} `json:"mpls_labels"`
				}
			}
		}
		if err := lines.Decode(&trace); err != nil {
			t.Fatalf("%v: %s", err, printed)
		}
		for _, h := range trace.Hops {
			var objects []string
			for _, o := range h.ICMPExt {
				for _, l := range o.Labels {
					objects = append(objects, fmt.Sprintf("%d class %d bottom %d TTL %d", l.Label, l.Class, l.Bottom, l.TTL))
				}
				if o.Labels == nil {
					objects = append(objects, fmt.Sprintf("%d/%d, %d bytes", o.Class, o.Kind, o.Length))
				}
			}
			all[h.Addr] = strings.Join(objects, ", ")
		}
	}
	return all
}

// sharkFields are what tshark shows of an answer, after who sent it.
var sharkFields = []string{"icmp.mpls.label", "icmp.mpls.exp", "icmp.mpls.s", "icmp.mpls.ttl", "icmp.int_info.role", "icmp.int_info.index",
	"icmp.int_info.ipv4", "icmp.int_info.ipv6", "icmp.int_info.name", "icmp.int_info.mtu"}

// asShark is a hop as these fields show it: of each the values of all objects that have some.
func asShark(h measure.Hop) string {
	values := make([][]string, len(sharkFields))
	for _, l := range labelsOf(h) {
		for i, v := range l {
			values[i] = append(values[i], fmt.Sprint(v))
		}
	}
	for _, p := range h.Interfaces {
		kind, _ := objectOf(p)
		values[4] = append(values[4], fmt.Sprint(kind>>6))
		for at, v := range map[int]string{5: fmt.Sprint(p.Index), 8: p.Name, 9: fmt.Sprint(p.MTU)} {
			if v != "" && v != "0" {
				values[at] = append(values[at], v)
			}
		}
		if a, err := netip.ParseAddr(p.Address); err == nil && a.Is4() {
			values[6] = append(values[6], p.Address)
		} else if err == nil {
			values[7] = append(values[7], p.Address)
		}
	}
	var all []string
	for i, v := range values {
		all = append(all, sharkFields[i]+" "+strings.Join(v, ","))
	}
	return strings.Join(all, "\n")
}

func readShark(t *testing.T, file string) map[string]string {
	t.Helper()
	argv := []string{"-n", "-r", file, "-Y", "icmp.type == 11 || icmp.type == 3 || icmpv6.type == 3 || icmpv6.type == 1", "-T", "fields", "-E", "separator=|", "-e", "ip.src", "-e", "ipv6.src"}
	for _, f := range sharkFields {
		argv = append(argv, "-e", f)
	}
	printed, err := exec.Command("tshark", argv...).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(printed)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(fields) != 2+len(sharkFields) {
			t.Fatalf("tshark has %d fields: %s", len(fields), line)
		}
		from, _, _ := strings.Cut(fields[0]+fields[1], ",") // the second is of the quote
		var told []string
		for i, f := range fields[2:] {
			told = append(told, sharkFields[i]+" "+f)
		}
		all[from] = strings.Join(told, "\n")
	}
	return all
}
