package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/lab"
)

// settingFaults are settings of a lab's host that cost it speed, by the Item that finds each.
var settingFaults = map[string][2]string{
	"tcp-rmem": {"net.ipv4.tcp_rmem", "4096 87380 262144"}, "tcp-wmem": {"net.ipv4.tcp_wmem", "4096 16384 131072"},
	"tcp-autotuning": {"net.ipv4.tcp_moderate_rcvbuf", "0"}, "tcp-window-share": {"net.ipv4.tcp_adv_win_scale", "-2"},
	"tcp-window-scaling": {"net.ipv4.tcp_window_scaling", "0"}, "tcp-sack": {"net.ipv4.tcp_sack", "0"},
	"tcp-dsack": {"net.ipv4.tcp_dsack", "0"}, "tcp-timestamps": {"net.ipv4.tcp_timestamps", "0"},
	"tcp-congestion-control": {"net.ipv4.tcp_congestion_control", "reno"}, "tcp-loss-recovery": {"net.ipv4.tcp_recovery", "0"},
	"tcp-tail-probe": {"net.ipv4.tcp_early_retrans", "0"}, "tcp-spurious-timeouts": {"net.ipv4.tcp_frto", "0"},
	"tcp-reordering": {"net.ipv4.tcp_max_reordering", "3"}, "tcp-ecn": {"net.ipv4.tcp_ecn", "0"},
	"tcp-send-ahead": {"net.ipv4.tcp_notsent_lowat", "4096"}, "tcp-output-limit": {"net.ipv4.tcp_limit_output_bytes", "16384"},
	"path-mtu-discovery": {"net.ipv4.ip_no_pmtu_disc", "1"}, "listen-most": {"net.core.somaxconn", "16"},
	"listen-half-open": {"net.ipv4.tcp_max_syn_backlog", "8"}, "local-ports": {"net.ipv4.ip_local_port_range", "60000 60999"},
	"echo-ignored": {"net.ipv4.icmp_echo_ignore_all", "1"}, "route-memory": {"net.ipv4.tcp_no_ssthresh_metrics_save", "0"},
}

// settingCures are settings that the kernel's own defaults leave as the audit would not have them.
var settingCures = map[string]string{"net.ipv4.tcp_wmem": "4096 16384 33554432", "net.ipv4.tcp_mtu_probing": "1", "net.ipv4.tcp_slow_start_after_idle": "0"}

// Faults of a host in a lab, in its kernel's settings, its interface and its route, are all found, and nothing else is; --apply cures those
// that it can, and --revert brings them back.
func TestHostInLab(t *testing.T) {
	t.Parallel()
	carrying(t)
	faulty := maps.Clone(settingCures)
	faulty["net.ipv4.tcp_no_metrics_save"] = "0" // a lab remembers nothing else
	for _, f := range settingFaults {
		faulty[f[0]] = f[1]
	}
	l, err := lab.Start(context.Background(), &lab.Spec{
		Hosts: map[string]lab.Host{"bob": {Sysctl: faulty}, "carol": {Sysctl: settingCures}, "dave": {}},
		Links: []lab.Link{{Between: []string{"bob", "carol"}}, {Between: []string{"bob", "dave"}}},
	}, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close lab: %v", err)
		}
	})
	onHost(t, l, "bob", io.Discard, "sh", "-c", "ip link set dev eth0 mtu 1400 && ip route replace $(getent ahostsv4 carol | awk 'NR==1 {print $1}') "+
		"dev eth0 window 16384 initcwnd 2 congctl reno advmss 536 cwnd lock 10 mtu lock 1300 && "+
		"ip route append default dev eth0 && ip route append default dev eth1")
	want := []string{"default-routes", "mtu", "route-congestion-control", "route-cwnd", "route-initial-window", "route-mss", "route-mtu", "route-window"}
	for id := range settingFaults {
		want = append(want, id)
	}
	slices.Sort(want)
	if len(want) != 30 {
		t.Errorf("%d faults are planted", len(want))
	}
	if diff := cmp.Diff(want, findsInLab(t, l, "bob", "carol")); diff != "" {
		t.Errorf("bob (-planted +found):\n%s", diff)
	}
	if found := findsInLab(t, l, "carol", "bob"); len(found) > 0 {
		t.Errorf("carol: found %v", found)
	}

	curable := slices.DeleteFunc(slices.Collect(maps.Keys(settingFaults)), func(id string) bool {
		// Only root of the machine may choose a congestion control that it does not use itself, and who answers pings is nobody else's.
		return id == "tcp-congestion-control" || id == "echo-ignored"
	})
	backup := filepath.Join(t.TempDir(), "backup.json")
	before := settingsInLab(t, l)
	act(t, l, "bob", io.Discard, "host", "--to", "carol", "--rate", "1gbit", "--rtt", "50ms", "--only", strings.Join(curable, ","), "--apply", "--backup", backup)
	if settingsInLab(t, l) == before {
		t.Error("--apply changed nothing")
	}
	for _, id := range findsInLab(t, l, "bob", "carol") {
		if slices.Contains(curable, id) {
			t.Errorf("%s: is still found after --apply", id)
		}
	}
	act(t, l, "bob", io.Discard, "host", "--revert", "--backup", backup)
	if diff := cmp.Diff(before, settingsInLab(t, l)); diff != "" {
		t.Errorf("settings (-before +after):\n%s", diff)
	}
}

