package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What TestOffload's children do: "receive ADDRESS" or "send ADDRESS".
const transferVariable = "PATHWISE_TEST_TRANSFER"

// transferBytes is what they transfer, from a fixed seed.
const transferBytes = 3 << 20

// TestTransfer is one end of a transfer, in a lab. It prints the hash of what went over.
func TestTransfer(t *testing.T) {
	role, address, _ := strings.Cut(os.Getenv(transferVariable), " ")
	sum := sha256.New()
	switch role {
	case "":
		t.Skip("runs only as a child of TestOffload")
	case "receive":
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("ready\n")
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(sum, c); err != nil {
			t.Fatal(err)
		}
	case "send":
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.NewChaCha8([32]byte{1})
		if _, err := io.CopyN(io.MultiWriter(c, sum), random, transferBytes); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	fmt.Printf("hash %s\n", hex.EncodeToString(sum.Sum(nil)))
}

// transfer sends bytes from a to b and returns the hashes that both ends print.
func transfer(t *testing.T, l *Lab, address string) (sent, received string) {
	t.Helper()
	out, rest := runEnds(t, l, "TestTransfer", transferVariable, address)
	return hashIn(out), hashIn(rest)
}

// runEnds runs a test of this binary in both its roles, which a variable tells it: "receive ADDRESS" on b, which prints
// "ready" first, and "send ADDRESS" on a. It returns what else each printed.
func runEnds(t *testing.T, l *Lab, test, variable, address string) (sender, receiver string) {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	env := func(role string) []string { return append(os.Environ(), variable+"="+role+" "+address) }
	argv := []string{self, "-test.run", "^" + test + "$"}
	p, err := l.Start(t.Context(), "b", Command{Argv: argv, Env: env("receive"), Stdout: writer, Stderr: writer})
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 6)
	if _, err := io.ReadFull(reader, ready); err != nil || string(ready) != "ready\n" {
		t.Fatalf("receiver: %q %v", ready, err)
	}
	out, status := runEnv(t, l, "a", env("send"), argv...)
	if status != 0 {
		t.Fatalf("sender: exit status %d:\n%s", status, out)
	}
	rest, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status != 0 {
		t.Fatalf("receiver: exit status %d %v:\n%s", status, err, rest)
	}
	return out, string(rest)
}

func hashIn(out string) string {
	_, rest, _ := strings.Cut(out, "hash ")
	hash, _, _ := strings.Cut(rest, "\n")
	return hash
}

// With offload, what the kernel hands over in super-packets arrives byte by byte, whole or cut where segments were lost,
// changed on the way or fragmented; and the truth counts segments.
func TestOffload(t *testing.T) {
	for _, kind := range kinds(t) {
		for _, c := range []struct{ name, address, link, routers string }{
			{"whole", "10.0.1.2:5000", "delay: 5ms", "[r]"},
			{"whole by IPv6", "[fd70:6174:6877:1::2]:5000", "delay: 5ms", "[r]"},
			{"lossy", "10.0.1.2:5000", "delay: 2ms, loss: 1%", "[r]"},
			{"lossy by IPv6", "[fd70:6174:6877:1::2]:5000", "delay: 2ms, loss: 1%", "[r]"},
			{"cut by a rate", "10.0.1.2:5000", "delay: 2ms, rate: 400mbit", "[r]"},
			{"translated", "10.0.1.2:5000", "delay: 2ms, loss: 0.2%", "{r: {nat: {outside: b}, strip: [timestamps], randomize_sequence: true}}"},
			{"corrupted", "10.0.1.2:5000", "delay: 2ms, corrupt: 0.5%", "[r]"},
			{"duplicated and reordered", "10.0.1.2:5000", "delay: 2ms, duplicate: 1%, reorder: {ratio: 1%, by: 1ms}", "[r]"},
		} {
			t.Run(string(kind)+"/"+c.name, func(t *testing.T) {
				l := start(t, fmt.Sprintf(`
offload: true
hosts: {a: {}, b: {}}
routers: %s
links:
  - {between: [a, r]}
  - {between: [r, b], %s}
`, c.routers, c.link), Options{Device: kind})
				sent, received := transfer(t, l, c.address)
				if sent == "" || sent != received {
					t.Errorf("sent %s, received %s", sent, received)
				}
				truth, err := l.Truth()
				if err != nil {
					t.Fatal(err)
				}
				if n := truth.Links[0].Packets; n < transferBytes/1460 {
					t.Errorf("%d packets for %d bytes: segments were not counted", n, transferBytes)
				}
				if strings.Contains(c.link, "loss") && truth.Links[2].Dropped["loss"] == 0 {
					t.Error("nothing was lost")
				}
			})
		}
	}
}

// IPv6 works as IPv4 does: Debian's ping sees the delay, and the route.
func TestIPv6(t *testing.T) {
	l := start(t, bobAndCarol, Options{})
	out, status := run(t, l, "bob", "ping", "-6", "-n", "-q", "-c", "20", "-i", "0.01", "carol")
	if status != 0 || !strings.Contains(out, "20 received") {
		t.Errorf("ping -6: exit status %d:\n%s", status, out)
	}
	out, _ = run(t, l, "bob", "traceroute", "-6", "-n", "-q", "1", "carol")
	for _, hop := range []string{"fd70:6174:6877::2", "fd70:6174:6877:1::2", "fd70:6174:6877:2::2"} {
		if !strings.Contains(out, " "+hop+" ") {
			t.Errorf("traceroute -6 does not show %s:\n%s", hop, out)
		}
	}
}

// A smaller MTU on the way: the kernel learns of it from the router; where the router says nothing, large packets vanish.
func TestMTUForReal(t *testing.T) {
	l := start(t, `
hosts: {a: {}, b: {}}
routers: [r]
links:
  - {between: [a, r]}
  - {between: [r, b], mtu: 1300B}
`, Options{})
	for _, c := range []struct {
		args string
		want string
	}{
		{"-4 -M do -s 1272", "1 received"},
		{"-4 -M do -s 1273", "0 received"},
		{"-4 -M dont -s 1400", "1 received"}, // cut on the way, put together by the host
		{"-6 -s 1400", "1 received"},         // cut at the source once it knows: see below
	} {
		args := strings.Fields("ping -n -q -c 1 -W 0.3 " + c.args + " b")
		if strings.Contains(c.args, "-6") {
			run(t, l, "a", args...) // the first is lost, and tells the kernel why
		}
		if out, _ := run(t, l, "a", args...); !strings.Contains(out, c.want) {
			t.Errorf("%v: want %s:\n%s", args, c.want, out)
		}
	}
	if sent, received := transfer(t, l, "10.0.1.2:5000"); sent == "" || sent != received {
		t.Error("TCP did not get through a smaller MTU")
	}
}
