package sock

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Program is a process whose doings are read again and again.
type Program struct {
	Name   string
	path   string // in /proc
	at     time.Time
	last   activity
	values map[string]float64
}

// Program begins to read what the process does.
func (o Owner) Program() (*Program, error) {
	return program(fmt.Sprintf("/proc/%d", o.PID), time.Now())
}

func program(path string, now time.Time) (*Program, error) {
	name, err := os.ReadFile(path + "/comm")
	if err != nil {
		return nil, fmt.Errorf("read what a process does: %w", err)
	}
	return &Program{Name: strings.TrimSpace(string(name)), path: path, at: now, last: readActivity(path), values: map[string]float64{}}, nil
}

// Read returns what the process did, and waited for, since Program was called, as sums by the names that measure.Reading has; nil once it has
// ended. What the kernel does not show is left out.
func (p *Program) Read() map[string]float64 { return p.read(time.Now()) }

func (p *Program) read(now time.Time) map[string]float64 {
	next := readActivity(p.path)
	if len(next.threads) == 0 {
		return nil
	}
	var cpu, busiest, disk time.Duration
	blocked, passed := time.Duration(0), now.Sub(p.at)
	for id, t := range next.threads {
		before := p.last.threads[id] // of a thread that is new all is new
		cpu += t.cpu - before.cpu
		busiest = max(busiest, t.cpu-before.cpu+t.queued-before.queued)
		disk = max(disk, t.disk-before.disk)
		if t.state == uninterruptible {
			blocked = passed
		}
	}
	p.values["cpu_seconds"] += cpu.Seconds()
	p.values["busiest_seconds"] += min(busiest, passed).Seconds() // a tick may end in the next interval
	p.values["disk_seconds"] += disk.Seconds()
	p.values["blocked_seconds"] += blocked.Seconds()
	for name, both := range map[string][2]*uint64{"disk_read_bytes": {p.last.read, next.read}, "disk_written_bytes": {p.last.written, next.written}} {
		if both[0] != nil && both[1] != nil {
			p.values[name] += float64(*both[1] - *both[0])
		}
	}
	p.at, p.last = now, next
	return maps.Clone(p.values)
}

// activity is what a process did, and waited for, up to a moment.
type activity struct {
	threads map[int]thread // by the number of each; those that ended are not in it
	// read and written are bytes that it caused disks to move; nil: this process may not see it.
	read, written *uint64
}

// thread is what one thread did, and waited for, up to a moment.
type thread struct {
	cpu    time.Duration // on a processor
	queued time.Duration // ready, and waiting for a processor
	disk   time.Duration // waiting for disks; 0 where the kernel does not count it (kernel.task_delayacct)
	state  byte          // such as uninterruptible
}

// uninterruptible is the state of a thread in a wait that no signal ends, which is as a rule one for a disk (proc_pid_stat(5)).
const uninterruptible = 'D'

func readActivity(process string) activity {
	a := activity{threads: map[int]thread{}}
	threads, _ := filepath.Glob(process + "/task/[0-9]*") // the pattern is right, which is all that it complains of
	for _, path := range threads {
		stat, err := os.ReadFile(path + "/stat")
		id, bad := strconv.Atoi(filepath.Base(path))
		if err != nil || bad != nil { // the thread ended
			continue
		}
		schedule, _ := os.ReadFile(path + "/schedstat") // a kernel without it leaves what stat says
		if t, ok := parseThread(string(stat), string(schedule)); ok {
			a.threads[id] = t
		}
	}
	if text, err := os.ReadFile(process + "/io"); err == nil {
		a.read, a.written = labelled(string(text), "read_bytes: "), labelled(string(text), "write_bytes: ")
	}
	return a
}

// tick is the unit of times in /proc/PID/stat: the kernel shows 100 a second on all machines that Pathwise runs on (USER_HZ).
const tick = 10 * time.Millisecond

// parseThread reads /proc/PID/task/TID/stat (proc_pid_stat(5)) and schedstat: nanoseconds on a processor, and ready for one.
func parseThread(stat, schedule string) (t thread, ok bool) {
	const (
		state, user, system, disk = 0, 11, 12, 39 // fields after the name: state is the third of all, user time the 14th, waits for disks the 42nd
	)
	end := strings.LastIndexByte(stat, ')') // a name may hold anything
	if end < 0 {
		return t, false
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) <= disk {
		return t, false
	}
	ticks := func(field int) time.Duration {
		n, _ := strconv.ParseInt(fields[field], 10, 64)
		return time.Duration(n) * tick
	}
	t = thread{cpu: ticks(user) + ticks(system), disk: ticks(disk), state: fields[state][0]}
	if exact := strings.Fields(schedule); len(exact) == 3 {
		on, err := strconv.ParseInt(exact[0], 10, 64)
		queued, bad := strconv.ParseInt(exact[1], 10, 64)
		if err == nil && bad == nil {
			t.cpu, t.queued = time.Duration(on), time.Duration(queued)
		}
	}
	return t, true
}

// labelled finds a number behind a label, nil where there is none.
func labelled(text, label string) *uint64 {
	_, rest, _ := strings.Cut("\n"+text, "\n"+label)
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
