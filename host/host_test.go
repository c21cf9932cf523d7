package host

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
)

// gigabit is a path of 1 Gbit/s and 50 ms: 6.25 MB are on their way.
var gigabit = Need{Rate: 1e9, RTT: 50 * time.Millisecond}

// Each setting is held against what the rate and the round trip need, and its change does what is needed.
func TestJudgeSettings(t *testing.T) {
	slow := Need{Rate: 1e6, RTT: 50 * time.Millisecond}
	for _, test := range []struct {
		id, value string
		need      Need
		status    Status
		needed    string
		to        string // what the change writes
	}{
		{"tcp-rmem", "4096 131072 12500000", gigabit, OK, "a third number of at least 12500000", ""},
		{"tcp-rmem", "4096 131072 12499999", gigabit, Problem, "a third number of at least 12500000", "4096 131072 12500000"},
		{"tcp-rmem", "4096 131072 6291456", slow, OK, "a third number of at least 12500", ""},
		{"tcp-wmem", "4096 16384 4194304", Need{Rate: 4e11, RTT: time.Second}, Problem, "a third number of at least 2147483647", "4096 16384 2147483647"},
		{"tcp-window-scaling", "0", gigabit, Problem, "1", "1"},
		{"tcp-window-scaling", "0", slow, OK, "1", ""}, // 6.25 kB fit a header's 65,535
		{"tcp-timestamps", "2", gigabit, OK, "1 or 2", ""},
		{"tcp-timestamps", "0", gigabit, Warning, "1 or 2", "1"},
		{"tcp-congestion-control", "reno", gigabit, Warning, "cubic or bbr", "cubic"},
		{"rmem-max", "212992", gigabit, Warning, "at least 12500000", "12500000"},
	} {
		i := itemOf(t, test.id)
		checks := Judge(&Facts{Sysctls: map[string]string{i.Key: test.value}}, test.need)
		want := []Check{{ID: test.id, Title: i.Title, Area: i.Area, Status: test.status, Value: test.value, Needed: test.needed, Why: i.Means,
			Formula: i.Formula, Source: i.Source, Read: i.Key}}
		if test.to != "" {
			want[0].Changes = settings(i.Key, test.to)
			want[0].Command, want[0].Keep = want[0].Changes[0].command(), want[0].Changes[0].keep()
		}
		if diff := cmp.Diff(want, checks); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.id, test.value, diff)
		}
	}
}

func itemOf(t *testing.T, id string) Item {
	t.Helper()
	for _, i := range Items() {
		if i.ID == id {
			return i
		}
	}
	t.Fatalf("no item %s", id)
	return Item{}
}

// Every entry of the table says all that people need, once.
func TestItems(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range Items() {
		if i.ID == "" || i.Title == "" || i.Area == "" || i.Means == "" || seen[i.ID] || seen[i.Title] {
			t.Errorf("%+v: lacks an ID, a title, an area or a meaning, or is there twice", i)
		}
		if i.Key != "" && (i.wants == nil || i.bad == "" || i.find != nil) || i.Key == "" && (i.find == nil || i.Reads == "") {
			t.Errorf("%s: is neither a setting nor anything else, or does not say where it is read", i.ID)
		}
		if i.Formula != "" && i.Source == "" {
			t.Errorf("%s: has a formula without a source", i.ID)
		}
		seen[i.ID], seen[i.Title] = true, true
	}
}

