package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/stat"
)

const (
	scaleHosts, scaleRouters = 60, 30
	scaleRuns                = 5
	scaleIdle                = 10 * time.Second
)

// scale prints what a large lab costs that carries nothing.
func (b *bench) scale(ctx context.Context) error {
	spec := scaleSpec(scaleHosts, scaleRouters, 1)
	var up, down []float64
	var idle footprint
	for run := range scaleRuns {
		began := time.Now()
		l, err := lab.Start(ctx, spec, lab.Options{})
		if err != nil {
			return err
		}
		up = append(up, time.Since(began).Seconds())
		if run == 0 {
			idle, err = watchIdle(ctx, l.Status.PID, scaleIdle)
		}
		began = time.Now()
		if err := errors.Join(err, l.Close()); err != nil {
			return err
		}
		down = append(down, time.Since(began).Seconds())
	}
	fmt.Fprintf(b.out, "scale: %d hosts and %d routers in a random tree, %d runs\n", scaleHosts, scaleRouters, scaleRuns)
	for _, row := range []struct {
		what    string
		seconds []float64
	}{{"up", up}, {"down", down}} {
		s := stat.Summarize(row.seconds)
		fmt.Fprintf(b.out, "%-5s %6.2f s at the median (%.2f to %.2f)\n", row.what, s.Median, s.Min, s.Max)
	}
	fmt.Fprintf(b.out, "engine's memory: %.1f MB resident, %.1f MB its own share\n", idle.resident/1e6, idle.proportional/1e6)
	fmt.Fprintf(b.out, "engine's processor time over %v idle: %.2f %% of one\n", scaleIdle, 100*idle.processor)
	return nil
}

// scaleSpec is a tree that the seed chose: each router hangs on one before it, each host on any.
func scaleSpec(hosts, routers int, seed uint64) *lab.Spec {
	random := rand.New(rand.NewPCG(seed, 0))
	rate, delay := lab.Rate(1e9), lab.Delay(time.Millisecond)
	s := &lab.Spec{Seed: seed, Hosts: map[string]lab.Host{}}
	join := func(a, b string) {
		s.Links = append(s.Links, lab.Link{Between: []string{a, b}, Shape: lab.Shape{Rate: &rate, Delay: &delay}})
	}
	for i := range routers {
		s.Routers = append(s.Routers, lab.Router{Name: fmt.Sprintf("r%d", i)})
		if i > 0 {
			join(s.Routers[random.IntN(i)].Name, s.Routers[i].Name)
		}
	}
	for i := range hosts {
		name := fmt.Sprintf("h%d", i)
		s.Hosts[name] = lab.Host{}
		join(name, s.Routers[random.IntN(routers)].Name)
	}
	return s
}

// footprint is what a process takes.
type footprint struct {
	resident, proportional float64 // bytes; proportional counts what others share in parts
	processor              float64 // share of one, over a while
}

func watchIdle(ctx context.Context, pid int, wait time.Duration) (f footprint, err error) {
	before, err := processorTime(pid)
	if err != nil {
		return f, err
	}
	began := time.Now()
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	after, err := processorTime(pid)
	if err != nil {
		return f, err
	}
	f.processor = (after - before).Seconds() / time.Since(began).Seconds()
	if f.resident, err = readKilobytes(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"); err != nil {
		return f, err
	}
	f.proportional, err = readKilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
	return f, err
}

// tick is the unit of /proc/PID/stat: USER_HZ, 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// processorTime returns user and system time of a process, as fields 14 and 15 of its stat line have it (proc(5)).
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	return parseProcessorTime(string(text))
}

func parseProcessorTime(line string) (time.Duration, error) {
	_, rest, _ := cutLast(line, ")") // the name may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("read processor time: too few fields")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}

// readKilobytes reads a line such as "Pss:  1234 kB" from a file in /proc, and returns bytes.
func readKilobytes(path, name string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	return parseKilobytes(string(text), name)
}

func parseKilobytes(text, name string) (float64, error) {
	m := regexp.MustCompile(`(?m)^` + name + `:\s+(\d+) kB$`).FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("read memory: no %s", name)
	}
	kB, err := strconv.ParseFloat(m[1], 64)
	return kB * 1024, err // the kernel's kB are 1024 bytes
}
