package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options of a socket that read ip_tables (include/uapi/linux/netfilter_ipv4/ip_tables.h).
const (
	getInfo    = 64
	getEntries = 65

	tableName = 32 // bytes of a table's name
	infoSize  = tableName + 4 + 5*4 + 5*4 + 4 + 4
)

// ipHooks are where the table called filter looks at packets, by their number (NF_INET_).
var ipHooks = map[int]string{1: "input", 2: "forward", 3: "output"}

// readIPTables reads the older packet filter's table of IPv4 where it is in use: to ask for one that is not would make it.
func readIPTables() ([]Chain, []Rule, error) {
	names, err := os.ReadFile("/proc/net/ip_tables_names")
	if err != nil || !slices.Contains(strings.Fields(string(names)), "filter") {
		return nil, nil, nil // not there, or only root may see
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW)
	if err != nil {
		return nil, nil, fmt.Errorf("read ip_tables: %w", err)
	}
	defer unix.Close(fd)
	info := make([]byte, infoSize)
	copy(info, "filter")
	if err := getOption(fd, getInfo, info); err != nil {
		return nil, nil, fmt.Errorf("read ip_tables: %w", err)
	}
	at := func(from, i int) int { return int(binary.NativeEndian.Uint32(info[from+4*i:])) }
	const valid, begins, ends, size = tableName, tableName + 4, tableName + 24, tableName + 48
	const header = tableName + 8 // its size, and what puts entries on a multiple of eight
	length := at(size, 0)
	if length > mostFile {
		return nil, nil, errors.New("read ip_tables: the table is too large")
	}
	raw := make([]byte, header+length)
	copy(raw, "filter")
	binary.NativeEndian.PutUint32(raw[tableName:], uint32(length))
	if err := getOption(fd, getEntries, raw); err != nil {
		return nil, nil, fmt.Errorf("read ip_tables: %w", err)
	}
	entries, underflow := map[int]string{}, map[int]string{}
	for hook, name := range ipHooks {
		if at(valid, 0)&(1<<hook) != 0 {
			entries[at(begins, hook)], underflow[at(ends, hook)] = name, name
		}
	}
	return parseIPTables(raw[header:], entries, underflow)
}

// getOption reads an option of a socket into a buffer that says what is wanted.
func getOption(fd, option int, buffer []byte) error {
	length := uint32(len(buffer))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_IP, uintptr(option),
		uintptr(unsafe.Pointer(&buffer[0])), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
