package host

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vishvananda/netlink/nl"

	"github.com/pathwise-net/pathwise/sock"
)

func TestParsers(t *testing.T) {
	for _, test := range []struct {
		name  string
		parse func(string) map[string]uint64
		text  string
		want  map[string]uint64
	}{
		{"softnet", parseSoftnet, "0000000a 00000002 00000001 0 0 0 0 0 0 0 0 0 00000003\n0000000b 0 0 0 0 0 0 0 0 0 0 0 00000005\n",
			map[string]uint64{"softnet.3.processed": 10, "softnet.3.dropped": 2, "softnet.3.squeezed": 1,
				"softnet.5.processed": 11, "softnet.5.dropped": 0, "softnet.5.squeezed": 0}},
		{"softnet of old kernels", parseSoftnet, "01 02 03\n04 05 06\n",
			map[string]uint64{"softnet.0.processed": 1, "softnet.0.dropped": 2, "softnet.0.squeezed": 3,
				"softnet.1.processed": 4, "softnet.1.dropped": 5, "softnet.1.squeezed": 6}},
		{"stat", parseStat, "cpu  9 9 9\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 5\n", map[string]uint64{"cpu.1.user": 1, "cpu.1.nice": 2, "cpu.1.system": 3,
			"cpu.1.idle": 4, "cpu.1.iowait": 5, "cpu.1.irq": 6, "cpu.1.softirq": 7, "cpu.1.steal": 8}},
		{"vmstat", parseVMStat, "pswpin 4\nbad x\n", map[string]uint64{"vm.pswpin": 4}},
		{"sockstat", parseSockets, "sockets: used 9\nTCP: inuse 25 orphan 3 odd\n",
			map[string]uint64{"sockets.used": 9, "TCP.inuse": 25, "TCP.orphan": 3}},
	} {
		if diff := cmp.Diff(test.want, test.parse(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestParseFiles(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want any
	}{
		{"sysctl.conf", parseSysctlFile("# a comment\n; another\n net.ipv4.tcp_rmem =\t4096  131072 6291456\n-net/ipv4/conf/eth0.1/rp_filter=2\n" +
			"net.ipv4.conf.*.rp_filter = 1\nno value =\nnonsense\n"),
			map[string]string{"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.conf.eth0/1.rp_filter": "2"}},
		{"path of a key", sysctlFile("net.ipv4.conf.eth0/1.rp_filter"), "proc/sys/net/ipv4/conf/eth0.1/rp_filter"},
		{"key that leads elsewhere", safeKey("net.//..passwd"), false},
		{"interrupts", parseInterrupts("      CPU0  CPU1\n 38: 0 77805 PCI-MSIX-0000:00:03.0 1-edge virtio2-input.0\nNMI: 1 2 Non-maskable\n 9: x 1 a b\n"),
			[]Interrupt{{Number: 38, Interface: "virtio2-input.0", Counts: []uint64{0, 77805}}}},
		{"mounts", parseMounts("/dev/sdb1 /data\\0401 xfs rw,noatime 0 0\n# none\nshort\n"),
			[]Mount{{Device: "/dev/sdb1", Path: "/data 1", Type: "xfs", Options: []string{"rw", "noatime"}}}},
		{"meminfo", parseMemory("MemTotal:  1024 kB\nHugePages_Total: 3\n"), map[string]float64{"MemTotal": 1 << 20}},
		{"scheduler", chosen("mq-deadline kyber [none]\n"), "none"},
		{"the only scheduler", chosen("none\n"), "none"},
		{"uevent", parseDriver("PCI_ID=8086:1563\nDRIVER=ixgbe\n"), "ixgbe"},
		{"hosts", parseHosts("192.0.2.1 a b # c\nx y\n::1 a\n"), map[string][]netip.Addr{
			"a": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::1")}, "b": {netip.MustParseAddr("192.0.2.1")}}},
		{"sections", parseSections("[Match]\nName=eth0\n# x\n[Link]\nMTUBytes = 9000\n"), map[string]string{"Match.Name": "eth0", "Link.MTUBytes": "9000"}},
		{"interfaces", parseInterfaces("auto eth0\niface eth0 inet static\n  mtu 9000\nauto eth1\n mtu 1\n"), map[string]string{"eth0": "9000"}},
		{"PCI Express 3, 8 lanes", pciRate("8.0", "8"), 8e9 * 8 * 128 / 130},
		{"PCI Express 2, 4 lanes", pciRate("5.0", "4"), 16e9},
		{"no PCI Express", pciRate("Unknown", ""), 0.0},
		{"link mode", speedOf("25000baseCR/Full"), 25e9},
		{"no link mode", speedOf("Autoneg") + speedOf("10000"), 0.0},
	} {
		if diff := cmp.Diff(test.want, test.got, cmpopts.IgnoreUnexported(Interrupt{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// step is an expression of a rule with its attributes: numbers in four bytes, the most significant first, or data.
func step(name string, attrs map[uint16]any) expression {
	all := attributes{}
	for kind, value := range attrs {
		switch v := value.(type) {
		case int:
			all[kind] = binary.BigEndian.AppendUint32(nil, uint32(v))
		case string:
			all[kind] = []byte(v + "\x00")
		case []byte: // in an attribute of data
			all[kind] = nl.NewRtAttr(1, v).Serialize()
		case *nl.RtAttr:
			all[kind] = v.Serialize()
		}
	}
	return expression{name, all}
}

// verdict is the step that ends a rule: 0 drops, 1 accepts.
func verdictStep(code int) expression {
	data := nl.NewRtAttr(2, nil)
	data.AddRtAttr(1, binary.BigEndian.AppendUint32(nil, uint32(code)))
	return step("immediate", map[uint16]any{1: 0, 2: data})
}

// Rules are understood as nft writes them: nft --debug=netlink shows their steps.
func TestReadRule(t *testing.T) {
	protocol := step("meta", map[uint16]any{2: 16, 1: 1})
	is := func(b ...byte) expression { return step("cmp", map[uint16]any{1: 1, 2: 0, 3: b}) }
	icmpType := step("payload", map[uint16]any{1: 1, 2: 2, 3: 0, 4: 1})
	state := step("ct", map[uint16]any{2: 0, 1: 1})
	masked := func(mask uint32) expression {
		return step("bitwise", map[uint16]any{1: 1, 2: 1, 4: binary.NativeEndian.AppendUint32(nil, mask)})
	}
	notZero := step("cmp", map[uint16]any{1: 1, 2: 1, 3: []byte{0, 0, 0, 0}})
	for _, test := range []struct {
		name  string
		steps []expression
		want  Rule
		ends  bool
	}{
		{"ip protocol icmp drop", []expression{step("payload", map[uint16]any{1: 1, 2: 1, 3: 9, 4: 1}), is(1), verdictStep(0)},
			Rule{Protocol: icmp4, Text: "icmp drop"}, true},
		{"icmp type echo-request counter drop", []expression{protocol, is(1), icmpType, is(8), step("counter", nil), verdictStep(0)},
			Rule{Protocol: icmp4, Types: []int{8}, Text: "icmp type 8 drop"}, true},
		{"icmpv6 type { 1, 2 } accept", []expression{protocol, is(58), icmpType, step("lookup", map[uint16]any{1: "__set0", 2: 1}), verdictStep(1)},
			Rule{Protocol: icmp6, Types: []int{1, 2}, Accepts: true, Text: "icmpv6 types [1 2] accept"}, true},
		{"icmp limit rate over 10/second drop", []expression{protocol, is(1), step("limit", nil), verdictStep(0)},
			Rule{Protocol: icmp4, Narrow: true, Text: "icmp drop"}, true},
		{"ip frag-off & 0x1fff != 0 drop", []expression{step("payload", map[uint16]any{1: 1, 2: 1, 3: 6, 4: 2}), masked(0xff1f), notZero, verdictStep(0)},
			Rule{Fragments: true, Text: "fragments drop"}, true},
		{"exthdr frag exists drop", []expression{{"exthdr", attributes{1: {0, 0, 0, 1}, 2: {44}}}, is(1), verdictStep(0)},
			Rule{Fragments: true, Text: "fragments drop"}, true},
		{"ct state established,related accept", []expression{state, masked(6), notZero, verdictStep(1)},
			Rule{Related: true, Accepts: true, Text: "related accept"}, true},
		{"ct state invalid drop", []expression{state, masked(1), notZero, verdictStep(0)}, Rule{Narrow: true, Text: "drop"}, true},
		{"iif lo accept", []expression{step("meta", map[uint16]any{2: 4, 1: 1}), is(1, 0, 0, 0), verdictStep(1)}, Rule{Narrow: true, Accepts: true, Text: "accept"}, true},
		{"jump elsewhere", []expression{verdictStep(-3)}, Rule{Jumps: true, Text: "all"}, true},
		{"reject", []expression{protocol, is(1), step("reject", nil)}, Rule{Protocol: icmp4, Text: "icmp reject"}, true},
		{"counter", []expression{step("counter", nil)}, Rule{Text: "all"}, false},
	} {
		got, ends := readRule(test.steps, map[string][][]byte{"__set0": {{1}, {2}}})
		if diff := cmp.Diff(test.want, got); diff != "" || ends != test.ends {
			t.Errorf("%s: ends %v, want %v (-want +got):\n%s", test.name, ends, test.ends, diff)
		}
	}
}

// entry is one of ip_tables: a protocol, flags, a match of ICMP's type, and a verdict.
func entry(protocol, flags byte, icmpType int, verdict int32) []byte {
	raw := make([]byte, entryMatches)
	raw[entryProtocol], raw[entryFlags] = protocol, flags
	if icmpType >= 0 {
		match := make([]byte, extensionHeader+8)
		binary.NativeEndian.PutUint16(match, uint16(len(match)))
		copy(match[2:], "icmp")
		match[extensionHeader], match[extensionHeader+2] = byte(icmpType), 255
		raw = append(raw, match...)
	}
	binary.NativeEndian.PutUint16(raw[entryTarget:], uint16(len(raw)))
	target := make([]byte, extensionHeader+8)
	binary.NativeEndian.PutUint16(target, uint16(len(target)))
	binary.NativeEndian.PutUint32(target[extensionHeader:], uint32(verdict))
	raw = append(raw, target...)
	binary.NativeEndian.PutUint16(raw[entryNext:], uint16(len(raw)))
	return raw
}

func TestParseIPTables(t *testing.T) {
	const drop, accept = -1, -2
	first, second := entry(1, 0, 3, drop), entry(0, 1, -1, drop)
	policy := entry(0, 0, -1, accept)
	raw := append(append(append([]byte(nil), first...), second...), policy...)
	end := len(first) + len(second)
	chains, rules, err := parseIPTables(raw, map[int]string{0: "input"}, map[int]string{end: "input"})
	if err != nil {
		t.Fatal(err)
	}
	wantRules := []Rule{
		{Chain: "iptables filter input", Protocol: icmp4, Types: []int{3}, Text: "icmp type 3 drop"},
		{Chain: "iptables filter input", Number: len(first), Fragments: true, Text: "fragments drop"}}
	if diff := cmp.Diff(wantRules, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Chain{{Family: "iptables", Table: "filter", Name: "input", Hook: "input"}}, chains); diff != "" {
		t.Errorf("chains (-want +got):\n%s", diff)
	}
	if _, _, err := parseIPTables(raw[:len(raw)-1], nil, nil); err == nil {
		t.Error("a table that is cut off was read")
	}
}

// No text and no bytes break a parser.
func FuzzParsers(f *testing.F) {
	f.Add("Tcp: a b\nTcp: 1 2\n")
	f.Add("0000000a 00000002 00000001\n")
	f.Add("cpu0 1 2 3\nnet.ipv4.tcp_sack = 1\n[Match]\nName=eth0\niface eth0 inet\n mtu 9000\n")
	f.Add("      CPU0  CPU1\n 38: 0 77805 PCI-MSIX 1-edge virtio2-input.0\nMemTotal: 1 kB\nTCP: inuse 2\n/dev/a / ext4 rw 0 0\n::1 a\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) map[string]uint64{sock.ParseNetstat, parseSoftnet, parseStat, parseVMStat, parseSockets} {
			parse(text)
		}
		parseInterrupts(text)
		parseMounts(text)
		parseMemory(text)
		parseHosts(text)
		parseSections(text)
		parseInterfaces(text)
		parseDriver(text)
		chosen(text)
		speedOf(text)
		pciRate(text, text)
		parseSysctlFile(text)
	})
}

func FuzzFilters(f *testing.F) {
	f.Add(entry(1, 0, 3, -1), "cmp")
	f.Add(entry(0, 1, -1, -2), "immediate")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		_, _, _ = parseIPTables(raw, map[int]string{0: "input"}, map[int]string{0: "input"})
		if all, err := readAttributes(raw); err == nil {
			readRule([]expression{{name, all}, {"match", all}, {"lookup", all}, {"bitwise", all}, {"cmp", all}, {"immediate", all}}, nil)
			l := Link{}
			_, _, _, _, _ = l.modes(all), l.features(all), l.rings(all), l.channels(all), l.coalesce(all)
		}
		_, _ = readChain(raw)
		_, _ = readBits(raw)
	})
}
