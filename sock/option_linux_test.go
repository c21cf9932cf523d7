package sock

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// badInput says whether the CLI would blame the caller for err.
func badInput(err error) bool {
	var bad interface{ BadInput() bool }
	return errors.As(err, &bad) && bad.BadInput()
}

func TestCongestion(t *testing.T) {
	client, _ := connection(t, "127.0.0.1")
	c := raw(t, client)
	names, err := AvailableCongestion()
	if err != nil || !slices.Contains(names, "reno") { // reno cannot be left out of a kernel
		t.Fatalf("available %v, %v; want reno among them", names, err)
	}
	if err := SetCongestion(c, "reno"); err != nil {
		t.Fatal(err)
	}
	if got, err := Congestion(c); got != "reno" || err != nil {
		t.Errorf("congestion control %q, %v; want reno", got, err)
	}
	for _, name := range []string{"nosuch", "", strings.Repeat("x", 99)} {
		err := SetCongestion(c, name)
		if !badInput(err) || !strings.Contains(err.Error(), "reno") {
			t.Errorf("set %q: %v; want bad input that lists reno", name, err)
		}
	}
	if got, _ := Congestion(c); got != "reno" {
		t.Errorf("after failures %q, want reno", got)
	}
}

func TestBuffers(t *testing.T) {
	client, _ := connection(t, "127.0.0.1")
	c := raw(t, client)
	tests := []struct {
		name string
		set  func(syscall.RawConn, int) (int, error)
		get  func(syscall.RawConn) (int, error)
	}{
		{"send", SetSendBuffer, SendBuffer},
		{"receive", SetReceiveBuffer, ReceiveBuffer},
	}
	for _, test := range tests {
		const asked = 65536
		granted, err := test.set(c, asked)
		if err != nil || granted != 2*asked {
			t.Errorf("%s: granted %d, %v; want %d", test.name, granted, err, 2*asked)
		}
		if got, err := test.get(c); got != granted || err != nil {
			t.Errorf("%s: %d, %v; want %d", test.name, got, err, granted)
		}
		for _, bytes := range []int{0, -1, 1<<30 + 1} {
			if _, err := test.set(c, bytes); !badInput(err) {
				t.Errorf("%s buffer of %d: %v; want bad input", test.name, bytes, err)
			}
		}
	}
}

// Data that nobody reads shows in the receiver's memory.
func TestMemInfo(t *testing.T) {
	client, server := connection(t, "127.0.0.1")
	if _, err := client.Write(make([]byte, 4000)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 1)); err != nil { // all 4000 bytes came as one segment
		t.Fatal(err)
	}
	got, err := MemInfo(raw(t, server))
	if err != nil {
		t.Fatal(err)
	}
	if got.ReceiveAlloc < 3999 || got.ReceiveAlloc > got.ReceiveBuffer {
		t.Errorf("receive alloc %d of %d bytes, want at least 3999", got.ReceiveAlloc, got.ReceiveBuffer)
	}
	if send, err := SendBuffer(raw(t, server)); err != nil || got.SendBuffer != send {
		t.Errorf("send buffer %d, want %d, %v", got.SendBuffer, send, err)
	}
}

func TestParseBufferUse(t *testing.T) {
	words := []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0}
	want := BufferUse{ReceiveAlloc: 1, ReceiveBuffer: 2, SendAlloc: 3, SendBuffer: 4, SendQueued: 6, Backlog: 8, Drops: 9}
	if diff := cmp.Diff(want, parseBufferUse(words)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want.Drops = 0
	if diff := cmp.Diff(want, parseBufferUse(words[:35])); diff != "" {
		t.Errorf("cut short (-want +got):\n%s", diff)
	}
}

// dscpOf returns the differentiated services code point (0..63) of what the socket sends.
func dscpOf(c syscall.RawConn) (int, error) {
	tos, err := control(c, func(fd int) (int, error) {
		level, option, err := tosOption(fd)
		if err != nil {
			return 0, err
		}
		return unix.GetsockoptInt(fd, level, option)
	})
	if err != nil {
		return 0, fmt.Errorf("read DSCP: %w", err)
	}
	return tos >> dscpShift, nil
}

