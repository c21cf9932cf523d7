package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ProcessorTime is what all processors of this machine together were since it started, in hundredths of a second, as
// /proc/stat has it (proc(5)). The zero value is that it cannot be had.
type ProcessorTime struct {
	All    float64
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

// stolenField is the eighth number of the first line, after user, nice, system, idle, iowait, irq and softirq. What comes
// after it is counted in user already.
const stolenField = 8

func parseProcessorTime(text string) (t ProcessorTime) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	for i := 1; i < len(fields) && i <= stolenField; i++ {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return ProcessorTime{}
		}
		t.All += n
		if i == stolenField {
			t.Stolen = n
		}
	}
	return t
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
