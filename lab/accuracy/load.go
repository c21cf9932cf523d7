package accuracy

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// Load is how busy this machine was while a sample was played, the sample's own lab included.
type Load struct {
	Busy   float64 `json:"busy_ratio"`   // of the processors' time
	Waited float64 `json:"waited_ratio"` // of the time in which some program waited for a processor; 0 where the kernel does not say
}

// loadClock is the kernel's account of its processors at one time.
type loadClock struct {
	at                  time.Time
	busy, total, waited float64 // jiffies, jiffies, seconds
}

func readLoad() loadClock {
	now := loadClock{at: time.Now()}
	stat, _ := os.ReadFile("/proc/stat") // what cannot be read counts as idle
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	for i, field := range strings.Fields(string(line)) {
		v, err := strconv.ParseFloat(field, 64)
		const idle, ioWait = 4, 5
		if err != nil {
			continue // "cpu"
		}
		now.total += v
		if i != idle && i != ioWait {
			now.busy += v
		}
	}
	pressure, _ := os.ReadFile("/proc/pressure/cpu")
	some, _, _ := strings.Cut(string(pressure), "\n")
	if _, total, ok := strings.Cut(some, "total="); ok {
		micros, _ := strconv.ParseFloat(strings.TrimSpace(total), 64)
		now.waited = micros / 1e6
	}
	return now
}

// since is the load between two times.
func (c loadClock) since(from loadClock) Load {
	l := Load{}
	if all := c.total - from.total; all > 0 {
		l.Busy = (c.busy - from.busy) / all
	}
	if seconds := c.at.Sub(from.at).Seconds(); seconds > 0 {
		l.Waited = (c.waited - from.waited) / seconds
	}
	return l
}