// findsInLab are the IDs of what an audit of a host finds that is of its own network namespace, but for what the machine's adapters
// lack: a lab has none.
func findsInLab(t *testing.T, l *lab.Lab, on, to string) (ids []string) {
	t.Helper()
	var out bytes.Buffer
	act(t, l, on, &out, "host", "--to", to, "--rate", "1gbit", "--rtt", "50ms", "--json")
	var r host.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	own := []host.Area{host.TCP, host.Interface, host.Firewall, host.Route}
	lacks := []string{"queue-length", "qdisc", "offload"}
	for _, c := range r.Checks {
		if c.ID == "link-speed" && c.Status != host.Unknown {
			t.Errorf("%s: %s %s: no interface of a lab has a speed of its own", on, c.Subject, c.Value)
		}
		if c.Status.AtLeastAsBad(host.Warning) && slices.Contains(own, c.Area) && !slices.Contains(lacks, c.ID) && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// settingsInLab are the settings of bob's that an audit looks at, as the kernel shows them.
func settingsInLab(t *testing.T, l *lab.Lab) string {
	t.Helper()
	var files []string
	for _, i := range host.Items() {
		if i.Key != "" {
			files = append(files, "/proc/sys/"+strings.ReplaceAll(i.Key, ".", "/"))
		}
	}
	var out bytes.Buffer
	onHost(t, l, "bob", &out, "sh", "-c", "grep -s '' "+strings.Join(files, " ")+" || true; ip -o link show eth0")
	return out.String()
}

// act runs this program on a host of a lab.
func act(t *testing.T, l *lab.Lab, on string, out io.Writer, args ...string) {
	t.Helper()
	onHost(t, l, on, out, append([]string{"/proc/self/exe"}, args...)...)
}

// onHost runs a program on a host of a lab until it ends well.
func onHost(t *testing.T, l *lab.Lab, on string, out io.Writer, argv ...string) {
	t.Helper()
	var said bytes.Buffer
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	wrong, wrongWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Start(context.Background(), on, lab.Command{Argv: argv, Env: append(os.Environ(), actAsPathwise+"=1"), Stdout: write, Stderr: wrongWrite})
	write.Close()
	wrongWrite.Close()
	if err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(&said, wrong)
	}()
	_, _ = io.Copy(out, read)
	<-drained
	read.Close()
	wrong.Close()
	if status, err := p.Wait(); err != nil || status != exitDone {
		t.Fatal(fmt.Errorf("%q on %s: status %d, %v: %s", argv, on, status, err, said.String()))
	}
}
