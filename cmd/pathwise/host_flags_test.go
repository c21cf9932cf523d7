package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/proto/transact"
)

// takingHost are the commands that take a HOST, and what makes each quick. "lab measure" is for the lab's page, whose hosts are
// names of the lab.
var takingHost = map[string][]string{
	"ping":       {"-c", "1"},
	"owd":        {"-c", "2", "-i", "1ms"},
	"mtu":        {"--timeout", "200ms"},
	"trace":      {"--max-ttl", "1"},
	"throughput": {"-n", "100K"},
	"diagnose":   {"-t", "100ms", "--budget", "5s"},
	"transact":   {"-c", "2"},
	"capacity":   {"--light"},
	"ndt7":       {"-t", "100ms"},
}

// Every command whose usage has a HOST to measure to has -4 and -6.
func TestEveryHostHasFamilies(t *testing.T) {
	root := rootCommand(&session{out: io.Discard, err: io.Discard})
	var found []string
	for _, c := range root.Commands() {
		if strings.Contains(c.Use, " HOST") {
			found = append(found, c.Name())
		}
	}
	for _, name := range found {
		c, _, err := root.Find([]string{name})
		if err != nil || c.Flags().ShorthandLookup("4") == nil || c.Flags().ShorthandLookup("6") == nil {
			t.Errorf("%s: has no -4 or no -6 (%v)", name, err)
		}
		if takingHost[name] == nil {
			t.Errorf("%s: not in the table of this test", name)
		}
	}
	if len(found) != len(takingHost) {
		t.Errorf("commands that take a HOST are %v, the table has %d", found, len(takingHost))
	}
}

