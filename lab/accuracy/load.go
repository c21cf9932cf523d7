package accuracy

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// Load is how busy this machine was while a sample was played, the sample's own lab included.
type Load struct {
	Busy   float64 `json:"busy_ratio"`   // of the processors' time
	Waited float64 `json:"waited_ratio"` // of the time in which some program waited for a processor; 0 where the kernel does not say
}

// loadClock is the kernel's account of its processors at one time.
type loadClock struct {
	at         time.Time
	processors lab.ProcessorTime
	waited     float64 // s
}

func readLoad() loadClock {
	now := loadClock{at: time.Now(), processors: lab.ReadProcessorTime()}
	pressure, _ := os.ReadFile("/proc/pressure/cpu") // a kernel without it says nothing of waiting
	some, _, _ := strings.Cut(string(pressure), "\n")
	if _, total, ok := strings.Cut(some, "total="); ok {
		micros, _ := strconv.ParseFloat(strings.TrimSpace(total), 64)
		now.waited = micros / 1e6
	}
	return now
}

// since is the load between two times.
func (c loadClock) since(from loadClock) Load {
	l := Load{Busy: c.processors.BusySince(from.processors)}
	if seconds := c.at.Sub(from.at).Seconds(); seconds > 0 {
		l.Waited = (c.waited - from.waited) / seconds
	}
	return l
}
