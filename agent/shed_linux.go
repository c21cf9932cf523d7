package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// shedProgram takes the program's own file out of this process's memory. Its start touches most of a program that holds much
// more than an agent, and what an agent needs comes back page by page, from the kernel's cache as a rule. Where it cannot be
// done, the process is as large as it was.
func shedProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range cleanMaps(maps, program) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED)
	}
}

// mapping is a stretch of addresses.
type mapping struct{ from, to uintptr }

// cleanMaps finds where a file is mapped to be read or run, in a text as of proc_pid_smaps(5). A stretch that has pages which
// are not the file's any more is left out, however it is protected now: a loader may have written to it before.
func cleanMaps(smaps io.Reader, file string) (clean []mapping) {
	var m mapping
	found := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"): // 00400000-01659000 r-xp 00000000 fe:00 1234 /usr/bin/pathwise
			_, err := fmt.Sscanf(fields[0], "%x-%x", &m.from, &m.to)
			path := strings.Join(fields[5:], " ")
			found = err == nil && path == file && (fields[1] == "r-xp" || fields[1] == "r--p")
		case found && len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0":
			clean = append(clean, m)
		}
	}
	return clean
}