func TestDSCP(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		conn, err := net.ListenPacket("udp", net.JoinHostPort(address, "0"))
		if err != nil {
			t.Logf("no %s here: %v", address, err)
			continue
		}
		defer conn.Close()
		c := raw(t, conn.(*net.UDPConn))
		for _, dscp := range []int{0, 46, 63} {
			if err := SetDSCP(c, dscp); err != nil {
				t.Fatal(err)
			}
			if got, err := dscpOf(c); got != dscp || err != nil {
				t.Errorf("%s: DSCP %d, %v; want %d", address, got, err, dscp)
			}
		}
		for _, dscp := range []int{-1, 64} {
			if err := SetDSCP(c, dscp); !badInput(err) {
				t.Errorf("%s: DSCP %d: %v; want bad input", address, dscp, err)
			}
		}
	}
}

func TestSetMaxPacing(t *testing.T) {
	client, _ := connection(t, "127.0.0.1")
	c := raw(t, client)
	const rate = 80_000_000_000 // more than 32 bits of byte/s hold
	if err := SetMaxPacing(c, rate); err != nil {
		t.Fatal(err)
	}
	info, err := ReadTCPInfo(c)
	if err != nil || info.MaxPacingRate != rate {
		t.Errorf("maximum pacing rate %d, %v; want %d", info.MaxPacingRate, err, uint64(rate))
	}
	if err := SetMaxPacing(c, 0); err != nil {
		t.Fatal(err)
	}
	if info, err := ReadTCPInfo(c); err != nil || info.Has(FieldMaxPacingRate) {
		t.Errorf("maximum pacing rate %d, %v; want absent", info.MaxPacingRate, err)
	}
	if err := SetMaxPacing(c, 7); !badInput(err) {
		t.Errorf("7 bit/s: %v; want bad input", err)
	}
}

func TestSetDontFragment(t *testing.T) {
	conn, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := raw(t, conn.(*net.UDPConn))
	if err := SetDontFragment(c); err != nil {
		t.Fatal(err)
	}
	got, err := getInt(c, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER)
	if got != unix.IP_PMTUDISC_PROBE || err != nil {
		t.Errorf("IP_MTU_DISCOVER %d, %v; want %d", got, err, unix.IP_PMTUDISC_PROBE)
	}
}

func TestReadTCPSettings(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"ipv4/tcp_rmem":               "4096\t131072\t6291456\n",
		"ipv4/tcp_wmem":               "4096 16384\n",  // a number is missing
		"core/rmem_max":               "4194304\n",     // as it should be
		"ipv4/tcp_sack":               "\n",            // empty
		"ipv4/tcp_window_scaling":     "0\n",           // zero is a value
		"ipv4/tcp_timestamps":         "nonsense\n",    // not a number
		"ipv4/tcp_congestion_control": "cubic\n",       // a word
		"ipv4/tcp_adv_win_scale":      "-2\n",          // may be negative
		"ipv4/tcp_moderate_rcvbuf":    "1 1\n",         // one too many
		"ipv4/tcp_no_metrics_save":    "1\n",           //
		"core/wmem_max":               "9999999999999", // wider than 32 bits
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := TCPSettings{
		RmemBytes: &[3]int{4096, 131072, 6291456}, RmemMaxBytes: new(4194304), WmemMaxBytes: new(9999999999999),
		WindowScaling: new(0), CongestionControl: new("cubic"), NoMetricsSave: new(1), AdvWinScale: new(-2),
	}
	if diff := cmp.Diff(want, readTCPSettings(root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if live := ReadTCPSettings(); live.RmemBytes == nil || live.CongestionControl == nil {
		t.Errorf("live settings lack tcp_rmem or the congestion control: %+v", live)
	}
}
