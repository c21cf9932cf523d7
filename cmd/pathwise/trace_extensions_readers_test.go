package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

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
