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

	"github.com/pathwise-net/pathwise/demo"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// calibrate makes TestCalibration go through every setting ("full": half an hour) instead of one for each cause.
const calibrate = "PATHWISE_CALIBRATE"

func calibrating() bool { return os.Getenv(calibrate) == "full" }

// mostOff is how far a prediction may be from what is reached once the advice is followed.
const mostOff = 0.15

// TestCalibration creates each cause in the lab, where it is the one that binds, and expects its name; follows the
// advice, and expects the speed that was predicted; and expects a clean path to be called healthy.
func TestCalibration(t *testing.T) {
	t.Parallel()
	full := calibrating()
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
	if err := follow(l, f); err != nil {
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

// follow does what a finding's first advice says.
func follow(l *lab.Lab, f *measure.Finding) error {
	switch first := f.Advice[0]; {
	case strings.HasPrefix(first.Command, "sysctl"):
		_, err := demo.FollowAdvice(l, f)
		return err
	case strings.HasPrefix(first.Command, "ip "):
		p, err := l.Start(context.Background(), first.Host, lab.Command{Argv: []string{"sh", "-c", first.Command}, Env: os.Environ(), Stdout: os.Stderr, Stderr: os.Stderr})
		if err != nil {
			return err
		}
		if status, err := p.Wait(); err != nil || status != 0 {
			return fmt.Errorf("%s: exit status %d, %w", first.Command, status, err)
		}
		return nil
	default: // the cable; for the others the program is left out
		return l.Set("denver", "chicago", "loss=0")
	}
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
	status, d := diagnoseEnds(t, l, s, args...)
	if status != exitDone {
		t.Fatalf("diagnose: exit status %d", status)
	}
	return d
}

// diagnoseEnds is diagnoseIn, whatever status it ends with.
func diagnoseEnds(t *testing.T, l *lab.Lab, s setting, args ...string) (status int, d *diagnose.Diagnosis) {
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
	if status, err = p.Wait(); err != nil {
		t.Fatalf("diagnose: %v", err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return status, d
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
