package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/archive"
)

// disk is a file system in an image, seen by a lab's hosts alone: so nothing of it outlives the lab, and no other process
// keeps it mounted.
type disk struct {
	m     *meshLab
	image string
	at    string // the folder on the hosts
}

// diskSize is room for an archive and a log of some hours, and little to make and fill.
const diskSize = 64 << 20

// newDisk makes a disk and mounts it in a folder.
func (m *meshLab) newDisk(at string) *disk {
	m.t.Helper()
	d := &disk{m: m, image: at + ".image", at: at}
	if err := os.Mkdir(at, 0o700); err != nil {
		m.t.Fatal(err)
	}
	file, err := os.Create(d.image)
	if err == nil {
		err = file.Truncate(diskSize)
		file.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-m", "0", d.image).CombinedOutput(); err != nil {
		m.t.Fatalf("mkfs.ext4: %v\n%s", err, out)
	}
	d.mount()
	return d
}

func (d *disk) mount()   { d.m.t.Helper(); d.do("mount", "-o", "loop", d.image, d.at) }
func (d *disk) unmount() { d.m.t.Helper(); d.do("umount", d.at) }

// do runs a program on a host of the lab, all of which see the same files.
func (d *disk) do(argv ...string) {
	d.m.t.Helper()
	p := d.m.run("controller", argv...)
	if status, err := p.Wait(); err != nil || status != 0 {
		d.m.t.Fatalf("%s: exit status %d, %v", strings.Join(argv, " "), status, err)
	}
}

// path is where this process, which is not of the lab, finds a file of the disk.
func (d *disk) path(name string) string {
	return filepath.Join(fmt.Sprintf("/proc/%d/root", d.m.lab.Status.PID), d.at, name)
}

// cutPower leaves on the disk what is there when power fails: what was synced, and no more than that has to be. The disk
// takes nothing more until it is mounted again, which replays its journal.
func (d *disk) cutPower() {
	d.m.t.Helper()
	const (
		shutdown     = 0x8004587d // EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32)
		withoutFlush = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
	)
	folder, err := os.Open(d.path(""))
	if err != nil {
		d.m.t.Fatal(err)
	}
	defer folder.Close()
	if err := unix.IoctlSetPointerInt(int(folder.Fd()), shutdown, withoutFlush); err != nil {
		d.m.t.Fatalf("cut power of %s: %v", d.at, err)
	}
}

// back mounts the disk again, when all who used it are gone.
func (d *disk) back() {
	d.m.t.Helper()
	d.unmount()
	d.mount()
}

// fill leaves no byte free, until the file that it returns is removed.
func (d *disk) fill() (filler string) {
	d.m.t.Helper()
	filler = d.path("filler")
	file, err := os.Create(filler)
	if err != nil {
		d.m.t.Fatal(err)
	}
	defer file.Close()
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		if _, err := file.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	_ = file.Sync() // it says that there is no room
	return filler
}

// The controller's folder and the state of agent a have disks of their own, on which power fails at random moments under load,
// and then there is no room for a while. What an agent was told is filed is in the archive; what it began has a Result, if
// only one that says so; a full disk is told of, and costs nothing.
func TestMeshWithoutDisks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may mount a disk")
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skip("this kernel has no loop devices: ", err)
	}
	t.Parallel()
	m := newMeshLab(t, faultLab)
	ofController, ofAgent := m.newDisk(m.data), m.newDisk(m.path("state-a"))
	m.data = ofController.path("")
	m.deploy(faultMesh, "horizon: 10m")
	m.startServe()
	m.startAgents()
	m.filedAfter(time.Now())

	began := time.Now()
	for range faultRounds(2) {
		time.Sleep(m.span(0, 2*faultEvery))
		ofController.cutPower()
		m.kill(m.serve)
		ofController.back()
		m.startServe()

		time.Sleep(m.span(0, 2*faultEvery))
		ofAgent.cutPower()
		m.kill(m.agents["a"])
		ofAgent.back()
		m.startAgent("a")
	}
	m.filedAfter(time.Now())
	for range faultRounds(1) {
		m.fillAgent(ofAgent)
		m.fillController(ofController)
	}
	m.settled(began, time.Now(), asPlanned("a"))
}

// fillAgent leaves agent a no room for a while, in which the controller is away, too.
func (m *meshLab) fillAgent(d *disk) {
	m.t.Helper()
	filler := d.fill()
	m.eventually("the status says that a's disk is full", func() bool { return m.lacks("a", "no space left on device") })
	m.kill(m.serve)
	time.Sleep(m.span(faultEvery, 2*faultEvery))
	if err := os.Remove(filler); err != nil {
		m.t.Fatal(err)
	}
	m.startServe()
	m.eventually("the status says that a's disk has room", func() bool { return m.everyoneHere() && !m.lacks("a", "") })
}

// fillController leaves the controller no room for a while.
func (m *meshLab) fillController(d *disk) {
	m.t.Helper()
	filler := d.fill()
	said := func() int { // of misses, where the server of messages has no room for Results either
		return m.said("controller", "results cannot be filed; they come again") + m.said("controller", archive.ErrFull.Error())
	}
	before := said()
	m.eventually("the controller says that its disk is full", func() bool { return said() > before })
	time.Sleep(m.span(0, 2*faultEvery))
	if err := os.Remove(filler); err != nil {
		m.t.Fatal(err)
	}
	m.filedAfter(time.Now())
}

// lacks says whether a host reports that something is missing, for a reason that has these words in it.
func (m *meshLab) lacks(host, words string) bool {
	status := m.status()
	if status == nil {
		return false
	}
	for _, h := range status.Hosts {
		if h.Name != host || h.Status == nil {
			continue
		}
		for _, lack := range h.Status.Lacks {
			if lack.What == "disk" && strings.Contains(lack.Why, words) {
				return true
			}
		}
	}
	return false
}

// said counts how often the programs on a host have written these words to their logs.
func (m *meshLab) said(host, words string) (times int) {
	m.t.Helper()
	logs, err := filepath.Glob(m.path(host + "-*.log"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			m.t.Fatal(err)
		}
		times += strings.Count(string(text), words)
	}
	return times
}
