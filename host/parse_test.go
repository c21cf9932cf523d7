package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsers(t *testing.T) {
	for _, test := range []struct {
		name  string
		parse func(string) map[string]uint64
		text  string
		want  map[string]uint64
	}{
		{"netstat", parseNetstat, "Tcp: RtoMin MaxConn InSegs\nTcp: 200 -1 12\nTcpExt: ListenDrops\nTcpExt: 3\n",
			map[string]uint64{"Tcp.RtoMin": 200, "Tcp.InSegs": 12, "TcpExt.ListenDrops": 3}},
		{"netstat cut off", parseNetstat, "Tcp: RtoMin\n", map[string]uint64{}},
		{"softnet", parseSoftnet, "0000000a 00000002 00000001 0 0 0 0 0 0 0 0 0 00000003\n0000000b 0 0 0 0 0 0 0 0 0 0 0 00000005\n",
			map[string]uint64{"softnet.3.processed": 10, "softnet.3.dropped": 2, "softnet.3.squeezed": 1,
				"softnet.5.processed": 11, "softnet.5.dropped": 0, "softnet.5.squeezed": 0}},
		{"softnet of old kernels", parseSoftnet, "01 02 03\n04 05 06\n",
			map[string]uint64{"softnet.0.processed": 1, "softnet.0.dropped": 2, "softnet.0.squeezed": 3,
				"softnet.1.processed": 4, "softnet.1.dropped": 5, "softnet.1.squeezed": 6}},
		{"stat", parseStat, "cpu  9 9 9\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 5\n", map[string]uint64{"cpu.1.user": 1, "cpu.1.nice": 2, "cpu.1.system": 3,
			"cpu.1.idle": 4, "cpu.1.iowait": 5, "cpu.1.irq": 6, "cpu.1.softirq": 7, "cpu.1.steal": 8}},
		{"vmstat", parseNamed, "pswpin 4\nbad x\n", map[string]uint64{"vm.pswpin": 4}},
	} {
		if diff := cmp.Diff(test.want, test.parse(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestParseSysctlFile(t *testing.T) {
	got := parseSysctlFile("# a comment\n; another\n net.ipv4.tcp_rmem =\t4096  131072 6291456\n-net/ipv4/conf/eth0.1/rp_filter=2\n" +
		"net.ipv4.conf.*.rp_filter = 1\nno value =\nnonsense\n")
	want := map[string]string{"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.conf.eth0/1.rp_filter": "2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := sysctlFile("net.ipv4.conf.eth0/1.rp_filter"), "proc/sys/net/ipv4/conf/eth0.1/rp_filter"; got != want {
		t.Errorf("file %s, want %s", got, want)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add("Tcp: a b\nTcp: 1 2\n")
	f.Add("0000000a 00000002 00000001\n")
	f.Add("cpu0 1 2 3\nnet.ipv4.tcp_sack = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) map[string]uint64{parseNetstat, parseSoftnet, parseStat, parseNamed} {
			parse(text)
		}
		for key := range parseSysctlFile(text) {
			if key != sysctlKey(key) && key[0] != '/' {
				t.Errorf("key %q is not as keys are written", key)
			}
		}
	})
}
