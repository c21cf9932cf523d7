package packet

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/notation"
)

type rule struct {
	Match *Match `yaml:"match"`
}

func read(text string) (*Match, error) {
	var r rule
	err := notation.Unmarshal([]byte("match: "+text), &r)
	return r.Match, err
}

func prefix(text string) Prefix { return Prefix{netip.MustParsePrefix(text)} }

func TestMatchReads(t *testing.T) {
	for text, want := range map[string]Match{
		"{}":                                   {},
		"{source: 10.0.0.5/24}":                {Source: prefix("10.0.0.0/24")},
		"{target: 10.0.2.2}":                   {Target: prefix("10.0.2.2/32")},
		`{source: "2001:db8::/32"}`:            {Source: prefix("2001:db8::/32")},
		`{source: ::1, target: "::/0"}`:        {Source: prefix("::1/128"), Target: prefix("::/0")},
		"{port: 5201, protocol: TCP}":          {Port: 5201, Protocol: ProtocolTCP},
		"{source_port: 1, target_port: 65535}": {SourcePort: 1, TargetPort: 65535},
		"{protocol: 47, dscp: EF}":             {Protocol: 47, DSCP: Codepoints{46}},
		"{dscp: [af11, 5, default, LE]}":       {DSCP: Codepoints{10, 5, 0, 1}},
		"{protocol: icmp6}":                    {Protocol: ProtocolICMPv6},
	} {
		m, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(&want, m); d != "" {
			t.Errorf("%s (-want +got)\n%s", text, d)
		}
		again, err := read(m.String())
		if d := cmp.Diff(m, again); d != "" || err != nil {
			t.Errorf("%s was printed as %s: %v\n%s", text, m, err, d)
		}
		var fromJSON Match
		encoded, err := json.Marshal(m)
		if err == nil {
			err = json.Unmarshal(encoded, &fromJSON)
		}
		if d := cmp.Diff(m, &fromJSON); d != "" || err != nil {
			t.Errorf("%s is %s in JSON: %v\n%s", text, encoded, err, d)
		}
	}
}

func TestMatchFaults(t *testing.T) {
	for text, want := range map[string]string{
		"{source: 10.0.0.0/40}":           `1:17: source: "10.0.0.0/40": want an address or a network`,
		"{port: 70000}":                   `1:15: port: "70000": want a port from 1 to 65535`,
		"{port: 0}":                       `1:15: port: "0": want a port`,
		"{port: [1]}":                     `port: `,
		"{protocol: tpc}":                 `1:19: protocol: "tpc": want tcp, udp`,
		"{dscp: 64}":                      `1:15: dscp: "64": want a DSCP: 0 to 63`,
		"{dscp: [EF, AF44]}":              `1:20: dscp: "AF44": want a DSCP`,
		"{dscp: {a: 1}}":                  `dscp: want one value`,
		"{prot: 5}":                       `unknown field "prot"`,
		"{port: 5, protocol: icmp}":       `protocol: icmp: want tcp or udp`,
		"{source: 10.0.0.1, target: ::1}": `target: ::1/128: want a network of the same IP version`,
	} {
		_, err := read(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

func TestMatches(t *testing.T) {
	data := map[string][]byte{}
	for _, s := range samples() {
		data[s.name] = s.data
	}
	SetDSCP(data["udp4"], 46)
	for _, c := range []struct {
		text    string
		matches string // those of the names below that match
	}{
		{"{}", "tcp4 udp4 echo4 tcp6 echo6 gre4"},
		{"{source: 10.0.0.0/24}", "tcp4 udp4 echo4 gre4"},
		{"{source: 10.0.2.0/24}", ""},
		{`{target: "2001:db8:0:2::/64"}`, "tcp6 echo6"},
		{"{port: 5201}", "tcp4 udp4 tcp6"},
		{"{port: 40000}", "tcp4 udp4 tcp6"},
		{"{source_port: 40000}", ""},
		{"{source_port: 5201, target_port: 40000, protocol: udp}", "udp4"},
		{"{protocol: icmp}", "echo4 echo6"},
		{"{protocol: icmp6}", "echo6"},
		{"{protocol: 47}", "gre4"},
		{"{dscp: [AF11, EF]}", "udp4"},
		{"{dscp: default, protocol: tcp}", "tcp4 tcp6"},
	} {
		m, err := read(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range []string{"tcp4", "udp4", "echo4", "tcp6", "echo6", "gre4"} {
			if m.Matches(data[name]) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != c.matches {
			t.Errorf("%s matches %v, want %s", c.text, got, c.matches)
		}
	}
	if !(*Match)(nil).Matches(data["gre6"]) || (*Match)(nil).Validate() != nil {
		t.Error("nil is not about every packet")
	}
}

func TestNamesReadBack(t *testing.T) {
	for v := range 64 {
		c := Codepoint(v)
		if got, err := ParseCodepoint(strings.ToLower(c.String())); got != c || err != nil {
			t.Errorf("code point %d is printed as %v, read as %d, %v", v, c, byte(got), err)
		}
	}
	for v := range 256 {
		p := Protocol(v)
		if got, err := ParseProtocol(p.String()); got != p || err != nil {
			t.Errorf("protocol %d is printed as %v, read as %d, %v", v, p, byte(got), err)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("{source: 10.0.0.0/24, target: ::1, port: 5201, source_port: 1, target_port: 2, protocol: tcp, dscp: [EF, 5]}")
	f.Add("{dscp: [], source: fe80::1%eth0, target: ::ffff:10.0.0.1/100}")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := read(text)
		if err != nil || m == nil {
			return
		}
		again, err := read(m.String())
		if err != nil || again.String() != m.String() || again.Source != m.Source || again.Target != m.Target {
			t.Errorf("%q is printed as %s, which reads as %v, %v", text, m, again, err)
		}
	})
}
