// Package capturetest captures what tests of protocols send over loopback, and has tshark judge it: the dissectors of others read our packets.
package capturetest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// During captures the first 2048 bytes of what a host of loopback sends and receives while f runs, and returns
// the file: with room for whole large packets the buffer held eight of them. A test on a machine that cannot is skipped.
func During(t *testing.T, host string, f func()) (file string) {
	t.Helper()
	for _, tool := range []string{"tcpdump", "tshark"} {
		if _, err := exec.LookPath(tool); err != nil || os.Getuid() != 0 {
			t.Skipf("to capture on loopback takes root, tcpdump and tshark (%v)", err)
		}
	}
	file = filepath.Join(t.TempDir(), "capture.pcap")
	c := exec.Command("tcpdump", "-i", "lo", "--immediate-mode", "-U", "-s", "2048", "-B", "16384", "-w", file, "host", host)
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(said)
	for line := ""; !strings.Contains(line, "listening on"); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("tcpdump: %v", err)
		}
	}
	defer func() {
		_ = c.Process.Signal(syscall.SIGINT)
		_, _ = lines.WriteTo(io.Discard)
		_ = c.Wait()
	}()
	f()
	awaitEnd(t, host, file)
	return file
}

// endMark is the payload of the packet that is sent last: when it is in the capture, so is all before it.
const endMark = "end of capture"

func awaitEnd(t *testing.T, host, file string) {
	t.Helper()
	socket, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if _, err := socket.WriteTo([]byte(endMark), socket.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(endMark)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("tcpdump writes nothing more")
		}
	}
}

// Decoded are fields of the packets of a capture that a filter lets through, as tshark decodes them by its option -d. That it complains of a
// packet, or finds it malformed, is an error of the test.
func Decoded(t *testing.T, file, filter string, as, fields []string) (packets [][]string) {
	t.Helper()
	args := []string{"-r", file, "-T", "fields", "-e", "_ws.malformed", "-e", "_ws.expert.severity"}
	for _, name := range fields {
		args = append(args, "-e", name)
	}
	for _, one := range as {
		args = append(args, "-d", one)
	}
	out, err := exec.Command("tshark", append(args, "("+filter+") and not frame contains \""+endMark+"\"")...).Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		all := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for len(all) < 2+len(fields) { // empty ones at the end are left out
			all = append(all, "")
		}
		if all[0] != "" || complains(all[1]) {
			t.Errorf("tshark complains of %q", line)
		}
		packets = append(packets, all[2:])
	}
	return packets
}

// complains reports whether one of tshark's remarks, by their severities, is a warning or worse (PI_WARN in wireshark's epan/proto.h); less is
// chat, such as on a port that traceroute uses, too.
func complains(severities string) bool {
	const warning = 0x600000
	for text := range strings.SplitSeq(severities, ",") {
		if n, err := strconv.Atoi(text); text != "" && (err != nil || n >= warning) {
			return true
		}
	}
	return false
}
