package main

import (
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/lab"
)

// Captured in a lab: a request, its reply, and what else may stand between.
const dumped = `1795181366.012345678 IP 10.0.0.1 > 10.0.1.2: ICMP echo request, id 7, seq 1, length 64
1795181366.022345678 IP 10.0.0.1 > 10.0.1.2: ICMP echo request, id 7, seq 2, length 64
1795181366.052400000 IP 10.0.1.2 > 10.0.0.1: ICMP echo reply, id 7, seq 1, length 64
1795181366.052500000 IP 10.0.1.2 > 10.0.0.1: ICMP echo reply, id 7, seq 1, length 64
1795181366.062500000 IP 10.0.1.2 > 10.0.0.1: ICMP echo reply, id 8, seq 2, length 64
1795181366.062600000 IP 10.0.0.2 > 10.0.0.1: ICMP time exceeded in-transit, length 92
`

func TestRoundTripsFromTcpdump(t *testing.T) {
	echoes := parseEchoes(dumped)
	want := []echo{
		{false, 7, 1, 1795181366012345678}, {false, 7, 2, 1795181366022345678}, {true, 7, 1, 1795181366052400000},
		{true, 7, 1, 1795181366052500000}, {true, 8, 2, 1795181366062500000},
	}
	if diff := cmp.Diff(want, echoes, cmp.AllowUnexported(echo{})); diff != "" {
		t.Errorf("echoes: -want +got\n%s", diff)
	}
	// The duplicate, the reply to someone else and the request without a reply make no round trip.
	if diff := cmp.Diff([]float64{0.040054322}, roundTrips(echoes)); diff != "" {
		t.Errorf("round trips: -want +got\n%s", diff)
	}
}

func FuzzParseEchoes(f *testing.F) {
	f.Add(dumped)
	f.Fuzz(func(t *testing.T, text string) {
		echoes := parseEchoes(text)
		if len(echoes) > len(text) || len(roundTrips(echoes)) > len(echoes) {
			t.Errorf("%d echoes, %d round trips from %d bytes", len(echoes), len(roundTrips(echoes)), len(text))
		}
	})
}

const pinged = `PING b (10.0.1.2) 56(84) bytes of data.
64 bytes from 10.0.1.2: icmp_seq=1 ttl=63 time=40.1 ms
64 bytes from 10.0.1.2: icmp_seq=3 ttl=63 time=41 ms

--- b ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 20ms
rtt min/avg/max/mdev = 40.066/40.533/41.000/0.466 ms
`

func TestReadPing(t *testing.T) {
	got, err := readPing(pinged)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{0.0401, 0.041}, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadPathwisePing(t *testing.T) {
	got, err := readPathwisePing(`{"samples": {"echoes": [{"seq": 0, "rtt_seconds": 0.0401}, {"seq": 1, "rtt_seconds": null}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{0.0401}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := readPathwisePing("no such host"); err == nil {
		t.Error("read what is no Result")
	}
}

// tcpdump and ping, side by side in a lab, see the same round trips, each of them.
func TestTcpdumpSeesWhatPingSees(t *testing.T) {
	need(t, "ping", "tcpdump")
	if os.Geteuid() != 0 {
		t.Skip(errRootForTcpdump)
	}
	spec, err := lab.ParseSpec("ping", []byte(pathSpec))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const count = 20
	printed, seen, err := watchPing(t.Context(), l, count, []string{"ping", "-n", "-c", "20", "-i", interval, "b"})
	if err != nil {
		t.Fatal(err)
	}
	own, err := readPing(printed)
	if err != nil {
		t.Fatal(err)
	}
	stamps := roundTrips(parseEchoes(seen))
	if len(own) != count || len(stamps) != count {
		t.Fatalf("%d round trips by ping, %d by tcpdump, want %d each:\n%s\n%s", len(own), len(stamps), count, printed, seen)
	}
	for i := range stamps {
		// ping stamps requests before the kernel does, and a busy machine lies between; but both saw one path.
		if stamps[i] < nominal.Seconds() || math.Abs(stamps[i]-own[i]) > 0.1 {
			t.Errorf("echo %d: %v s by tcpdump, %v s by ping", i+1, stamps[i], own[i])
		}
	}
}
