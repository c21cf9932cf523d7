package main

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// keepReference keeps one of this host for data to itself, with a ceiling both ways, and change made.
func keepReference(t *testing.T, rate float64, change func(*host.Reference)) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	self, err := host.Identify(loopback)
	if err != nil {
		t.Fatal(err)
	}
	r := &host.Reference{Schema: host.ReferenceSchema, Made: time.Now().Add(-time.Hour), Self: self, Peer: "near", PeerAddress: loopback, RTT: 2e-4}
	for _, sends := range []bool{true, false} {
		r.Runs = append(r.Runs, host.ReferenceRun{Sends: sends, Streams: 1, Rate: rate, CPU: 0.95, RTT: 2e-4})
	}
	change(r)
	path, err := host.ReferencePath()
	if err == nil {
		err = r.Write(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What is kept is printed with its age, and with why it is not used any more.
func TestReferenceIsShown(t *testing.T) {
	for want, change := range map[string]func(*host.Reference){
		"1h0m0s ago\n": func(*host.Reference) {},
		"no diagnosis uses it: it was made with the kernel 1.0, and ": func(r *host.Reference) { r.Self.Kernel = "1.0" },
		"100 days ago\nno diagnosis uses it: it is 100 days old\n":    func(r *host.Reference) { r.Made = r.Made.Add(-100 * 24 * time.Hour) },
		"receives, 1 stream: the near host was busy\n":                func(r *host.Reference) { r.Runs[1].Limit = "the near host was busy" },
	} {
		keepReference(t, 9e9, change)
		var out, said bytes.Buffer
		if status := run([]string{"host", "--reference"}, nil, &out, &said); status != exitDone || !strings.Contains(out.String(), want) ||
			strings.Contains(out.String(), "no diagnosis") != strings.Contains(want, "no diagnosis") {
			t.Errorf("status %d, %s\nprinted:\n%s\nwant %s", status, said.String(), out.String(), want)
		}
	}
}

// What cannot be is said in a line, and nothing is measured.
func TestReferenceRefused(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for args, want := range map[string]string{
		"host --reference":                    "--reference: there is none in ",
		"host --reference 127.0.0.1":          `--reference: "127.0.0.1" is this machine`,
		"host --reference carol --rate 1gbit": "--rate: it is for an audit, and --reference makes none",
		"host --reference carol -4 -6":        "-4 -6: a reference is of one route",
	} {
		var out, said bytes.Buffer
		if status := run(strings.Fields(args), nil, &out, &said); status != exitBadCall || !strings.HasPrefix(said.String(), "pathwise: "+want) || out.Len() > 0 {
			t.Errorf("%s: status %d: %s", args, status, said.String())
		}
	}
}

// What is kept is among the Results of a diagnosis, as rules read it.
func TestDiagnoseReadsReference(t *testing.T) {
	keepReference(t, 9e9, func(r *host.Reference) { r.Runs[1].Limit = "the near host was busy" })
	l, err := iperf3.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = (&iperf3.Server{}).Serve(t.Context(), l) }()
	var out, said bytes.Buffer
	status := run([]string{"diagnose", l.Addr().String(), "-t", "100ms", "--budget", "5s", "--json"}, nil, &out, &said)
	if needsPrivilege(said.String()) {
		t.Skip("this user may not open what a diagnosis needs: ", said.String())
	}
	var d diagnose.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("status %d, %s: %v", status, said.String(), err)
	}
	i := slices.IndexFunc(d.Results, func(r *measure.Result) bool { return r.Kind == diagnose.KindReference })
	if i < 0 {
		t.Fatalf("status %d, %s: no Result is the reference", status, said.String())
	}
	want := map[measure.Metric]float64{measure.Throughput: 9e9, measure.CPUSender: 0.95}
	if diff := cmp.Diff(want, d.Results[i].Metrics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A reference that is of another host than this one is now is not used, and that is said.
func TestStaleReferenceIsNotUsed(t *testing.T) {
	keepReference(t, 9e9, func(r *host.Reference) { r.Self.Interface = "gone0" })
	if r, note := readReference(loopback); r != nil || !strings.Contains(note, "it is of the interface gone0") {
		t.Errorf("%v, %q", r, note)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if r, note := readReference(loopback); r != nil || note != "" {
		t.Errorf("none is there: %v, %q", r, note)
	}
}

// What both hosts' processors and kernels say of a run is taken from the ends that it is of.
func TestReferenceRun(t *testing.T) {
	r := measure.NewResult("throughput", time.Time{})
	r.Metrics = map[measure.Metric]float64{measure.Throughput: 5e9, measure.CPUSender: 0.4, measure.CPUReceiver: 0.9, measure.RwndLimitedRatio: 0.1}
	for stream, again := range map[int]float64{1: 1, 2: 3} {
		for _, share := range []float64{0.5, 1} {
			r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: measure.Sender, Direction: measure.Reverse, Stream: stream,
				Values: map[string]float64{"data_segs_out": 1000 * share, "total_retrans_packets": again * share, "min_rtt_seconds": float64(stream) * 1e-4}})
		}
	}
	own := measure.NewResult("host", time.Time{})
	own.Samples.Host = &measure.HostSample{CPUs: []measure.CPUSample{{Busy: 0.7, SoftIRQ: 0.5}, {Busy: 1}}}
	want := host.ReferenceRun{Streams: 2, Rate: 5e9, CPU: 0.9, PeerCPU: 0.4, Packets: 0.7, RTT: 1e-4, Resent: 0.002, Window: 0.1}
	if diff := cmp.Diff(want, referenceRun(r, own, false, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
