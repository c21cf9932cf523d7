package lab

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// hugeMemory returns so many bytes, which must be a multiple of a huge page, on huge pages if the kernel has some: packets
// that wait for their time are tens of megabytes, and with ordinary pages nearly each touch of one would miss the
// processor's table of pages. It is nil where there is no memory to be had this way.
func hugeMemory(bytes int) []byte {
	// One page more than asked for has room for as many aligned ones. What is not touched takes no memory.
	all, err := unix.Mmap(-1, 0, bytes+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	skip := -uintptr(unsafe.Pointer(&all[0])) % hugePage
	aligned := all[skip : skip+uintptr(bytes)]
	_ = unix.Madvise(aligned, unix.MADV_HUGEPAGE) // best effort: older kernels, or those told never to
	return aligned
}
