package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/quantity"
)

// calibrate makes TestCalibration go through every setting ("full": half an hour) instead of one for each cause.
const calibrate = "PATHWISE_CALIBRATE"

// setting is a path and what is wrong with it.
type setting struct {
	rate   string
	rtt    time.Duration
	seed   int
	fault  func(*lab.Spec) // nil: none in the path or the hosts
	args   []string        // of diagnose, such as a rate for the program
	source float64         // bit/s: feed diagnose's standard input at this rate
}

func (s setting) String() string { return fmt.Sprintf("%s %v seed %d", s.rate, s.rtt, s.seed) }

// spec is a path of three links with the setting's rate in the middle.
func (s setting) spec(t *testing.T) *lab.Spec {
	spec, err := lab.ParseSpec("calibration", fmt.Appendf(nil, `
seed: %d
hosts: {bob: {}, carol: {}}
routers: [denver, chicago]
links:
  - {between: [bob, denver], rate: 1gbit, delay: 1ms}
  - {between: [denver, chicago], rate: %s, delay: %v}
  - {between: [chicago, carol], rate: 1gbit, delay: 1ms}
`, s.seed, s.rate, s.rtt/2-2*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if s.fault != nil {
		s.fault(spec)
	}
	return spec
}

func withSysctl(host, key, value string) func(*lab.Spec) {
	return func(s *lab.Spec) { s.Hosts[host] = lab.Host{Sysctl: map[string]string{key: value}} }
}

func withLoss(ratio float64) func(*lab.Spec) {
	return func(s *lab.Spec) { s.Links[1].Forward = &lab.Shape{Loss: chance.Independent(ratio)} }
}

func rmemMax(bytes int) func(*lab.Spec) {
	return withSysctl("carol", "net.ipv4.tcp_rmem", fmt.Sprintf("4096 %d %d", min(131072, bytes), bytes))
}

func wmemMax(bytes int) func(*lab.Spec) {
	return withSysctl("bob", "net.ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %d", bytes))
}

func noScaling(host string) func(*lab.Spec) {
	return withSysctl(host, "net.ipv4.tcp_window_scaling", "0")
}

// withHole lets packets above a size vanish on the way there.
func withHole(bytes int) func(*lab.Spec) {
	return func(s *lab.Spec) {
		s.Links[1].Forward = &lab.Shape{MTU: &link.MTU{Size: notation.Size(bytes), Excess: link.Discard}}
	}
}

const ms = time.Millisecond

// oneWay has diagnose measure the way there only: what it reads here cannot be sent from there.
var oneWay = []string{"--input", "/dev/zero"}

// causes are settings in which each cause is the one that binds. The first of each is the one that every run of the
// tests goes through.
var calibrationCauses = map[string][]setting{
	"receive-window-limited": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: rmemMax(65536)}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: rmemMax(87380)},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: rmemMax(262144)}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: rmemMax(131072)},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: rmemMax(131072)}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: rmemMax(131072)},
	},
	"send-buffer-limited": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: wmemMax(65536)}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: wmemMax(131072)},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: wmemMax(262144)}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: wmemMax(131072)},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: wmemMax(131072)}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: wmemMax(131072)},
	},
	"no-window-scaling": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: noScaling("bob")}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: noScaling("carol")},
		{rate: "100mbit", rtt: 80 * ms, seed: 3, fault: noScaling("bob")}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: noScaling("carol")},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: noScaling("bob")}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: noScaling("carol")},
	},
	"random-loss": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: withLoss(0.01)}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: withLoss(0.01)},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: withLoss(0.003)}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: withLoss(0.005)},
		{rate: "20mbit", rtt: 100 * ms, seed: 5, fault: withLoss(0.005)}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: withLoss(0.01)},
	},
	"pmtu-blackhole": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: withHole(1300), args: oneWay}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: withHole(1400), args: oneWay},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: withHole(1476), args: oneWay}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: withHole(1280), args: oneWay},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: withHole(1492), args: oneWay}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: withHole(1100), args: oneWay},
	},
	"application-limited": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, source: 8e6}, {rate: "100mbit", rtt: 50 * ms, seed: 2, args: []string{"--rate", "10mbit"}},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, args: []string{"--rate", "40mbit"}}, {rate: "50mbit", rtt: 100 * ms, seed: 4, args: []string{"--rate", "5mbit"}},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, source: 4e6}, {rate: "200mbit", rtt: 20 * ms, seed: 6, args: []string{"--rate", "50mbit"}},
	},
}

