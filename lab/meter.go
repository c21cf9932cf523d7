package lab

import (
	"encoding/binary"
	"fmt"
	"os"
)

// Commands that run in a lab can see whether the emulator keeps up: the engine is process 1 there, and keeps a small file
// in memory open that they may read. MeterVariable names it in their environment.
//
//	 0          8          16        24           32        40
//	+----------+----------+---------+------------+---------+
//	| pathwise | packets  | late    | overflowed | refused |    numbers of 8 bytes, little-endian
//	+----------+----------+---------+------------+---------+
const MeterVariable = "PATHWISE_LAB_METER"

const (
	meterMagic = "pathwise"
	meterSize  = 40
)

// Meter is how the emulator did since its lab came up.
type Meter struct {
	Packets    uint64 // handed over to hosts
	Late       uint64 // of them: more than LateBound after they were due
	Overflowed uint64 // that the kernel dropped because the emulator did not read them in time
	Refused    uint64 // that the kernel did not take at a host's interface
}

// ReadMeter returns what the emulator of the lab that this process runs in did so far; ok is false outside of labs.
func ReadMeter() (m Meter, ok bool) {
	path := os.Getenv(MeterVariable)
	if path == "" {
		return m, false
	}
	b, err := os.ReadFile(path)
	if err != nil || len(b) < meterSize || string(b[:8]) != meterMagic {
		return m, false
	}
	b = b[8:]
	return Meter{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]),
		binary.LittleEndian.Uint64(b[24:])}, true
}

// bytes is what a Meter looks like in the file.
func (m Meter) bytes() []byte {
	var b [meterSize]byte
	copy(b[:], meterMagic)
	for i, v := range []uint64{m.Packets, m.Late, m.Overflowed, m.Refused} {
		binary.LittleEndian.PutUint64(b[8+8*i:], v)
	}
	return b[:]
}

// Since judges the emulator between an earlier reading and this one: "" if it kept up, and otherwise how it did not.
func (m Meter) Since(earlier Meter) string {
	e := judge(m.Overflowed-earlier.Overflowed, m.Refused-earlier.Refused, m.Packets-earlier.Packets, m.Late-earlier.Late, 0)
	if !e.Bottleneck {
		return ""
	}
	return fmt.Sprintf("the emulator was the bottleneck: %s", e.Why)
}
