package lab

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What TestJoinedDatagrams' children do: "receive ADDRESS" or "send ADDRESS".
const datagramVariable = "PATHWISE_TEST_DATAGRAMS"

// They send so many rounds of so many datagrams; the receiver answers each round with the hash of what it got.
const (
	datagramRounds = 200
	roundSize      = 64
	datagramBytes  = 900
)

// TestDatagrams is one end of that, in a lab.
func TestDatagrams(t *testing.T) {
	role, address, _ := strings.Cut(os.Getenv(datagramVariable), " ")
	switch role {
	case "":
		t.Skip("runs only as a child of TestJoinedDatagrams")
	case "receive":
		receiveRounds(t, address)
	case "send":
		sendRounds(t, address)
	}
}

func receiveRounds(t *testing.T, address string) {
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	os.Stdout.WriteString("ready\n")
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	b := make([]byte, 2048)
	for range datagramRounds {
		sum := sha256.New()
		for range roundSize {
			n, _, err := c.ReadFrom(b)
			if err != nil {
				t.Fatal(err)
			}
			sum.Write(b[:n])
		}
		_, from, err := c.ReadFrom(b) // the sender asks for the hash
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteTo(sum.Sum(nil), from); err != nil {
			t.Fatal(err)
		}
	}
}

func sendRounds(t *testing.T, address string) {
	c, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	for round := range datagramRounds {
		sum := sha256.New()
		for i := range roundSize {
			data := bytes.Repeat([]byte{byte(round), byte(i)}, datagramBytes/2-10*(i&1)*(round&1)) // in odd rounds lengths alternate
			sum.Write(data)
			if _, err := c.Write(data); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 64)
		n, err := c.Read(got)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if !bytes.Equal(got[:n], sum.Sum(nil)) {
			t.Fatalf("round %d: what arrived is not what was sent", round)
		}
	}
}

// Where datagrams come fast some are handed over in one piece, and arrive as they were sent.
func TestJoinedDatagrams(t *testing.T) {
	for _, kind := range kinds(t) {
		for _, address := range []string{"10.0.0.2:5000", "[fd70:6174:6877::2]:5000"} {
			t.Run(string(kind)+"/"+address, func(t *testing.T) {
				l := start(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 100us}]\n", Options{Device: kind})
				before := receivedFrames(t, l)
				runEnds(t, l, "TestDatagrams", datagramVariable, address)
				frames, datagrams := receivedFrames(t, l)-before, datagramRounds*(roundSize+1)
				if frames == 0 || frames >= datagrams { // how many depends on how fast this machine sends
					t.Errorf("%d frames for %d datagrams: none were joined", frames, datagrams)
				}
			})
		}
	}
}

// receivedFrames is how many host b's interface got.
func receivedFrames(t *testing.T, l *Lab) int {
	t.Helper()
	out, status := run(t, l, "b", "sh", "-c", "awk '$1 == \"eth0:\" {print $3}' /proc/net/dev")
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || status != 0 {
		t.Fatal(fmt.Errorf("read frames: status %d, %q: %w", status, out, err))
	}
	return n
}
