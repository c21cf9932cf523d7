package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// machine is a fixture tree in which faults are planted before it is audited.
type machine struct {
	files   map[string]string // from the root; those under later/ take their places at the second reading
	network Network
	later   func(*Network) // what has come about at the second reading
	clock   TimeFacts
	free    float64 // share of each file system
	ciphers float64 // bit/s
	rates   []DiskRate
	crypto  []CipherRate
}

// soundMachine is the machine of testdata/sound.txtar.
func soundMachine(t *testing.T) *machine {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/sound.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{files: map[string]string{}, later: func(*Network) {}, clock: TimeFacts{Known: true, Synchronised: true, MaxError: time.Millisecond},
		free: 0.5, ciphers: 40e9}
	for _, f := range archive.Files {
		m.files[f.Name] = string(f.Data)
	}
	if err := json.Unmarshal([]byte(m.files["network.json"]), &m.network); err != nil {
		t.Fatal(err)
	}
	return m
}

// system writes the machine's files into a folder, and reads it there.
func (m *machine) system(t *testing.T) System {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range m.files {
		if !strings.HasPrefix(name, "later/") {
			write(name, text)
		}
	}
	second := false
	return System{Root: root, Page: 4096,
		Network: func(netip.Addr) (Network, error) {
			n := m.copied(t)
			if second {
				m.later(&n)
			}
			return n, nil
		},
		Clock: func() (TimeFacts, error) { return m.clock, nil },
		Space: func(string) (float64, float64, error) { return 1e12 * m.free, 1e12, nil },
		Ciphers: func() []CipherRate {
			return []CipherRate{{"aes-128-gcm", m.ciphers}, {"chacha20-poly1305", m.ciphers / 2}, {digest, m.ciphers / 20}}
		},
		Transfer:  func() []CipherRate { return m.crypto },
		DiskRates: func(context.Context) ([]DiskRate, error) { return m.rates, nil },
		Wait: func(context.Context, time.Duration) error {
			for name, text := range m.files {
				if now, is := strings.CutPrefix(name, "later/"); is {
					write(now, text)
				}
			}
			second = true
			return nil
		},
	}
}

