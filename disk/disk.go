// Package disk measures how fast files of a folder are written and read: large blocks one after another, and small ones at random places; through
// the kernel's cache, and past it (O_DIRECT). What is written counts once it is on the disk (fsync).
// It also reads and writes the files of transfers that way.
//
// What it does not do: judge a rate, name the device below a folder, or keep more than one request on the way at a time.
package disk

import (
	"errors"
	"time"
)

// ErrFull is of a file that got more than its limit.
var ErrFull = errors.New("the file has all that it may have")

// Blocks of the two kinds of access.
const (
	Large = 1 << 20 // what a transfer program reads or writes at a time
	Small = 4 << 10 // a page of memory, and the least that most file systems hand to a disk
)

// Rate is how fast one kind of access went.
type Rate struct {
	Write, Direct, Random bool    // else: read; through the cache; one block after another
	Block                 int     // bytes of each access
	Bytes                 int64   // that were moved
	Seconds               float64 // that it took; of writing, until all of it was on the disk
}

// BitsPerSecond is the rate of what was moved; 0 where it took no time that can be told.
func (r Rate) BitsPerSecond() float64 {
	const bits = 8
	if r.Seconds <= 0 {
		return 0
	}
	return bits * float64(r.Bytes) / r.Seconds
}

// PerSecond is how many blocks were moved a second, one after another.
func (r Rate) PerSecond() float64 {
	if r.Seconds <= 0 || r.Block <= 0 {
		return 0
	}
	return float64(r.Bytes) / float64(r.Block) / r.Seconds
}

// What says which kind of access a rate is of, such as "direct write" or "direct read at random".
func (r Rate) What() string {
	text := "read"
	if r.Write {
		text = "write"
	}
	if r.Direct {
		text = "direct " + text
	}
	if r.Random {
		text += " at random"
	}
	return text
}

// Limits bound what a trial writes and how long it takes. Zero fields are the defaults.
type Limits struct {
	Bytes int64         // of the file; 0: 512 MiB, more than the caches of most disks; never more than half of what is free
	Each  time.Duration // of each kind of access; 0: 3 s, and short for who waits
}

const (
	defaultBytes = 512 << 20
	defaultEach  = 3 * time.Second
)

func (l Limits) withDefaults(free int64) Limits {
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	l.Bytes = min(l.Bytes, free/2) / Large * Large // others need room, too
	if l.Each <= 0 {
		l.Each = defaultEach
	}
	return l
}

// plan are the kinds of access in their order: what is written first is read after. Small blocks go past the cache where the file system can do
// that, since what was just written would be read from memory.
func plan(direct bool) (all []Rate) {
	for _, past := range []bool{false, true} {
		if past && !direct {
			continue
		}
		all = append(all, Rate{Write: true, Direct: past, Block: Large}, Rate{Direct: past, Block: Large})
	}
	return append(all, Rate{Write: true, Direct: direct, Random: true, Block: Small}, Rate{Direct: direct, Random: true, Block: Small})
}