// calibrationClean are the rates and round trips of the clean runs; each takes five seeds.
var calibrationClean = []setting{
	{rate: "50mbit", rtt: 40 * ms}, {rate: "100mbit", rtt: 50 * ms}, {rate: "10mbit", rtt: 20 * ms},
	{rate: "20mbit", rtt: 200 * ms}, {rate: "200mbit", rtt: 20 * ms},
}

// mostOff is how far a prediction may be from what is reached once the advice is followed.
const mostOff = 0.15

// TestCalibration creates each cause in the lab, where it is the one that binds, and expects its name; follows the
// advice, and expects the speed that was predicted; and expects a clean path to be called healthy.
func TestCalibration(t *testing.T) {
	full := os.Getenv(calibrate) == "full"
	length := "4s"
	if full {
		length = "8s"
	}
	for cause, settings := range calibrationCauses {
		for i, s := range settings {
			if i > 0 && !full {
				break
			}
			t.Run(fmt.Sprintf("%s/%v", cause, s), func(t *testing.T) {
				t.Parallel()
				carrying(t)
				carried(t, s, func(l *lab.Lab) error { return checkCause(t, l, cause, s, length) })
			})
		}
	}
	for i, clean := range calibrationClean {
		for seed := range 5 {
			s := clean
			s.seed = seed + 1
			if !full && (i > 0 || seed > 0) {
				break
			}
			t.Run(fmt.Sprintf("healthy/%v", s), func(t *testing.T) {
				t.Parallel()
				carrying(t)
				carried(t, s, func(l *lab.Lab) error { return checkHealthy(t, l, s, length) })
			})
		}
	}
}

// mostTries is how often a check is made that fails in a lab that this machine could not carry.
const mostTries = 3

// carried makes a check in a lab, again where it fails and the lab's emulator did not keep up: what was measured then is this
// machine.
func carried(t *testing.T, s setting, check func(*lab.Lab) error) {
	t.Helper()
	for try := 1; ; try++ {
		l := startCalibration(t, s)
		err := check(l)
		if err == nil {
			return
		}
		truth, truthErr := l.Truth()
		if truthErr != nil || !truth.Emulator.Bottleneck || try == mostTries {
			t.Fatal(errors.Join(err, truthErr))
		}
		t.Logf("once more, as the emulator was the bottleneck (%s): %v", truth.Emulator.Why, err)
	}
}

func checkHealthy(t *testing.T, l *lab.Lab, s setting, length string) error {
	d := diagnoseIn(t, l, s, "carol", "-t", length)
	if d.Verdict != diagnose.Healthy {
		return fmt.Errorf("a clean path is called %s: %s", d.Verdict, inShort(d))
	}
	t.Logf("CALIBRATION healthy | %v | verdict %s | achieved %s of %s", s, d.Verdict,
		quantity.FormatRate(d.AchievedBitsPerSecond), expectedOf(d))
	return nil
}

// expectedOf is what a diagnosis expects, in words.
func expectedOf(d *diagnose.Diagnosis) string {
	if d.ExpectedBitsPerSecond == nil {
		return "unknown"
	}
	return quantity.FormatRate(*d.ExpectedBitsPerSecond)
}

