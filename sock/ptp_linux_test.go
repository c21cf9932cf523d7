package sock

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// dataSetOf is an answer to a question, of a clock so many steps from the grandmaster. Times are in ns.
func dataSetOf(question []byte, steps uint16, offset, delay int64) []byte {
	b := append([]byte(nil), question...)
	b[ptpActionAt] = ptpResponse
	b = binary.BigEndian.AppendUint16(b, steps)
	b = binary.BigEndian.AppendUint64(b, uint64(offset*ptpNanosecond))
	return binary.BigEndian.AppendUint64(b, uint64(delay*ptpNanosecond))
}

func TestParseCurrentDataSet(t *testing.T) {
	question := ptpQuestion(7)
	for name, c := range map[string]struct {
		answer []byte
		want   ClockState
		err    error
	}{
		"behind its master": {dataSetOf(question, 1, -3000, 20_000),
			ClockState{Synchronized: true, Source: "ptp", Estimated: 3 * time.Microsecond, Bound: 33 * time.Microsecond}, nil},
		"a grandmaster": {dataSetOf(question, 0, 0, 0), ClockState{}, errNoMaster},
		"to another":    {dataSetOf(ptpQuestion(8), 1, 0, 0), ClockState{}, errNoDataSet},
		"cut off":       {dataSetOf(question, 1, 0, 0)[:ptpLength-1], ClockState{}, errNoDataSet},
		"a question":    {append(question, make([]byte, 18)...), ClockState{}, errNoDataSet},
	} {
		got, err := parseCurrentDataSet(c.answer, 7)
		if diff := cmp.Diff(c.want, got); diff != "" || err != c.err {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func FuzzParseCurrentDataSet(f *testing.F) {
	f.Add(dataSetOf(ptpQuestion(7), 1, -3000, 20_000))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if c, err := parseCurrentDataSet(answer, 7); err == nil && c.Bound < c.Estimated {
			t.Errorf("%+v", c)
		}
	})
}

// Two of Debian's ptp4l keep time over a pair of interfaces; neither sets the clock. Both read one clock, so that what the follower tells is the
// error of its stamps, within the bound that it is told with.
func TestAskPTP(t *testing.T) {
	program, err := exec.LookPath("ptp4l")
	if err != nil {
		program = "/usr/sbin/ptp4l"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("no ptp4l here")
	}
	folder := t.TempDir()
	inNamespace(t, func() {
		if err := pairOfInterfaces("ptp0", "ptp1"); err != nil {
			t.Error(err)
			return
		}
		for i, name := range []string{"ptp0", "ptp1"} {
			configuration := filepath.Join(folder, name+".cfg")
			text := fmt.Sprintf("[global]\ntime_stamping software\nnetwork_transport L2\nfree_running 1\nslaveOnly %d\npriority1 %d\nuds_address %s\n"+
				"logAnnounceInterval -3\nlogSyncInterval -4\nlogMinDelayReqInterval -4\nannounceReceiptTimeout 2\nsummary_interval 4\n[%s]\n",
				i, 100+i, filepath.Join(folder, name), name)
			if err := os.WriteFile(configuration, []byte(text), 0o600); err != nil {
				t.Error(err)
				return
			}
			daemon := exec.Command(program, "-f", configuration)
			daemon.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL} // of this thread, which ends with the test
			if err := daemon.Start(); err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
		}
		var got ClockState
		var err error
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			if got, err = askPTP(filepath.Join(folder, "ptp1")); err == nil && got.Bound > ptpCarried {
				break
			}
			unix.Poll(nil, 20) // ms until it is asked again
		}
		if err != nil || !got.Synchronized || got.Source != "ptp" || got.Bound < got.Estimated || got.Bound > 100*time.Millisecond {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := askPTP(filepath.Join(folder, "ptp0")); err != errNoMaster {
			t.Errorf("the grandmaster: %v, want %v", err, errNoMaster)
		}
	})
	if _, err := askPTP(filepath.Join(folder, "nobody")); err == nil {
		t.Error("nobody answered")
	}
}

// pairOfInterfaces makes two interfaces that are connected to each other, and up.
func pairOfInterfaces(a, b string) error {
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: a}, PeerName: b}); err != nil {
		return fmt.Errorf("add pair of interfaces: %w", err)
	}
	for _, name := range []string{a, b} {
		link, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(link)
		}
		if err != nil {
			return fmt.Errorf("set interface %s up: %w", name, err)
		}
	}
	return nil
}
