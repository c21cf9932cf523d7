package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
)

// reflectVariable has this binary be a reflector of STAMP that counts its answers, on port 862, and say so when it listens.
const reflectVariable = "PATHWISE_TEST_REFLECT"

func beReflector() error {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, 255) })
	}}
	conn, err := config.ListenPacket(context.Background(), "udp4", ":862")
	if err != nil {
		return err
	}
	fmt.Println("reflecting")
	packet, counts := make([]byte, 2048), map[string]uint32{}
	for {
		n, from, err := conn.ReadFrom(packet)
		if err != nil {
			return err
		}
		arrived := control.TimestampOf(time.Now())
		copy(packet[24:38], packet[:14])
		binary.BigEndian.PutUint32(packet, counts[from.String()])
		counts[from.String()]++
		binary.BigEndian.PutUint64(packet[16:], uint64(arrived))
		binary.BigEndian.PutUint16(packet[12:], uint16(control.Unknown))
		binary.BigEndian.PutUint64(packet[4:], uint64(control.TimestampOf(time.Now())))
		if _, err := conn.WriteTo(packet[:n], from); err != nil {
			return err
		}
	}
}

// What the command says of each way is what the lab did to it: the losses, copies and disorder to the packet, and the delays. Where packets are lost on the
// way back alone, or copies whose answers are lost then, the reflector has to say that it counts, as `pathwise respond` does.
func TestOWDAgainstTruth(t *testing.T) {
	carrying(t)
	other := otherReflector()
	ours := lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")}
	for name, c := range map[string]struct {
		link      string
		reflector lab.Command
	}{
		"losses both ways":            {"forward: {delay: 20ms, loss: 4%}, reverse: {delay: 5ms, loss: 6%}", other},
		"disorder and copies":         {"forward: {delay: 5ms, reorder: {ratio: 6%, by: 5ms}}, reverse: {delay: 20ms, duplicate: 6%}", other},
		"losses on the way back":      {"forward: {delay: 20ms}, reverse: {delay: 5ms, loss: 6%}", ours},
		"copies lost on the way back": {"forward: {delay: 20ms, duplicate: 15%}, reverse: {delay: 5ms, loss: 10%}", ours},
	} {
		spec, err := lab.ParseSpec(name, []byte("seed: 16\nhosts: {bob: {}, carol: {}}\nrouters: [r]\nlinks:\n"+
			"  - {between: [bob, r], rate: 1gbit, "+c.link+"}\n  - {between: [r, carol], rate: 1gbit}\n"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := lab.Start(t.Context(), spec, lab.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		readyOnCarol(t, l, c.reflector)
		var out bytes.Buffer
		onHost(t, l, "bob", &out, lab.Self(), "owd", "carol", "--json", "-c", "300", "-i", "2ms", "-W", "400ms")
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		truth, err := l.Truth()
		if err != nil {
			t.Fatal(err)
		}
		impaired := 0
		for _, f := range truth.Flows {
			switch {
			case f.TargetPort == 862:
				impaired += checkWay(t, &r, measure.Forward, f)
			case f.SourcePort == 862:
				impaired += checkWay(t, &r, measure.Reverse, f)
			}
		}
		if impaired < 15 {
			t.Errorf("%s: %d packets lost, doubled or out of order: the lab did too little to tell", name, impaired)
		}
		if back := r.Metrics[measure.ReverseHopCount]; back != 2 {
			t.Errorf("%s: %v hops back, want 2", name, back)
		}
	}
}

// otherReflector is this binary as beReflector.
func otherReflector() lab.Command {
	return lab.Command{Argv: []string{lab.Self()}, Env: append(os.Environ(), reflectVariable+"=1")}
}

// readyOnCarol is readyOn of the host carol.
func readyOnCarol(t *testing.T, l *lab.Lab, program lab.Command) {
	t.Helper()
	readyOn(t, l, "carol", program)
}

// readyOn starts a program on a host that prints something when it is ready, waits for that, and ends it with the test.
func readyOn(t *testing.T, l *lab.Lab, host string, program lab.Command) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	program.Stdout, program.Stderr = write, os.Stderr
	p, err := l.Start(t.Context(), host, program)
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.Wait()
	})
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Fatalf("%v on %s is not ready: %v", program.Argv, host, err)
	}
}

// checkWay holds a way of a Result against the packets that the lab saw, and returns how many of them it did something to.
func checkWay(t *testing.T, r *measure.Result, way string, truth record.FlowTruth) (impaired int) {
	t.Helper()
	m := r.Metrics
	// What was lost after the last answer is of neither way.
	open := m[measure.SentPackets] - m[measure.SentOn(measure.Forward)]
	if missed := float64(truth.Lost) - m[measure.LostOn(way)]; truth.Packets == 0 || missed < 0 || missed > open {
		t.Errorf("%s: %v lost, in truth %d of %d (the fate of %v is open): %v", way, m[measure.LostOn(way)], truth.Lost, truth.Packets, open, r.Notes)
	}
	if got := m[measure.ReorderedOn(way)]; got != float64(truth.Reordered) {
		t.Errorf("%s: %v reordered, in truth %d", way, got, truth.Reordered)
	}
	if got := m[measure.DuplicateOn(way)]; got != float64(truth.Duplicates) {
		t.Errorf("%s: %v copies, in truth %d", way, got, truth.Duplicates)
	}
	// The reflector stamps in its process, which on a busy machine waits for its turn.
	least, median := m[measure.OneWay(way, "min")]-truth.DelaySeconds.Min, m[measure.OneWay(way, "median")]-truth.DelaySeconds.Median
	if math.Abs(least) > 0.001 || math.Abs(median) > 0.004 {
		t.Errorf("%s: %v longer at least than in truth, %v at the median", way, least, median)
	}
	return int(truth.Lost + truth.Reordered + truth.Duplicates)
}
