package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
)

const hostTestInterval = time.Second

// whileMeasured measures this host while work is done again and again, and returns how much work that was in a second.
func whileMeasured(t *testing.T, h *Host, work func() float64) (r *measure.Result, perSecond float64) {
	t.Helper()
	h.Target, h.Interval = "127.0.0.1", hostTestInterval
	done := make(chan error, 1)
	began := time.Now()
	go func() {
		var err error
		r, err = h.Do(t.Context())
		done <- err
	}()
	for all := 0.; ; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return r, all / time.Since(began).Seconds()
		default:
			all += work()
		}
	}
}

// atLeast allows for what was done before the first reading and after the last. What others do on this host adds to it.
func atLeast(t *testing.T, r *measure.Result, m measure.Metric, truth float64) {
	t.Helper()
	if got, found := r.Get(m); !found || truth <= 0 || got < 0.5*truth {
		t.Errorf("%s = %v, %v; the truth is %v", m, got, found, truth)
	}
}

func TestHostSeesALoadedCore(t *testing.T) {
	burner := exec.Command("sh", "-c", "while :; do :; done")
	if err := burner.Start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, _ := whileMeasured(t, &Host{}, func() float64 { time.Sleep(10 * time.Millisecond); return 1 })
	elapsed := time.Since(began)
	_ = burner.Process.Kill()
	_ = burner.Wait()
	share := burner.ProcessState.UserTime().Seconds() / elapsed.Seconds() // of a core
	atLeast(t, r, measure.HostCPU, share/float64(len(r.Samples.Host.CPUs)))
	if v := r.Metrics[measure.HostCPUMax]; v > 1 || v < r.Metrics[measure.HostCPU]-1e-9 {
		t.Errorf("the busiest core has %v, all have %v", v, r.Metrics[measure.HostCPU])
	}
}

func TestHostCountsLoopback(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := net.Dial("udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	datagram := make([]byte, 8000)
	r, rate := whileMeasured(t, &Host{Iface: "lo"}, func() float64 {
		n, _ := client.Write(datagram)
		return 8 * float64(n)
	})
	atLeast(t, r, measure.HostReceived, rate)
	atLeast(t, r, measure.HostSent, rate)
	if r.Parameters["iface"] != "lo" {
		t.Errorf("parameters %v", r.Parameters)
	}
}

func TestHostCountsDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	data := make([]byte, 4<<20)
	_, _ = rand.Read(data) // which no file system can compress
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil || s.Type == unix.TMPFS_MAGIC {
		t.Skipf("no disk under %s: %v", path, err)
	}
	read := 0.
	r, rate := whileMeasured(t, &Host{Path: filepath.Dir(path)}, func() float64 {
		n := writeThrough(t, path, data)
		read += n
		return n
	})
	if len(r.Samples.Host.Disks) == 0 {
		t.Skip("this host shows no disk")
	}
	atLeast(t, r, measure.HostDiskWrite, rate)
	atLeast(t, r, measure.HostDiskRead, rate) // all that was written was read again
	free := float64(s.Bavail) * float64(s.Bsize)
	if got := r.Metrics[measure.HostDiskFree]; got < free/2 || got > free*2 {
		t.Errorf("%v bytes free, want about %v", got, free)
	}
}

// writeThrough writes data to the disk, reads it back from there, and returns how much that was.
func writeThrough(t *testing.T, path string, data []byte) float64 {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	if _, seek := f.Seek(0, io.SeekStart); err == nil {
		err = seek
	}
	n, copied := io.Copy(io.Discard, f)
	if err = errors.Join(err, copied); err != nil {
		t.Fatal(err)
	}
	return float64(n)
}

// Every metric of a host is there, and is what it can be.
func TestHostLevels(t *testing.T) {
	r, err := (&Host{Target: "127.0.0.1", Interval: hostMinInterval}).Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []measure.Metric{measure.HostCPU, measure.HostCPUSteal, measure.HostLoad, measure.HostMemoryAvailable,
		measure.HostMemoryAvailableRatio, measure.HostSwapUsed, measure.HostTCPMemory, measure.HostTCPMemoryRatio, measure.HostTCPReceiveMax,
		measure.HostTCPSendMax, measure.HostTCPSockets, measure.HostTCPSent, measure.HostTCPRetransmits, measure.HostTCPListenDrops,
		measure.HostDiskFree, measure.HostDiskFreeRatio} {
		v, found := r.Get(m)
		if !found || v < 0 || m.Unit() == "" || m.Unit() == "ratio" && m != measure.HostLoad && v > 1 {
			t.Errorf("%s = %v, %v", m, v, found)
		}
	}
	if nameless, err := (&Host{Interval: hostMinInterval}).Do(t.Context()); err != nil || nameless.Target.Name != nameless.Source.Name {
		t.Errorf("without a name: %v, from %v to %v", err, nameless.Source, nameless.Target)
	}
	if r.Source.Address != "127.0.0.1" || r.Target.Address != "127.0.0.1" {
		t.Errorf("from %v to %v", r.Source, r.Target)
	}
}

func TestHostFails(t *testing.T) {
	if r, err := (&Host{Target: "t", Iface: "no-such-interface"}).Do(t.Context()); err == nil || !blamesCaller(err) || r.Status != measure.StatusFailed {
		t.Errorf("no such interface: %v, %+v", err, r)
	}
	if r, err := (&Host{Target: "t", Path: "/no/such/path", Interval: hostMinInterval}).Do(t.Context()); err == nil || r.Status != measure.StatusPartial {
		t.Errorf("no such path: %v, %+v", err, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := (&Host{Target: "t", Interval: time.Hour}).Do(ctx); !errors.Is(err, context.Canceled) || r.Status != measure.StatusPartial || r.DurationSeconds > 10 {
		t.Errorf("ctx ended: %v, %+v", err, r)
	}
}