// What an adapter could do and does not is one finding, with one command.
func TestOffloadsAreOne(t *testing.T) {
	can := func(on bool) Feature { return Feature{On: on, Can: true} }
	for name, c := range map[string]struct {
		features map[string]Feature
		want     []seen
	}{
		"all on": {map[string]Feature{cutsTCP: can(true), joins: can(true)}, []seen{{value: "tso gro", needed: "all that it can"}}},
		"some off": {map[string]Feature{cutsTCP: can(false), joins: can(false), gathersFragment: can(true)},
			[]seen{{value: "tso gro off", needed: "on", status: Warning, command: "ethtool -K eth0 tso on gro on"}}},
		"one off, and one on that should not be": {map[string]Feature{cutsTCP: can(false), joinsLarge: can(true)},
			[]seen{{value: "tso off, lro on", needed: "on, off", status: Warning, command: "ethtool -K eth0 tso on lro off"}}},
		"it can do none": {map[string]Feature{cutsTCP: {}}, nil},
	} {
		got := offloading(nil, Link{Name: "eth0", Features: c.features}, gigabit)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(seen{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// An audit counts what it found, says what it assumed, and whether a finding holds transfers back.
func TestReportInWords(t *testing.T) {
	status := func(all ...Status) (checks []Check) {
		for _, s := range all {
			checks = append(checks, Check{Status: s})
		}
		return checks
	}
	for _, c := range []struct {
		report                  Report
		summary, assumes, bears string
	}{
		{Report{Rate: 1e9, RTTSeconds: 0.05, RateFrom: "as asked", RTTFrom: "as asked", Checks: status(OK, Problem, Warning, Warning, Unknown)},
			"1 problem and 2 warnings in 5 checks, of which 1 could not be read", "",
			"It can hold back transfers of 1.00 Gbit/s over 50.0 ms; a diagnosis says whether it does."},
		{Report{Rate: 2e7, RTTSeconds: 0.01, RateFrom: "speed of eth0", RTTFrom: assumed, Checks: status(OK)},
			"0 problems and 0 warnings in 1 check", "round trip",
			"It can hold back transfers of 20.0 Mbit/s over 10.0 ms; a diagnosis says whether it does."},
		{Report{Rate: 1e9, RTTSeconds: 0.05, RateFrom: assumed + ": no link says its speed", RTTFrom: assumed},
			"0 problems and 0 warnings in 0 checks", "rate and round trip",
			"It can hold back transfers of 1.00 Gbit/s over 50.0 ms; a diagnosis says whether it does."},
	} {
		got := [3]string{c.report.Summary(), c.report.Assumes(), c.report.Bears(Problem)}
		if diff := cmp.Diff([3]string{c.summary, c.assumes, c.bears}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Advice for other systems is by the same formula; Windows' level goes by the window.
func TestAdvise(t *testing.T) {
	for _, test := range []struct {
		os   string
		need Need
		want string
	}{
		{"freebsd", gigabit, "sysctl net.inet.tcp.recvbuf_max=12500000"},
		{"macos", gigabit, "sudo sysctl -w net.inet.tcp.autorcvbufmax=12500000"},
		{"windows", gigabit, "netsh int tcp set global autotuninglevel=normal"},
		{"windows", Need{Rate: 10e9, RTT: gigabit.RTT}, "netsh int tcp set global autotuninglevel=experimental"},
	} {
		all, keep, err := Advise(test.os, test.need)
		if err != nil || keep == "" || !slices.ContainsFunc(all, func(a Advice) bool { return a.Command == test.want && a.Why != "" }) {
			t.Errorf("%s: %v %q %v; want %q", test.os, err, keep, all, test.want)
		}
	}
	if _, _, err := Advise("plan9", gigabit); !input.Bad(err) {
		t.Errorf("plan9: %v", err)
	}
}

// What a file makes of a value stands beside it; where it runs otherwise, the Check says so and what reads the file again.
func TestDrift(t *testing.T) {
	facts := &Facts{Sysctls: map[string]string{"net.ipv4.tcp_dsack": "1", "net.ipv4.tcp_sack": "0"},
		Configured: map[string]Configured{"net.ipv4.tcp_dsack": {"0", "/etc/sysctl.conf"}, "net.ipv4.tcp_sack": {"1", "/etc/sysctl.conf"},
			"mtu.eth0": {"9000", "/etc/network/interfaces"}},
		Network: Network{Links: []Link{{Name: "eth0", Up: true, Adapter: true, MTU: 1500}}}}
	type drifted struct {
		Status                             Status
		Configured, File, Command, Because string
	}
	got := map[string]drifted{}
	for _, c := range Judge(facts, gigabit) {
		because, _, _ := strings.Cut(c.Why, ". ")
		got[c.ID] = drifted{c.Status, c.Configured, c.File, c.Command, because}
	}
	for id, want := range map[string]drifted{
		"tcp-dsack": {Warning, "0", "/etc/sysctl.conf", "sysctl -p /etc/sysctl.conf", "It runs as 1 and is configured as 0"},
		"tcp-sack":  {Problem, "1", "/etc/sysctl.conf", "sysctl -w net.ipv4.tcp_sack=1", "It runs as 0 and is configured as 1"},
		"mtu": {Warning, "9000", "/etc/network/interfaces", "have /etc/network/interfaces read again, such as by networkctl reload",
			"It runs as 1500 and is configured as 9000"},
	} {
		if diff := cmp.Diff(want, got[id]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// Rates of a disk and of ciphers are judged by the rate that is needed, those of small blocks are not, and the report has their numbers.
func TestAskedRates(t *testing.T) {
	m := soundMachine(t)
	m.rates = []DiskRate{{Path: "/data", What: "write", Rate: 1e9}, {Path: "/data", What: "direct read", Rate: 30e9},
		{Path: "/data", What: "direct read at random", Rate: 40e6, PerSecond: 1221}}
	m.crypto = []CipherRate{{"aes-128-gcm", 40e9}, {"md5", 5e9}}
	r := m.audit(t)
	var got []string
	for _, c := range r.Checks {
		if c.ID == "disk-rate" || c.ID == "crypto-rate" {
			got = append(got, c.ID+" "+c.Subject+": "+string(c.Status)+": "+c.Value+": "+c.Needed)
		}
	}
	slices.Sort(got)
	want := []string{
		"crypto-rate aes-128-gcm: ok: 40.0 Gbit/s a core, 0.25 cores for the rate: at most 1 core",
		"crypto-rate md5: warning: 5.00 Gbit/s a core, 2 cores for the rate: at most 1 core",
		`disk-rate "/data" direct read at random: ok: 40.0 Mbit/s, 1221 a second of 4 KiB: `,
		`disk-rate "/data" direct read: ok: 30.0 Gbit/s: at least 10.0 Gbit/s`,
		`disk-rate "/data" write: warning: 1.00 Gbit/s: at least 10.0 Gbit/s`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(r.DiskRates, m.rates) || !slices.Equal(r.Crypto, m.crypto) {
		t.Errorf("the report has %v, %v", r.DiskRates, r.Crypto)
	}
}

// All that transfers use is tried, by a clock that each look at it moves on.
func TestTransferRates(t *testing.T) {
	var clock time.Duration
	var names []string
	for _, c := range transferRates(func() time.Duration { clock += transferTime / 4; return clock }) {
		names = append(names, c.Name)
		if want := 8 * 3 * float64(record) / (5 * transferTime / 4).Seconds(); c.Rate != want {
			t.Errorf("%s: %g, want %g", c.Name, c.Rate, want)
		}
	}
	if diff := cmp.Diff([]string{"aes-128-gcm", "chacha20-poly1305", "sha-256", "md5", "crc32c"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