// copied is the network, of which nothing is shared.
func (m *machine) copied(t *testing.T) (n Network) {
	t.Helper()
	text, err := json.Marshal(m.network)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tenGigabit is what the sound machine is for.
var tenGigabit = Ask{To: netip.MustParseAddr("192.0.2.1"), Rate: 10e9, RTT: 50 * time.Millisecond, Interval: time.Second}

func (m *machine) audit(t *testing.T) *Report {
	t.Helper()
	r, err := m.system(t).Audit(t.Context(), tenGigabit)
	if err != nil || len(r.Missing) > 0 {
		t.Fatalf("%v, missing %q", err, r.Missing)
	}
	return r
}

// found are the IDs of what is not as it should be, each once.
func found(r *Report) (ids []string) {
	for _, c := range r.Checks {
		if c.Status != OK && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (m *machine) sysctl(key, value string) { m.files[sysctlFile(key)] = value + "\n" }

func (m *machine) link(name string) *Link {
	return &m.network.Links[slices.IndexFunc(m.network.Links, func(l Link) bool { return l.Name == name })]
}

// moves has a file say something else at the second reading.
func (m *machine) moves(file, from, to string) {
	if _, there := m.files["later/"+file]; !there {
		m.files["later/"+file] = m.files[file]
	}
	m.replace("later/"+file, from, to)
}

// replace plants a fault in a file.
func (m *machine) replace(file, from, to string) {
	if !strings.Contains(m.files[file], from) {
		panic(fmt.Sprintf("%s has no %q", file, from))
	}
	m.files[file] = strings.Replace(m.files[file], from, to, 1)
}

// setting plants a value of a setting of the kernel, which no file has otherwise.
func setting(key, value string) func(*machine) { return func(m *machine) { m.sysctl(key, value) } }

// faulty plants something at the interface on the way.
func faulty(f func(*Link)) func(*machine) { return func(m *machine) { f(m.link("eth0")) } }

// planted are the faults, by the Item that finds each.
var planted = []struct {
	id    string
	plant func(*machine)
}{
	{"tcp-rmem", func(m *machine) {
		m.sysctl("net.ipv4.tcp_rmem", "4096\t131072\t6291456")
		m.replace("etc/sysctl.d/60-transfers.conf", "131072 268435456", "131072 6291456")
	}},
	{"tcp-wmem", func(m *machine) {
		m.sysctl("net.ipv4.tcp_wmem", "4096\t16384\t4194304")
		m.replace("etc/sysctl.d/60-transfers.conf", "16384 268435456", "16384 4194304")
	}},
	{"tcp-autotuning", setting("net.ipv4.tcp_moderate_rcvbuf", "0")},
	{"tcp-window-share", setting("net.ipv4.tcp_adv_win_scale", "-2")},
	{"tcp-window-scaling", setting("net.ipv4.tcp_window_scaling", "0")},
	{"tcp-sack", setting("net.ipv4.tcp_sack", "0")},
	{"tcp-dsack", setting("net.ipv4.tcp_dsack", "0")},
	{"tcp-timestamps", setting("net.ipv4.tcp_timestamps", "0")},
	{"tcp-congestion-control", setting("net.ipv4.tcp_congestion_control", "reno")},
	{"tcp-loss-recovery", setting("net.ipv4.tcp_recovery", "0")},
	{"tcp-tail-probe", setting("net.ipv4.tcp_early_retrans", "0")},
	{"tcp-spurious-timeouts", setting("net.ipv4.tcp_frto", "0")},
	{"tcp-reordering", setting("net.ipv4.tcp_max_reordering", "3")},
	{"tcp-mtu-probing", setting("net.ipv4.tcp_mtu_probing", "0")},
	{"tcp-idle-restart", setting("net.ipv4.tcp_slow_start_after_idle", "1")},
	{"tcp-ecn", setting("net.ipv4.tcp_ecn", "0")},
	{"tcp-send-ahead", setting("net.ipv4.tcp_notsent_lowat", "4096")},
	{"tcp-output-limit", setting("net.ipv4.tcp_limit_output_bytes", "65536")},
	{"path-mtu-discovery", setting("net.ipv4.ip_no_pmtu_disc", "1")},
	{"tcp-mem", setting("net.ipv4.tcp_mem", "3000 4000 6000")},
	{"tcp-memory-pressure", func(m *machine) { m.moves("proc/net/netstat", "TcpExt: 0 2 2 0", "TcpExt: 0 2 2 5") }},
	{"listen-most", setting("net.core.somaxconn", "128")},
	{"listen-half-open", setting("net.ipv4.tcp_max_syn_backlog", "16")},
	{"listen-queue", func(m *machine) { m.network.Listeners[0].Waiting = 129 }},
	{"listen-drops", func(m *machine) { m.moves("proc/net/netstat", "TcpExt: 0 2 2", "TcpExt: 0 9 9") }},
	{"local-ports", setting("net.ipv4.ip_local_port_range", "60000 60999")},
	{"udp-drops", func(m *machine) { m.moves("proc/net/snmp", "811833 12", "811833 4812") }},
	{"rmem-max", setting("net.core.rmem_max", "212992")},
	{"wmem-max", setting("net.core.wmem_max", "212992")},
	{"default-qdisc", func(m *machine) { m.sysctl("net.core.default_qdisc", "pfifo_fast") }},
	{"backlog", setting("net.core.netdev_max_backlog", "1000")},
	{"softnet-budget", setting("net.core.netdev_budget", "30")},
	{"softnet-drops", func(m *machine) { m.moves("proc/net/softnet_stat", "00100001 00000000", "00100001 00000009") }},
	{"softnet-squeezed", func(m *machine) {
		m.moves("proc/net/softnet_stat", "00100002 00000000 00000007", "00100002 00000000 0000000f")
	}},
	{"memory-free", func(m *machine) { m.replace("proc/meminfo", "52853924", "452392") }},
	{"memory-swapping", func(m *machine) { m.moves("proc/vmstat", "pswpout 40", "pswpout 900") }},
	{"memory-reserve", setting("vm.min_free_kbytes", "4096")},
	{"open-files", setting("fs.file-nr", "900\t0\t1000")},
	{"fragments-lost", func(m *machine) { m.moves("proc/net/snmp", "90210334 0 0", "90210334 20 7") }},
	{"settings-drift", setting("net.ipv4.tcp_fin_timeout", "15")},
	{"link-speed", faulty(func(l *Link) { l.Speed = 1e9 })},
	{"duplex", faulty(func(l *Link) { l.Duplex = "half" })},
	{"mtu", func(m *machine) { // one that nobody configured
		m.link("eth0").MTU = 1400
		delete(m.files, "etc/systemd/network/10-eth0.network")
	}},
	{"driver", func(m *machine) { m.replace("sys/class/net/eth0/device/uevent", "ixgbe", "e1000") }},
	{"pci-express", func(m *machine) { m.files["sys/class/net/eth0/device/current_link_width"] = "1\n" }},
	{"errors", func(m *machine) {
		after := m.later
		m.later = func(n *Network) { after(n); n.Links[1].Counts["rx_crc_errors"] = 17 }
	}},
	{"drops", faulty(func(l *Link) { l.Counts["rx_missed_errors"] = 100_000 })}, // stands, but has counted much
	{"qdisc", faulty(func(l *Link) { l.Qdiscs = append(l.Qdiscs, Qdisc{Kind: "netem"}) })},
	{"qdisc-drops", func(m *machine) {
		after := m.later
		m.later = func(n *Network) { after(n); n.Links[1].Qdiscs[0].Drops = 3 }
	}},
	{"offload", faulty(func(l *Link) { l.Features[cutsTCP] = Feature{On: false, Can: true} })},
	{"ring", faulty(func(l *Link) { l.Rings["rx"] = Range{512, 8192} })},
	{"interrupts-gathered", faulty(func(l *Link) { l.Coalesce = &Coalesce{} })},
	{"channels", faulty(func(l *Link) { l.Channels["combined"] = Range{1, 16} })},
	{"interrupt-spread", func(m *machine) {
		for i := 61; i <= 63; i++ {
			m.files["proc/interrupts"] = strings.Replace(m.files["proc/interrupts"], "    900001 ", "         3 ", 1)
		}
	}},
	{"governor", func(m *machine) { m.files["sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"] = "powersave\n" }},
	{"frequency-limit", func(m *machine) { m.files["sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq"] = "1200000\n" }},
	{"processor-busy", func(m *machine) { m.moves("proc/stat", "cpu1 1008 0 508", "cpu1 4008 0 508") }},
	{"processor-softirq", func(m *machine) {
		m.moves("proc/stat", "cpu0 1008 0 508 90080 10 0 44", "cpu0 1008 0 508 90080 10 0 840")
	}},
	{"processor-stolen", func(m *machine) {
		m.moves("proc/stat", "cpu3 1008 0 508 90080 10 0 44 2", "cpu3 1008 0 508 90080 10 0 44 32")
	}},
	{"cipher", func(m *machine) { m.ciphers = 3e9 }},
	{"clock-source", func(m *machine) {
		m.files["sys/devices/system/clocksource/clocksource0/current_clocksource"] = "hpet\n"
	}},
	{"clock-error", func(m *machine) { m.clock.MaxError = 300 * time.Millisecond }},
	{"mount-times", func(m *machine) { m.replace("proc/self/mounts", "ext4 rw,relatime", "ext4 rw") }},
	{"mount-writes", func(m *machine) { m.replace("proc/self/mounts", "rw,noatime,attr2", "rw,noatime,attr2,sync") }},
	{"mount-drift", func(m *machine) { m.replace("proc/self/mounts", "xfs rw,noatime", "xfs rw,relatime") }},
	{"disk-space", func(m *machine) { m.free = 0.005 }},
	{"read-ahead", func(m *machine) { m.files["sys/block/nvme0n1/queue/read_ahead_kb"] = "128\n" }},
	{"disk-scheduler", func(m *machine) { m.files["sys/block/sdb/queue/scheduler"] = "[none] mq-deadline kyber bfq\n" }},
	{"disk-rate", func(m *machine) { m.rates = []DiskRate{{Path: "/data", What: "read", Rate: 1e9}} }},
	{"crypto-rate", func(m *machine) { m.crypto = []CipherRate{{"md5", 5e9}} }},
	{"firewall-icmp", func(m *machine) {
		m.network.Rules = append(m.network.Rules, Rule{Chain: "ip raw prerouting", Protocol: icmp4, Text: "icmp drop"})
	}},
	{"firewall-fragments", func(m *machine) {
		m.network.Rules = append(m.network.Rules, Rule{Chain: "ip raw prerouting", Fragments: true, Text: "fragments drop"})
	}},
	{"echo-ignored", setting("net.ipv4.icmp_echo_ignore_all", "1")},
	{"connections-tracked", setting("net.netfilter.nf_conntrack_count", "260000")},
	{"route-interface", func(m *machine) {
		l := m.copiedLink("eth0")
		l.Name, l.Index, l.Speed, l.Addresses = "eth2", 9, 25e9, []netip.Prefix{netip.MustParsePrefix("198.18.0.2/24")}
		l.Adapter = true
		m.network.Links = append(m.network.Links, l)
	}},
	{"names", func(m *machine) { m.replace("etc/hosts", "127.0.1.1 dtn1", "203.0.113.2 dtn1") }},
	{"default-routes", func(m *machine) { m.network.Routes[1].Metric = 100 }},
	{"same-network", func(m *machine) {
		l := m.link("eth1")
		l.Addresses = append(l.Addresses, netip.MustParsePrefix("198.51.100.3/24"))
	}},
	{"reverse-path", setting("net.ipv4.conf.all.rp_filter", "1")},
	{"route-window", func(m *machine) { m.network.Way.Window = 65535 }},
	{"route-mtu", func(m *machine) { m.network.Way.MTU = 1300 }},
	{"route-mss", func(m *machine) { m.network.Way.AdvertisedMSS = 536 }},
	{"route-cwnd", func(m *machine) { m.network.Way.CongestionWindow = 100 }},
	{"route-initial-window", func(m *machine) { m.network.Way.InitialWindow = 2 }},
	{"route-congestion-control", func(m *machine) { m.network.Way.Congestion = "reno" }},
	{"route-memory", func(m *machine) { m.network.Way.Remembered.SlowStartFrom = 40 }},
}

// alone are faults that hide others, or that others come with: those are named behind the first.
var alone = []struct {
	id    string
	plant func(*machine)
}{
	{"queue-length qdisc", faulty(func(l *Link) { l.Qdiscs = []Qdisc{{Kind: "pfifo", Root: true}} })},
	{"negotiation link-speed", faulty(func(l *Link) { *l.Negotiates, l.Speed = false, 1e9 })},
	{"clock-synchronised", func(m *machine) { m.clock.Synchronised = false }}, // its error counts no more
	{"firewall-icmp", func(m *machine) { m.network.Rules[0].Related = false; m.network.Rules[0].Narrow = true }},
	{"mtu", faulty(func(l *Link) { l.MTU = 1500 })},                                           // configured as 9000
	{"tcp-dsack", func(m *machine) { m.files["etc/sysctl.conf"] = "net.ipv4.tcp_dsack=0\n" }}, // runs as 1
	{"drops", func(m *machine) {
		m.later = func(n *Network) { n.Links[1].Counts["rx_dropped"]++ }
	}},
}

func (m *machine) copiedLink(name string) Link {
	l := *m.link(name)
	l.Counts, l.Qdiscs = nil, nil
	return l
}

// A sound machine has nothing to find, and each Item looks at something there.
func TestSoundMachine(t *testing.T) {
	r := soundMachine(t).audit(t)
	if ids := found(r); len(ids) > 0 || r.Verdict != OK {
		t.Errorf("found %v, verdict %s", ids, r.Verdict)
	}
	absent := []string{"disk-rate", "crypto-rate", "names", "negotiation", "route-window", "route-mtu", "route-mss", "route-cwnd", "route-initial-window",
		"route-congestion-control", "same-network"}
	for _, i := range Items() {
		looked := slices.ContainsFunc(r.Checks, func(c Check) bool { return c.ID == i.ID })
		if looked == slices.Contains(absent, i.ID) {
			t.Errorf("%s: looked at: %v", i.ID, looked)
		}
	}
}

// Each planted fault is found, and nothing else is.
func TestPlantedFaults(t *testing.T) {
	for _, fault := range append(slices.Clone(planted), alone...) {
		t.Run(fault.id, func(t *testing.T) {
			t.Parallel()
			m := soundMachine(t)
			fault.plant(m)
			want := strings.Fields(fault.id)
			slices.Sort(want)
			if ids := found(m.audit(t)); !slices.Equal(ids, want) {
				t.Errorf("found %v", ids)
			}
		})
	}
}

// All of them planted in one machine are all found, and nothing else is.
func TestPlantedTogether(t *testing.T) {
	m := soundMachine(t)
	var want []string
	for _, fault := range planted {
		fault.plant(m)
		want = append(want, fault.id)
	}
	slices.Sort(want)
	if got := found(m.audit(t)); !slices.Equal(got, want) || len(want) < 30 {
		t.Errorf("%d planted, found %d:\n%v\nwant\n%v", len(want), len(got), got, want)
	}
	kinds := map[string]bool{}
	for _, fault := range append(slices.Clone(planted), alone...) {
		first, _, _ := strings.Cut(fault.id, " ")
		kinds[first] = true
	}
	for _, i := range Items() {
		if !kinds[i.ID] {
			t.Errorf("%s: no fault is planted for it", i.ID)
		}
	}
}
