package middlebox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

func parse(text string) (*Config, error) {
	var c Config
	err := notation.Unmarshal([]byte(text), &c)
	return &c, err
}

// examples has every key, plain and full.
var examples = map[string]string{
	"{nat: {outside: z, idle: 1m0s, filtering: port, entries: 100, forward: [{port: 80, to: web, to_port: 8080, protocol: tcp}], ipv6: true}}": "",
	"{nat: {outside: z, idle: {tcp: 1m0s, opening: 2s, udp: 3s, icmp: 4s}, forward: [{port: 80, to: web}]}}":                                   "",
	"{nat: {outside: z, ports: move, quotes: leave}}":                                                                                          "",
	"{nat: {outside: z, idle: 60}}": "{nat: {outside: z, idle: 1m0s}}",
	"{firewall: {inside: [a, \"1\"], idle: 1m0s, allow: [{port: 80, protocol: tcp}], deny: [{source: 10.0.0.0/24}], reject: true, entries: 9}}": "",
	"{icmp: filtered}":   "",
	"{icmp: pass}":       "",
	"{icmp: {rate: 10}}": "{icmp: {rate: 10/s}}",
	"{icmp: {rate: 30/min, burst: 2, transit: true}}":                     "{icmp: {rate: 0.5/s, burst: 2, transit: true}}",
	"{match: {port: 80}, strip: sack}":                                    "{match: {port: 80}, strip: [sack]}",
	"{strip: [wscale, sack, timestamps, mptcp, tfo, unknown], mss: 1360}": "",
	"{dscp: 0}":                                 "",
	"{dscp: EF}":                                "",
	"{dscp: {EF: 0, default: CS1}}":             "{dscp: {EF: 0, default: CS1}}",
	"{dscp: {0: AF11, CS1: 63}}":                "",
	"{ecn: bleach, hidden: true, silent: true}": "",
	"{ecn: drop_syn, randomize_sequence: true}": "",
	"{match: {port: 80, protocol: tcp}, randomize_sequence: true}": "",
	"{}": "",
}

func TestConfigReadsBack(t *testing.T) {
	for text, want := range examples {
		c, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want == "" {
			want = text
		}
		if got := c.String(); got != want {
			t.Errorf("printed %s, want %s", got, want)
		}
		again, err := parse(c.String())
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: read back: %v %s", text, err, diff)
		}
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var decoded Config
		err = json.Unmarshal(encoded, &decoded)
		if diff := cmp.Diff(c, &decoded, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: as JSON %s: %v %s", text, encoded, err, diff)
		}
	}
}

