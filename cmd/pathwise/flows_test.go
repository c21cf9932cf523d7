package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
)

// udpTo is an IPv4 packet of so many bytes to a UDP port, of which the headers alone were captured.
func udpTo(port byte, bytes int) (gopacket.CaptureInfo, []byte) {
	b := []byte{0x45, 0, byte(bytes >> 8), byte(bytes), 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 0, port, 0, byte(bytes - 20), 0, 0}
	return gopacket.CaptureInfo{CaptureLength: len(b), Length: bytes}, b
}

// recordedCall writes a capture of three packets, 10 ms apart, and one of another port, beside a script that replays it.
func recordedCall(t *testing.T) (script string) {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	if err := w.WriteFileHeader(96, layers.LinkTypeRaw); err != nil {
		t.Fatal(err)
	}
	for i, port := range []byte{7, 9, 7, 7} {
		info, data := udpTo(port, 128+i)
		info.Timestamp = time.Unix(1_700_000_000, int64(i)*10_000_000)
		if err := w.WritePacket(info, data); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	script = filepath.Join(folder, "call.flows")
	for name, content := range map[string][]byte{filepath.Join(folder, "call.pcap"): b.Bytes(), script: []byte("flow again replay file call.pcap port 7\n")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return script
}

// A script is a file, beside which its captures lie, or standard input, or the text itself; its plan is printed without a packet.
func TestFlowsPlan(t *testing.T) {
	const told = "flow a end 1s constant rate 10/s size 100"
	spaced := filepath.Join(t.TempDir(), "flow of calls")
	if err := os.WriteFile(spaced, []byte(told), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ argument, input, want string }{
		"a capture": {recordedCall(t), "", "31ms, 3 packets, 305 B, at most 3.59 kbit/s in a second with headers\nagain        0s to 31ms, 3 packets, 78.7 kbit/s\n"},
		"text":      {told, "", "1s, 10 packets, 1.00 kB, at most 11.8 kbit/s in a second with headers\na            0s to 1s, 10 packets, 8.00 kbit/s\n"},
		"both ways": {"flow a end 1s constant rate 10/s size 100; flow b reverse end 1s constant rate 10/s size 100", "",
			"1s, 20 packets, 2.00 kB, at most 11.8 kbit/s in a second with headers and 11.8 kbit/s in reverse\na            0s to 1s, 10 packets, 8.00 kbit/s\nb            0s to 1s, 10 packets, 8.00 kbit/s, in reverse\n"},
		"a name with a space": {spaced, "", "1s, 10 packets, 1.00 kB, at most 11.8 kbit/s in a second with headers\na            0s to 1s, 10 packets, 8.00 kbit/s\n"},
		"input":               {"-", told, "1s, 10 packets, 1.00 kB, at most 11.8 kbit/s in a second with headers\na            0s to 1s, 10 packets, 8.00 kbit/s\n"},
	} {
		var out, wrong bytes.Buffer
		status := run([]string{"flows", c.argument, "--plan"}, strings.NewReader(c.input), &out, &wrong)
		if diff := cmp.Diff(c.want, out.String()); status != exitDone || diff != "" {
			t.Errorf("%s: status %d, %s (-want +got):\n%s", name, status, wrong.String(), diff)
		}
	}
	for _, args := range [][]string{{"/dev/null/x"}, {told}, {"flow a"}, {"my calls"}, {"flow"}, {told + "; flow b reverse replay file x"}, {recordedCall(t), "--plan", "-R"}, {"flow a end 1s replay file /dev/null/x"}, {told, "--to", "127.0.0.1:5", "--port", "6"}} {
		refused(t, append([]string{"flows"}, args...)...)
	}
}

// A capture is sent again with its sizes, to a responder on another port.
func TestFlowsReplay(t *testing.T) {
	t.Parallel()
	l, err := flows.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&flows.Server{}).Serve(ctx, l) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	var out, wrong bytes.Buffer
	status := run([]string{"flows", recordedCall(t), "--to", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)), "--json"}, nil, &out, &wrong)
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || status != exitDone || len(r.Samples.Flows) != 1 || r.Samples.Flows[0].Arrived == nil {
		t.Fatalf("status %d, %v: %s%s", status, err, out.String(), wrong.String())
	}
	f := r.Samples.Flows[0]
	if f.Sent+f.Skipped != 3 || f.Arrived.Received != f.Sent || f.Skipped == 0 && f.SentBytes != 100+102+103 {
		t.Errorf("%+v, arrivals %+v", f, f.Arrived)
	}
}
