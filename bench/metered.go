package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// meteredFlag makes this program run another and print, as one more line after what that printed, the processor time
// that it took. Process ids inside a lab are not ours, so its use has to be read from inside; and a parent reads it
// exactly, start to end, the same way for every tool:
//
//	bench -metered iperf3 -s -1
const meteredFlag = "-metered"

// usage is what one process took from its start to its end.
type usage struct {
	User     float64 `json:"user_seconds"`
	System   float64 `json:"system_seconds"`
	Resident []int64 `json:"resident_bytes"` // once a second while it ran
}

func (u usage) total() float64 { return u.User + u.System }

// runMetered returns the other program's exit status. A signal to the group is for that program; this one waits on.
func runMetered(argv []string) int {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ended := make(chan struct{})
	resident := make(chan []int64)
	go func() { resident <- watchMemory(c.Process.Pid, ended) }()
	_ = c.Wait() // its state says how it ended
	close(ended)
	u := usage{User: c.ProcessState.UserTime().Seconds(), System: c.ProcessState.SystemTime().Seconds(), Resident: <-resident}
	line, err := json.Marshal(u)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("\n%s\n", line)
	return max(c.ProcessState.ExitCode(), 0) // -1: ended by a signal, which is how servers are ended
}

// watchMemory reads a process's resident memory once a second, until told that it ended.
func watchMemory(pid int, ended <-chan struct{}) (resident []int64) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return resident
		case <-tick.C:
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			continue // it has just ended
		}
		var size, pages int64
		if _, err := fmt.Sscan(string(text), &size, &pages); err == nil { // proc(5): in pages
			resident = append(resident, pages*int64(os.Getpagesize()))
		}
	}
}

// splitUsage takes the line that runMetered added off what a program printed.
func splitUsage(printed string) (string, usage, error) {
	rest, line, found := cutLast(strings.TrimSuffix(printed, "\n"), "\n")
	if !found {
		return "", usage{}, errors.New("read processor time: no line of it")
	}
	var u usage
	if err := json.Unmarshal([]byte(line), &u); err != nil {
		return "", usage{}, fmt.Errorf("read processor time: %w", err)
	}
	return rest, u, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