func TestConfigFaults(t *testing.T) {
	for text, want := range map[string]string{
		"{nat: {}}":                                                          "1:7: nat: want outside: and the name of a neighbour",
		"{nat: {outside: z, idle: soon}}":                                    `1:26: idle: "soon": want a duration`,
		"{nat: {outside: z, idle: 0}}":                                       `1:26: idle: "0s": want a time above 0`,
		"{nat: {outside: z, filtering: all}}":                                `nat: filtering: "all": want independent, address or port`,
		"{nat: {outside: z, entries: 2000000}}":                              "nat: entries: 2000000: want 1 to 1048576",
		"{mss: 1360.5}":                                                      `1:7: mss: "1360.5": want a whole number`,
		"{mss: 65536}":                                                       "1:7: mss: 65536: want 28 to 65535",
		"{nat: {outside: z, entries: -1}}":                                   `entries: "-1": want a whole number`,
		"{nat: {outside: z, forward: [{to: a}]}}":                            "nat: forward: want port:",
		"{nat: {outside: z, forward: [{port: 1}]}}":                          "nat: forward: port 1: want to:",
		"{nat: {outside: z, forward: [{port: 1, to: a, protocol: icmp}]}}":   "want tcp, udp or nothing",
		"{nat: {outside: z, forward: [{port: 1, to: a}, {port: 1, to: b}]}}": "port 1: want it once",
		"{nat: {outside: z, forward: [{port: 1, to: a}, {port: 2, to: a, to_port: 1}]}}": "port 1 of a: want it once",
		"{firewall: {allow: [{port: 1}]}}":                                               "1:12: firewall: want inside:",
		"{firewall: {inside: [a], colour: red}}":                                         "unknown field \"colour\"",
		"{firewall: {inside: [a], deny: [{port: 0}]}}":                                   "port",
		"{icmp: some}":                   `1:8: icmp: "some": want pass, filtered or {rate: 10/s}`,
		"{icmp: {rate: fast}}":           `1:15: rate: "fast": want packets a second`,
		"{icmp: {rate: 10/fortnight}}":   "want packets a second",
		"{icmp: {burst: 2}}":             "rate: 0: want packets a second",
		"{icmp: {rate: 1, burst: 9999}}": "burst: 9999: want 1 to 1000",
		"{strip: [sack, speck]}":         `strip: "speck": want wscale, sack, timestamps, mptcp, tfo or unknown`,
		"{mss: 1}":                       "1:7: mss: 1: want 28 to 65535",
		"{dscp: 64}":                     `1:8: dscp: "64": want a DSCP`,
		"{dscp: {EF: much}}":             `"much": want a DSCP`,
		"{dscp: {EF: 1, 46: 2}}":         "want one rule for a DSCP",
		"{dscp: [1]}":                    "want a DSCP, or a mapping",
		"{ecn: yes}":                     "want pass, bleach, drop_syn or drop_ect",
		"{colour: red}":                  `unknown field "colour"`,
		// What holds for one direction alone.
		"{randomize_sequence: true, match: {source: 10.0.0.0/24}}": "1:35: match: {source: 10.0.0.0/24}: want protocol and port alone",
		"{randomize_sequence: true, match: {target: 10.0.0.1}}":    "match: {target: 10.0.0.1}: want protocol and port alone",
		"{randomize_sequence: true, match: {source_port: 80}}":     "match: {source_port: 80}: want protocol and port alone",
		"{randomize_sequence: true, match: {target_port: 80}}":     "match: {target_port: 80}: want protocol and port alone",
		"{randomize_sequence: true, match: {dscp: EF}}":            "want protocol and port alone beside randomize_sequence",
	} {
		_, err := parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestPlace(t *testing.T) {
	c := read(t, "{nat: {outside: z, forward: [{port: 80, to: web}]}, firewall: {inside: [a, b]}}")
	neighbour := func(name string) []Interface {
		return map[string][]Interface{"z": place.Outside, "a": {{Number: 1}}, "b": {{Number: 3}, {Number: 4}}}[name]
	}
	host := func(name string) (Addresses, bool) { return Addresses{V4: hostA}, name == "web" }
	got, err := c.Place(neighbour, host)
	want := Place{Outside: place.Outside, Inside: []int{1, 3, 4}, Forwards: []Addresses{{V4: hostA}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(Addresses{})); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		"{nat: {outside: q}}":                               `nat: outside: "q": want a neighbour of this router`,
		"{firewall: {inside: [q]}}":                         `firewall: inside: "q": want a neighbour of this router`,
		"{nat: {outside: z, forward: [{port: 80, to: q}]}}": `nat: forward: to: "q": want a host`,
	} {
		if _, err := read(t, text).Place(neighbour, host); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestNothingAskedForIsNoBox(t *testing.T) {
	var none *Config
	if New(none, Place{}, 1) != nil || New(&Config{}, Place{}, 1) != nil {
		t.Error("got a box")
	}
	var routers map[string]*Config
	if err := notation.Unmarshal([]byte("london:\nparis: {}"), &routers); err != nil {
		t.Error(err)
	}
	for name, c := range routers {
		if !c.Empty() {
			t.Errorf("%s: %v", name, c)
		}
	}
	var b *Box
	p := &packet.Packet{Data: udpPacket(ap(hostA, 1), ap(hostZ, 2), "")}
	if b.Arrive(0, p, 1) != (Verdict{}) || b.Leave(0, p, 1, 2) != (Verdict{}) || !b.MayComplain(0) || !b.Answers() ||
		b.Counts() != (Counts{}) {
		t.Error("no box did something")
	}
}