// Each command measures over the family that it is told, whatever the host is called; both are compared, or refused.
func TestFamiliesOnLoopback(t *testing.T) {
	t.Parallel()
	l, err := iperf3.Listen(t.Context(), "[::]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	go func() { _ = (&iperf3.Server{Policy: iperf3.Policy{MaxTests: 20}}).Serve(t.Context(), l) }()
	asked, err := transact.Listen(t.Context(), "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = (&transact.Server{Policy: transact.Policy{Tests: 20}}).Serve(t.Context(), asked) }()
	speed, err := ndt7.Listen(t.Context(), "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = (&ndt7.Server{Policy: ndt7.Policy{Tests: 20}}).Serve(t.Context(), speed) }()
	port := l.Addr().(*net.TCPAddr).Port
	ports := map[string]int{"owd": reflectAll(t), "throughput": port, "diagnose": port, "transact": asked.Addr().(*net.TCPAddr).Port,
		"ndt7": speed.Addr().(*net.TCPAddr).Port}
	addresses, err := net.DefaultResolver.LookupHost(t.Context(), "localhost")
	dual := err == nil && slices.Contains(addresses, "127.0.0.1") && slices.Contains(addresses, "::1") // not on every machine
	for name, quick := range takingHost {
		if name == "capacity" { // which loopback has none of
			continue
		}
		hosts := map[string]string{"127.0.0.1": "127.0.0.1", "::1": "::1", "[::1]": "::1", "127.0.0.1 -4": "127.0.0.1", "::1 -6": "::1"}
		if dual {
			hosts["localhost -4"], hosts["localhost -6"] = "127.0.0.1", "::1"
		}
		args := append([]string{name, "--json"}, quick...)
		port, answered := ports[name]
		if answered {
			delete(hosts, "[::1]")
			hosts[fmt.Sprintf("127.0.0.1:%d", port)], hosts[fmt.Sprintf("[::1]:%d", port)] = "127.0.0.1", "::1"
		}
		var calls sync.WaitGroup // at once, as they wait more than they work
		for host, want := range hosts {
			full := slices.Concat(args, strings.Fields(host))
			if answered && !strings.Contains(host, fmt.Sprint(port)) {
				full = append(full, "--port", fmt.Sprint(port))
			}
			calls.Go(func() {
				results, status, complaint := measuredBy(t, full)
				if needsPrivilege(complaint) {
					return
				}
				for _, r := range results {
					if r.Target.Address != want {
						t.Errorf("%v: %s to %s, want %s", full, r.Kind, r.Target.Address, want)
					}
				}
				if status != exitDone || len(results) == 0 {
					t.Errorf("%v: exit status %d, %d results: %s", full, status, len(results), complaint)
				}
			})
		}
		calls.Wait()
		full := append(slices.Clone(args), "localhost", "-4", "-6")
		if answered {
			full = append(full, "--port", fmt.Sprint(port))
		}
		results, status, complaint := measuredBy(t, full)
		switch {
		case needsPrivilege(complaint), !dual && name != "diagnose":
		case name == "diagnose":
			if status != exitBadCall || !strings.Contains(complaint, "-4 -6: ") {
				t.Errorf("%v: exit status %d, want %d: %s", full, status, exitBadCall, complaint)
			}
		case status != exitDone || len(results) != 2 || results[0].Target.Address != "127.0.0.1" || results[1].Target.Address != "::1":
			t.Errorf("%v: exit status %d, %d results: %s", full, status, len(results), complaint)
		}
	}
}

// reflectAll sends packets of STAMP back as they came, with the sender's part where a reflector puts it, until the test ends; it returns its port.
func reflectAll(t *testing.T) (port int) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		packet := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			copy(packet[24:38], packet[:14])
			copy(packet[16:24], packet[4:12])
			_, _ = conn.WriteToUDPAddrPort(packet[:n], from)
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

func needsPrivilege(complaint string) bool { return strings.Contains(complaint, "ping_group_range") }

// measuredBy runs a command line and returns the Results in the document that it prints.
func measuredBy(t *testing.T, args []string) (results []*measure.Result, status int, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(args, nil, &stdout, &stderr)
	var doc struct {
		Schema  string
		Results []*measure.Result
	}
	if stdout.Len() == 0 {
		return nil, status, stderr.String()
	}
	err := json.Unmarshal(stdout.Bytes(), &doc)
	if err == nil && doc.Results == nil {
		r := &measure.Result{}
		err = json.Unmarshal(stdout.Bytes(), r)
		doc.Results = append(doc.Results, r)
	}
	if err != nil {
		t.Errorf("%v: %v", args, err)
	}
	return doc.Results, status, stderr.String()
}

// Of several hosts each has the port that it is written with, or the usual one.
func TestPortsOfSeveralHosts(t *testing.T) {
	results, status, complaint := measuredBy(t, strings.Fields("ping 127.0.0.1:9 127.0.0.1:10 127.0.0.1 --proto tcp -c 1 --json"))
	var ports []any
	for _, r := range results {
		ports = append(ports, r.Parameters["port"])
	}
	if diff := cmp.Diff([]any{9., 10., 443.}, ports); diff != "" || status != exitDone {
		t.Errorf("exit status %d, %s: ports (-want +got):\n%s", status, complaint, diff)
	}
}

// A host is written with a port only where one means something, and only once; else one line says why.
func TestHostsThatAreRefused(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"ping 127.0.0.1:80", `port "80": ICMP has no ports; leave it out, or ask for proto tcp`},
		{"throughput 127.0.0.1:80 --port 81", `--port: "81": 127.0.0.1:80 says 80; give one of the two`},
		{"diagnose [::1", `host "[::1": give HOST, HOST:PORT or [ADDRESS]:PORT, a port being 1 to 65535`},
		{"trace 127.0.0.1:0", `host "127.0.0.1:0": give HOST, HOST:PORT or [ADDRESS]:PORT, a port being 1 to 65535`},
		{"respond --bind 127.0.0.1:x", `--bind: host "127.0.0.1:x": give HOST, HOST:PORT or [ADDRESS]:PORT, a port being 1 to 65535`},
		{"ping 127.0.0.1 -6", `target "127.0.0.1": it has no IPv6 address; choose the other family`},
		{"throughput ::1 -4", `target "::1": it has no IPv4 address; choose the other family`},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(test.args), nil, &stdout, &stderr)
		if got := strings.TrimSuffix(stderr.String(), "\n"); status != exitBadCall || got != "pathwise: "+test.want || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d\ngot  %s\nwant pathwise: %s", test.args, status, got, test.want)
		}
	}
}
