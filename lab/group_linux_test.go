package lab

import (
	"bufio"
	"cmp"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const groupVariable = "PATHWISE_TEST_GROUP"

// TestGroupMember is a program on a lab's host: it joins a group, says so, and prints what comes; or sends to the group.
func TestGroupMember(t *testing.T) {
	role, address, _ := strings.Cut(os.Getenv(groupVariable), " ")
	group := &net.UDPAddr{IP: net.ParseIP(address), Port: 5000}
	switch role {
	case "":
		t.Skip("runs only as a child of TestGroupOfHosts")
	case "send":
		far := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
			var failed error
			closed := c.Control(func(fd uintptr) { // Linux would let it go one hop
				level, option := unix.IPPROTO_IP, unix.IP_MULTICAST_TTL
				if group.IP.To4() == nil {
					level, option = unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS
				}
				failed = unix.SetsockoptInt(int(fd), level, option, 8)
			})
			return cmp.Or(closed, failed)
		}}
		c, err := far.DialContext(t.Context(), "udp", group.String())
		if err == nil {
			_, err = c.Write([]byte("to all of you"))
		}
		if err != nil {
			t.Fatal(err)
		}
	default:
		c, err := net.ListenMulticastUDP("udp", nil, group)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("joined")
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second)) // of a socket that is open
		came := make([]byte, 100)
		n, from, err := c.ReadFromUDP(came)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%s from %s\n", came[:n], from.IP)
	}
}

// Programs on hosts join a group and send to it as on any network, over IPv4 and IPv6.
func TestGroupOfHosts(t *testing.T) {
	l := start(t, `
hosts: {a: {}, b: {}, c: {}}
routers: [r]
groups: {239.1.2.3: [b, c], "ff15::7": [b, c]}
links: [{between: [a, r]}, {between: [r, b], delay: 5ms}, {between: [r, c], delay: 5ms}]
`, Options{})
	for group, source := range map[string]string{"239.1.2.3": "10.0.0.1", "ff15::7": "fd70:6174:6877::1"} {
		t.Run(group, func(t *testing.T) { testGroup(t, l, group, source) })
	}
}

// testGroup looks whether what a sends to a group comes to b and c, from its address.
func testGroup(t *testing.T, l *Lab, group, source string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	as := func(role string) []string { return append(os.Environ(), groupVariable+"="+role+" "+group) }
	argv := []string{self, "-test.run", "^TestGroupMember$"}
	var members []*Process
	var prints []*bufio.Reader
	for _, host := range []string{"b", "c"} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		p, err := l.Start(t.Context(), host, Command{Argv: argv, Env: as("receive"), Stdout: writer})
		writer.Close()
		if err != nil {
			t.Fatal(err)
		}
		members, prints = append(members, p), append(prints, bufio.NewReader(reader))
	}
	for i, p := range prints {
		if line, err := p.ReadString('\n'); line != "joined\n" {
			t.Fatalf("member %d says %q, %v", i+1, line, err)
		}
	}
	if out, status := runEnv(t, l, "a", as("send"), argv...); status != 0 {
		t.Fatalf("send: exit status %d:\n%s", status, out)
	}
	for i, p := range members {
		line, err := prints[i].ReadString('\n')
		if line != "to all of you from "+source+"\n" {
			t.Errorf("member %d got %q, %v", i+1, line, err)
		}
		if status, err := p.Wait(); err != nil || status != 0 {
			t.Errorf("member %d: exit status %d, %v", i+1, status, err)
		}
	}
}
