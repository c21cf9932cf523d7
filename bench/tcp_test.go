package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The two files hold what the tools printed on a veth pair; of Pathwise's TCP_INFO samples only the first.
func TestReadReports(t *testing.T) {
	for _, c := range []struct {
		file string
		read func(string) (transfer, error)
		want transfer
	}{
		{"testdata/pathwise.json", readPathwise, transfer{BitsPerSecond: 50467950287.27586, Bytes: 640679936, Congestion: "cubic"}},
		{"testdata/iperf3.json", readIperf3, transfer{BitsPerSecond: 35960072257.238968, Bytes: 4496424960, Congestion: "cubic"}},
	} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.read(string(text))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.file, diff)
		}
	}
}

// What did not run, or ran otherwise than asked, is not compared.
func TestReportsThatCannotBeCompared(t *testing.T) {
	const iperf3BBR = `{"end": {"sum_received": {"bytes": 1e9, "bits_per_second": 8e9}, "sender_tcp_congestion": "bbr"}}`
	const pathwiseEmpty = `{"metrics": {"throughput_bits_per_second": 0, "received_bytes": 0}}`
	for _, c := range []struct {
		read          func(string) (transfer, error)
		printed, want string
	}{
		{readIperf3, `{"end": {}, "error": "unable to connect"}`, "the receiver got nothing"},
		{readIperf3, iperf3BBR, `the sender's congestion control was "bbr", not cubic`},
		{readIperf3, ``, "read what iperf3 printed: unexpected end of JSON input"},
		{readPathwise, pathwiseEmpty, "the receiver got nothing"},
		{readPathwise, ``, "read what pathwise printed: unexpected end of JSON input"},
	} {
		if _, err := c.read(c.printed); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.printed, err, c.want)
		}
	}
}

func TestCPUPerGB(t *testing.T) {
	if got := (transfer{Bytes: 4e9, CPU: 2}).cpuPerGB(); got != 0.5 {
		t.Errorf("2 s for 4 GB: %v s/GB, want 0.5", got)
	}
}

func TestRatios(t *testing.T) {
	if diff := cmp.Diff([]float64{2, 0.5}, ratios([]float64{4, 1}, []float64{2, 2})); diff != "" {
		t.Error(diff)
	}
}

func TestDescribeRatios(t *testing.T) {
	for _, c := range []struct {
		r    []float64
		want string
	}{
		// Of ten values, the second from either end: P(at most 1 of 10 below the median) = 11/1024, twice that is 2.1 %.
		{[]float64{1.09, 1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08}, "median 1.045 (95 % interval 1.010 to 1.080)"},
		{[]float64{1, 2, 3}, "median 2.000 (too few pairs for an interval)"},
	} {
		if got := describeRatios(c.r); got != c.want {
			t.Errorf("describeRatios(%v) = %s; want %s", c.r, got, c.want)
		}
	}
}

// Both ends of the pair answer, with nothing but the kernel between.
func TestPair(t *testing.T) {
	need(t, "ip", "ping")
	l, err := startPair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	printed, err := output(t.Context(), l, "client", "ping", "-n", "-c", "1", serverAddress)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
}
