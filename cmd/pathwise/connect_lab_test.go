package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/connect"
)

// connectLab has a router each that drops and that refuses by port, between bob and carol. On bob's and carol's own firewalls see connectRules.
const connectLab = `seed: 16
hosts: {bob: {}, carol: {}}
routers:
  r1: {firewall: {inside: [bob], deny: [{target_port: 8001, protocol: tcp}, {source_port: 8002, protocol: tcp}]}}
  r2: {firewall: {inside: [r1], reject: true, deny: [{target_port: 8003, protocol: tcp}]}}
links: [{between: [bob, r1], delay: 1ms}, {between: [r1, r2]}, {between: [r2, carol]}]
`

// connectRules are the firewalls of the hosts, by nft.
var connectRules = map[string]string{
	"carol": `table inet f {
	chain in {
		type filter hook input priority 0
		iifname lo accept
		tcp dport { 8010, 8011 } drop
		tcp dport 8012 reject with tcp reset
		tcp dport 8013 reject with icmpx port-unreachable
	}
	chain out {
		type filter hook output priority 0
		oifname != lo tcp sport 8014 drop
	}
}`,
	"bob": `table inet f {
	chain in {
		type filter hook input priority 0
		tcp sport 8020 drop
	}
	chain out {
		type filter hook output priority 0
		tcp dport 8021 drop
		tcp dport 8022 reject with icmpx admin-prohibited
		tcp dport 8023 reject with tcp reset
	}
}`,
}

// connectCases are ports of carol, by what is in the way: what bob can say alone, and what both ends say.
var connectCases = []struct {
	name        string
	port        int
	alone, both string
}{
	{"open", 8000, connect.Open, connect.Open},
	{"closed at once", 8030, connect.Closes, connect.Closes},
	{"refused", 8031, connect.Refused, connect.Nothing},
	{"a listener on loopback alone", 8032, connect.Refused, connect.OtherAddress},
	{"a full accept queue", 8033, connect.NoAnswer, connect.QueueFull},
	{"dropped by a router on the way there", 8001, connect.NoAnswer, connect.DroppedThere},
	{"dropped by a router on the way back", 8002, connect.NoAnswer, connect.DroppedBack},
	{"refused by a router", 8003, connect.Router, connect.Router},
	{"dropped by the far firewall", 8010, connect.NoAnswer, connect.FarDrops},
	{"dropped by the far firewall, and nobody listens", 8011, connect.NoAnswer, connect.FarDrops},
	{"refused by the far firewall, by RST", 8012, connect.Refused, connect.FarRejects},
	{"refused by the far firewall, by ICMP", 8013, connect.FarRejects, connect.FarRejects},
	{"its answer dropped by the far firewall", 8014, connect.NoAnswer, connect.FarDrops},
	{"its answer dropped by the near firewall", 8020, connect.NearDropsBack, connect.NearDropsBack},
	{"dropped by the near firewall", 8021, connect.NearDrops, connect.NearDrops},
	{"refused by the near firewall, by ICMP", 8022, connect.NearRejects, connect.NearRejects},
	{"refused by the near firewall, by RST", 8023, connect.NearRejects, connect.NearRejects},
}

// Each end alone says what it can know of what is in the way of connections to a port, and both together say which it is.
func TestConnectInLab(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nft"); err != nil || os.Geteuid() != 0 {
		t.Skip("this is not root, or nft is not here")
	}
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(connectLab))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self()}, Env: append(os.Environ(), listenVariable+"=1")})
	for host, rules := range connectRules {
		onHost(t, l, host, os.Stderr, "nft", rules)
	}
	for _, family := range []string{"-4", "-6"} {
		var cases sync.WaitGroup
		for _, c := range connectCases {
			cases.Go(func() {
				alone, both := connected(t, l, c.port, family)
				if alone.Finding != c.alone || both.Finding != c.both {
					t.Errorf("%s, %s: alone %q, want %q; both %q, want %q\n%s", c.name, family, alone.Finding, c.alone, both.Finding, c.both,
						strings.Join(append([]string{alone.Says, alone.Unknown, both.Says, both.Unknown}, both.Evidence...), "\n"))
				}
				if told := alone.Unknown == ""; told == slices.Contains([]string{connect.NoAnswer, connect.Refused, connect.Closes}, c.alone) {
					t.Errorf("%s, %s: what one end cannot know: %q", c.name, family, alone.Unknown)
				}
				if half := both.Far != nil && both.Far.HalfOpen > 0; half != slices.Contains([]int{8002, 8014, 8020}, c.port) { // carol answers, and bob hears nothing
					t.Errorf("%s, %s: half open at carol: %v", c.name, family, half)
				}
			})
		}
		cases.Wait()
	}
}

// connected tries a port of carol from bob while carol watches, and says what bob makes of it alone, and what both make of it.
func connected(t *testing.T, l *lab.Lab, port int, family string) (alone, both measure.PortCheck) {
	t.Helper()
	near, to := "10.0.0.1", fmt.Sprintf("10.0.2.2:%d", port)
	if family == "-6" {
		near, to = "fd70:6174:6877::1", fmt.Sprintf("[fd70:6174:6877:2::2]:%d", port)
	}
	input, keep, err := os.Pipe()
	if err != nil {
		t.Error(err)
		return
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Error(err)
		return
	}
	defer read.Close()
	p, err := l.Start(context.Background(), "carol", lab.Command{Argv: []string{lab.Self(), watchPortName, to, "--from=" + near},
		Env: append(os.Environ(), actAsPathwise+"=1"), Stdin: input, Stdout: write, Stderr: os.Stderr})
	input.Close()
	write.Close()
	if err != nil {
		t.Error(err)
		return
	}
	lines := bufio.NewScanner(read)
	lines.Buffer(nil, mostPortReport)
	lines.Scan() // it watches
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "ping", "--connect", to, "-c", "2", "-W", "400ms", "--json")
	keep.Close()
	lines.Scan()
	var r measure.Result
	var far measure.PortFar
	_, ended := p.Wait()
	if err := errors.Join(json.Unmarshal(out.Bytes(), &r), json.Unmarshal(lines.Bytes(), &far), ended); err != nil || r.Samples.Port == nil {
		t.Errorf("%v: %s, %s", err, out.Bytes(), lines.Bytes())
		return
	}
	return *r.Samples.Port, connect.Judge(to, r.Samples.Port.Near, &far)
}

// listenVariable has this test binary listen on the ports of connectCases, and say so.
const listenVariable = "PATHWISE_TEST_LISTEN"

// beListeners listens on all ports but those on which nobody shall, and never ends.
func beListeners() error {
	for _, c := range connectCases {
		address := fmt.Sprintf(":%d", c.port)
		switch c.port {
		case 8011, 8031:
			continue
		case 8032:
			address = "127.0.0.1" + address
		case 8033:
			if err := listenFull(c.port); err != nil {
				return err
			}
			continue
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		go func() {
			for {
				conn, err := listener.Accept()
				if err == nil && c.port == 8030 {
					conn.Close()
				}
			}
		}()
	}
	fmt.Println("listening")
	select {}
}

// listenFull listens with an accept queue for one connection, fills it, and accepts none.
func listenFull(port int) error {
	s, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(s, &unix.SockaddrInet6{Port: port})
	}
	if err == nil {
		err = unix.Listen(s, 0)
	}
	if err == nil {
		_, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	}
	return err
}
