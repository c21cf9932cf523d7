package sock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Owner is a process that has a socket open, by the number of its descriptor.
type Owner struct {
	PID        int
	Descriptor int
	inode      uint64
}

// Owners finds the processes that have sockets open, by the socket's inode: those that this process may look into, which are one's own, and
// for root all. Of several that share a socket it is the one that began first.
func Owners() map[uint64]Owner { return owners("/proc") }

func owners(proc string) map[uint64]Owner {
	all := map[uint64]Owner{}
	links, _ := filepath.Glob(proc + "/[0-9]*/fd/[0-9]*") // the pattern is right, which is all that it complains of
	for _, link := range links {
		text, err := os.Readlink(link)
		inode, is := strings.CutPrefix(text, "socket:[")
		n, bad := strconv.ParseUint(strings.TrimSuffix(inode, "]"), 10, 64)
		if err != nil || !is || bad != nil {
			continue
		}
		parts := strings.Split(strings.TrimPrefix(link, proc+"/"), "/")
		pid, _ := strconv.Atoi(parts[0])
		fd, _ := strconv.Atoi(parts[2])
		if known, there := all[n]; !there || pid < known.PID {
			all[n] = Owner{PID: pid, Descriptor: fd, inode: n}
		}
	}
	return all
}

// Bits of SO_BUF_LOCK: which buffers the program set by itself.
const (
	lockedSend    = 1
	lockedReceive = 2
)

// BuffersFixed says which of its buffers the program set by itself, so that the kernel does not tune them (SO_BUF_LOCK, Linux 5.14). It asks
// by a copy of the program's descriptor (pidfd_getfd(2)), which is closed at once: who may not trace the program may not ask.
func (o Owner) BuffersFixed() (send, receive bool, err error) {
	process, err := unix.PidfdOpen(o.PID, 0)
	if err != nil {
		return false, false, fmt.Errorf("open process %d: %w", o.PID, err)
	}
	defer unix.Close(process)
	fd, err := unix.PidfdGetfd(process, o.Descriptor, 0)
	if err != nil {
		return false, false, fmt.Errorf("copy descriptor %d of process %d: %w", o.Descriptor, o.PID, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Ino != o.inode {
		return false, false, fmt.Errorf("descriptor %d of process %d is another socket by now", o.Descriptor, o.PID)
	}
	locked, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK)
	if err != nil {
		return false, false, fmt.Errorf("read SO_BUF_LOCK: %w", err)
	}
	return locked&lockedSend != 0, locked&lockedReceive != 0, nil
}
