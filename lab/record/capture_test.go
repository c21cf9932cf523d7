package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/pathwise-net/pathwise/lab/packet"
)

var zero = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

// linkTypeEthernet is LINKTYPE_ETHERNET, of the tcpdump group's list of link types.
const linkTypeEthernet = 1

type readBack struct {
	Iface   int
	At      time.Time
	Data    []byte
	Out     bool
	Comment string
}

// capture makes a capture of four packets, at the interfaces in turn.
func capture(t *testing.T, w io.Writer, interfaces ...Interface) []readBack {
	c, err := NewCapture(w, zero, interfaces)
	if err != nil {
		t.Fatal(err)
	}
	var pool packet.Pool
	var want []readBack
	for i, s := range []struct {
		seen    Seen
		comment string
	}{
		{Seen{Number: 12}, "packet 12"},
		{Seen{Number: 13, Out: true}, "packet 13"},
		{Seen{Out: true}, ""},
		{Seen{}, ""},
	} {
		p := udp(&pool, i, 100+i) // lengths of every remainder by 4
		c.Packet(i%len(interfaces), int64(i), p.Data, s.seen)
		frame := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0}
		if s.seen.Out {
			frame[5], frame[11] = 2, 1
		}
		frame = append(frame, p.Data...)
		want = append(want, readBack{i % len(interfaces), zero.Add(time.Duration(i)), frame, s.seen.Out, s.comment})
		clear(p.Data) // the caller's again
	}
	if err := c.Close(int64(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if c.Packet(0, 0, []byte{1}, Seen{}); c.Close(0) != nil || c.Missed() != 1 {
		t.Errorf("after the end: %d missed", c.Missed())
	}
	return want
}

func TestCaptureReadsBack(t *testing.T) {
	var file bytes.Buffer
	want := capture(t, &file, Interface{Name: "a", Description: "a > r1"}, Interface{Name: "r1-0"})
	r, err := pcapgo.NewNgReader(&file, pcapgo.NgReaderOptions{WantMixedLinkType: true, ErrorOnMismatchingLinkType: false})
	if err != nil {
		t.Fatal(err)
	}
	var got []readBack
	for {
		data, info, options, err := r.ReadPacketDataWithOptions()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, readBack{
			info.InterfaceIndex, info.Timestamp.UTC(), data,
			options.Flags.Direction == pcapgo.NgEpbFlagDirectionOutbound, strings.Join(options.Comments, "|"),
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if app := r.SectionInfo().Application; app != "pathwise lab" {
		t.Errorf("application %q", app)
	}
	for i, name := range []string{"a", "r1-0"} {
		n, err := r.Interface(i)
		if err != nil || n.Name != name || n.LinkType != linkTypeEthernet || n.TimestampResolution != 9 {
			t.Errorf("interface %d: %+v (%v)", i, n, err)
		}
		if n.Statistics.PacketsReceived != 2 || n.Statistics.PacketsDropped != 0 {
			t.Errorf("interface %d: statistics %+v", i, n.Statistics)
		}
		if ended := n.Statistics.LastUpdate; !ended.Equal(zero.Add(time.Hour)) {
			t.Errorf("interface %d: statistics of %v, want those of the capture's end", i, ended)
		}
	}
}

// What other programs make of it, where they are installed.
func TestCaptureReadsBackElsewhere(t *testing.T) {
	tcpdump, err := exec.LookPath("tcpdump")
	if err != nil {
		t.Skip("tcpdump is not installed")
	}
	name := filepath.Join(t.TempDir(), "c.pcapng")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	capture(t, f, Interface{Name: "a"}, Interface{Name: "b"})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tcpdump, "-n", "-tt", "--nano", "-r", name).CombinedOutput()
	first := fmt.Sprintf("%d.123456789 IP 10.0.0.1.1000 > 10.0.2.2.7: UDP, length 72", zero.Unix())
	if err != nil || !strings.Contains(string(out), first) {
		t.Errorf("tcpdump says %s (%v), want %q", out, err, first)
	}
}

// A writer that does not keep up costs packets, which the file counts, and nobody's time.
func TestCaptureDoesNotWait(t *testing.T) {
	w := &gate{open: make(chan struct{})}
	c, err := newCapture(w, zero, []Interface{{Name: "a"}}, 10*1014)
	if err != nil {
		t.Fatal(err)
	}
	w.mayBlock = true
	for range 100 {
		c.Packet(0, 0, make([]byte, 1000), Seen{})
	}
	if missed := c.Missed(); missed < 80 || missed > 90 { // ten in one part of the buffer, at most ten in the other
		t.Errorf("%d of 100 missed", missed)
	}
	close(w.open)
	if err := c.Close(0); err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewNgReader(&w.Buffer, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	for _, _, err = r.ReadPacketData(); err == nil; _, _, err = r.ReadPacketData() {
		n++
	}
	i, err := r.Interface(0)
	if s := i.Statistics; err != nil || s.PacketsReceived != 100 || s.PacketsDropped != 100-n || s.PacketsDropped != c.Missed() {
		t.Errorf("%d packets in the file, statistics %+v (%v)", n, s, err)
	}
}

type gate struct {
	bytes.Buffer
	mayBlock bool // set before the first packet
	open     chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	if g.mayBlock {
		<-g.open
	}
	return g.Buffer.Write(b)
}

func TestCaptureTellsOfErrors(t *testing.T) {
	w := &broken{}
	c, err := NewCapture(w, zero, []Interface{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Failed():
		t.Error("failed before anything was wrong")
	default:
	}
	w.now = true
	c.Packet(0, 0, make([]byte, 1000), Seen{})
	<-c.Failed() // by itself
	if err := c.Close(0); err == nil || err.Error() != "write capture: disk full" {
		t.Errorf("error %v", err)
	}
	if _, err := NewCapture(w, zero, []Interface{{Name: "a"}}); err == nil {
		t.Error("no error from a header that cannot be written")
	}
	if _, err := NewCapture(w, zero, nil); err == nil {
		t.Error("no error without interfaces")
	}
}

type broken struct{ now bool }

func (b *broken) Write(p []byte) (int, error) {
	if b.now {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}
