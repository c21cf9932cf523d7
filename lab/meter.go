package lab

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
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

// ProcessorTime is what all processors of this machine together were since it started, in hundredths of a second, as
// /proc/stat has it (proc(5)). The zero value is that it cannot be had.
type ProcessorTime struct {
	All    float64
	Idle   float64 // of it, without work, or with none but to wait for a disk
	Stolen float64 // of it, what the hypervisor gave to other machines on the same hardware
}

// ReadProcessorTime reads it.
func ReadProcessorTime() ProcessorTime {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ProcessorTime{}
	}
	return parseProcessorTime(string(text))
}

// Numbers of the first line, after user, nice and system; irq and softirq are between. What comes after stolen is counted in user
// already.
const (
	idleField   = 4
	ioWaitField = 5
	stolenField = 8
)

func parseProcessorTime(text string) (t ProcessorTime) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	for i := 1; i < len(fields) && i <= stolenField; i++ {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return ProcessorTime{}
		}
		t.All += n
		switch i {
		case idleField, ioWaitField:
			t.Idle += n
		case stolenField:
			t.Stolen = n
		}
	}
	return t
}

// BusySince is what share of the time since then was not idle.
func (t ProcessorTime) BusySince(before ProcessorTime) float64 {
	if t.All <= before.All {
		return 0
	}
	return 1 - (t.Idle-before.Idle)/(t.All-before.All)
}

// StolenSince is what share of the time since then went to other machines.
func (t ProcessorTime) StolenSince(before ProcessorTime) float64 {
	if t.All <= before.All {
		return 0
	}
	return (t.Stolen - before.Stolen) / (t.All - before.All)
}

// worthTelling is the stolen share from which figures suffer.
const worthTelling = 0.01

// DescribeStolen says a stolen share in words; "" where it is too small to matter.
func DescribeStolen(share float64) string {
	if share < worthTelling {
		return ""
	}
	return fmt.Sprintf("the hypervisor gave %.1f %% of the processors' time to others", 100*share)
}
