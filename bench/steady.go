package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// steady is one TCP stream by pathwise throughput through a lab, from host client to host server, after its start.
type steady struct {
	goodput  float64 // bit/s of payload, by the receiver's kernel
	window   float64 // bytes: what the receiver offered, at the median
	flow     record.FlowTruth
	emulator lab.EmulatorTruth
}

// keptUp says how the emulator did.
func (s *steady) keptUp() string {
	if s.emulator.Bottleneck {
		return "was the bottleneck: " + s.emulator.Why
	}
	return "kept up"
}

// runSteady stands a lab up for one stream and looks at so many seconds of it, after some of start.
func (b *bench) runSteady(ctx context.Context, spec *lab.Spec, cc string, skip, seconds int) (steady, error) {
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return steady{}, err
	}
	defer l.Close()
	server, err := start(ctx, l, "server", "answering on", b.pathwise, "respond")
	if err != nil {
		return steady{}, err
	}
	printed, clientErr := output(ctx, l, "client", b.pathwise, "--json", "throughput", "server", "--cc", cc, "-t", strconv.Itoa(skip+seconds))
	_ = server.process.Signal(syscall.SIGINT)
	_, serverErr := server.wait()
	if err := errors.Join(clientErr, serverErr); err != nil {
		return steady{}, err
	}
	s, err := readSteady(printed, cc, float64(skip), float64(skip+seconds))
	if err != nil {
		return steady{}, err
	}
	whole, err := l.Truth()
	if err != nil {
		return steady{}, err
	}
	s.emulator = whole.Emulator
	begun := largestFlow(whole).FirstSentSeconds
	window := lab.Window{From: max(begun+float64(skip), whole.RecordsFrom), To: begun + float64(skip+seconds)}
	truth, err := l.TruthOf(window)
	if err != nil {
		return steady{}, err
	}
	s.flow = largestFlow(truth)
	return s, nil
}

// readSteady reads from a Result what the kernels of both ends say about a stretch of time.
func readSteady(printed, cc string, from, to float64) (steady, error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return steady{}, fmt.Errorf("read what pathwise printed: %w", err)
	}
	end := r.Samples.Find(measure.Forward, measure.Sender)
	if end == nil || end.CongestionControl != cc {
		return steady{}, fmt.Errorf("the sender did not use %s", cc)
	}
	var first, last *measure.TCPSample
	var windows []float64
	for i := range r.Samples.TCPInfo {
		s := &r.Samples.TCPInfo[i]
		if s.ElapsedSeconds < from || s.ElapsedSeconds > to {
			continue
		}
		if window, ok := s.Get("snd_wnd_bytes"); ok && s.End == measure.Sender {
			windows = append(windows, window)
		}
		if s.End != measure.Receiver {
			continue
		}
		if first == nil {
			first = s
		}
		last = s
	}
	if first == last || len(windows) == 0 {
		return steady{}, errors.New("the receiver sent no TCP_INFO")
	}
	slices.Sort(windows)
	return steady{
		goodput: 8 * (last.Values["bytes_received"] - first.Values["bytes_received"]) / (last.ElapsedSeconds - first.ElapsedSeconds),
		window:  windows[len(windows)/2],
	}, nil
}

// ethernetTCP is what surrounds TCP's payload on a link with Ethernet's overhead: 1448 of 1538 bytes are payload.
var ethernetTCP = model.Overhead{MTU: 1500, Framing: model.EthernetFraming,
	Headers: model.IPv4Header + model.TCPHeader + model.TCPTimestamps}