func checkCause(t *testing.T, l *lab.Lab, cause string, s setting, length string) error {
	d := diagnoseIn(t, l, s, append([]string{"carol", "-t", length}, s.args...)...)
	if d.Verdict != cause {
		return fmt.Errorf("verdict %s: %s", d.Verdict, inShort(d))
	}
	f := d.First()
	if f.Predicted == nil {
		return fmt.Errorf("no prediction: %s", inShort(d))
	}
	if strings.HasPrefix(f.Advice[0].Command, "sysctl") {
		if _, err := followAdvice(l, f); err != nil {
			return err
		}
	} else if err := l.Set("denver", "chicago", "loss=0"); err != nil { // the cable; for the others the program is left out
		return err
	}
	s.source = 0
	after := diagnoseIn(t, l, s, "carol", "-t", length)
	off := math.Abs(f.Predicted.BitsPerSecond-after.AchievedBitsPerSecond) / after.AchievedBitsPerSecond
	t.Logf("CALIBRATION %s | %v | achieved %s | predicted %s | reached %s | off %.1f %%", cause, s,
		quantity.FormatRate(d.AchievedBitsPerSecond), quantity.FormatRate(f.Predicted.BitsPerSecond),
		quantity.FormatRate(after.AchievedBitsPerSecond), 100*off)
	if off > mostOff {
		return fmt.Errorf("predicted %s (%s), reached %s: %.0f %% off", quantity.FormatRate(f.Predicted.BitsPerSecond), f.Predicted.Basis,
			quantity.FormatRate(after.AchievedBitsPerSecond), 100*off)
	}
	if after.Verdict != diagnose.Healthy {
		return fmt.Errorf("after the advice the verdict is %s: %s", after.Verdict, inShort(after))
	}
	return nil
}

// inShort is a Diagnosis without its Results, for a failed test's message.
func inShort(d *diagnose.Diagnosis) string {
	short := *d
	short.Results = nil
	text, _ := json.MarshalIndent(short, "", " ")
	return string(text)
}

func startCalibration(t *testing.T, s setting) *lab.Lab {
	t.Helper()
	l, err := lab.Start(context.Background(), s.spec(t), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close lab: %v", err)
		}
	})
	startResponder(t, l, "carol")
	return l
}

// startResponder runs `pathwise respond` on a host and returns when it answers.
func startResponder(t *testing.T, l *lab.Lab, host string) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	p, err := l.Start(context.Background(), host, selfCommand(writer, nil, "respond"))
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Errorf("end responder: %v", err)
		}
		_, _ = p.Wait()
	})
	if _, err := reader.Read(make([]byte, 256)); err != nil {
		t.Fatalf("responder: %v", err)
	}
}

func selfCommand(out, in *os.File, args ...string) lab.Command {
	return lab.Command{Argv: append([]string{"/proc/self/exe"}, args...), Env: append(os.Environ(), actAsPathwise+"=1"),
		Stdin: in, Stdout: out, Stderr: os.Stderr}
}

// diagnoseIn runs `pathwise diagnose` on bob.
func diagnoseIn(t *testing.T, l *lab.Lab, s setting, args ...string) *diagnose.Diagnosis {
	t.Helper()
	args = append([]string{"diagnose", "--json", "--cc", "cubic"}, args...)
	var input *os.File
	if s.source > 0 {
		args = append(args, "--input", "-")
		input = slowSource(t, s.source)
	}
	out, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := l.Start(t.Context(), "bob", selfCommand(writer, input, args...))
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status != exitDone {
		t.Fatalf("diagnose: exit status %d, %v", status, err)
	}
	var d diagnose.Diagnosis
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// slowSource is a pipe that a slow program fills: one piece each 10 ms.
func slowSource(t *testing.T, rate float64) *os.File {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, int(rate/8/100))
	tick := time.NewTicker(10 * time.Millisecond)
	done := make(chan struct{})
	go func() {
		defer writer.Close()
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if _, err := writer.Write(piece); err != nil {
				return // the reader has gone
			}
		}
	}()
	t.Cleanup(func() { close(done); reader.Close() })
	return reader
}
