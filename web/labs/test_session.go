package labs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/respond"
)

// Test is a test from one host of a lab to another.
type Test struct {
	Kind    string  `json:"kind" enum:"ping,throughput,diagnosis"`
	From    string  `json:"from" doc:"A host of the lab"`
	To      string  `json:"to" doc:"Another host of the lab"`
	Seconds float64 `json:"seconds,omitempty" minimum:"1" maximum:"60" default:"10" doc:"How long; of a diagnosis, each of its transfers"`
}

// Line is a thing that happens in a test: one of its fields.
type Line struct {
	Echo     *measure.Echo     `json:"echo,omitempty"`
	Interval *measure.Interval `json:"interval,omitempty"`
	Result   *measure.Result   `json:"result,omitempty"` // the last line

	Diagnosis json.RawMessage `json:"diagnosis,omitempty"` // the one line of a diagnosis: what pathwise diagnose --json printed
}

const (
	// testPort is where the far end of a transfer answers: not iperf3's own, which somebody in the lab may use.
	testPort = "5299"
	// spare is what a test takes beside its own time, on a machine that does much else.
	spare = 30 * time.Second
	// diagnosing is what a diagnosis takes beside that: a dozen steps, of which few are transfers.
	diagnosing = 2 * time.Minute
	// longestLine bounds a line: a Result with its samples of a minute.
	longestLine = 16 << 20
)

// Test runs a test and calls each with its lines, until it ended or ctx did. Nothing of it is left on the hosts then.
func (s *Labs) Test(ctx context.Context, name string, t Test, each func(Line)) error {
	t.Seconds = cmp.Or(t.Seconds, 10)
	l, done, err := s.begin(name, t)
	if err != nil {
		return err
	}
	defer done()
	longest := time.Duration(t.Seconds*float64(time.Second)) + spare
	if t.Kind == diagnosis {
		longest += diagnosing
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if t.Kind != "ping" { // which the kernel answers
		far, err := s.spawn(ctx, l, t.To, "respond", "--port", testPort)
		if err != nil {
			return err
		}
		defer far.end()
		line, err := bufio.NewReader(far.out).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, respond.AnsweringOn) {
			return errors.Join(context.Cause(ctx), fmt.Errorf("start the far end on %s: %s", t.To, far.complaint()))
		}
	}
	near, err := s.spawn(ctx, l, t.From, t.command()...)
	if err != nil {
		return err
	}
	defer near.end()
	read := near.lines
	if t.Kind == diagnosis {
		read = near.diagnosis
	}
	ended, err := read(each)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("%s from %s to %s: %s", t.Kind, t.From, t.To, near.complaint())
	}
	return nil
}

// diagnosis is the kind of Test that says why a path is slow.
const diagnosis = "diagnosis"

// command is what the host does from which a test goes.
func (t *Test) command() []string {
	seconds := strconv.FormatFloat(t.Seconds, 'f', -1, 64)
	if t.Kind == diagnosis {
		return []string{"diagnose", t.To, "--port", testPort, "--time", seconds + "s", "--json"}
	}
	return []string{"lab", "measure", t.Kind, t.To, "--seconds", seconds, "--port", testPort}
}

// begin looks whether a test can be, and keeps others from the lab until done is called.
func (s *Labs) begin(name string, t Test) (l *lab.Lab, done func(), err error) {
	l, k, unlock, err := s.open(name)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	doc, err := k.look(l)
	if err != nil {
		return nil, nil, err
	}
	for _, end := range []struct{ key, host string }{{"from", t.From}, {"to", t.To}} {
		if !isHost(doc.Nodes, end.host) {
			return nil, nil, input.Errorf("%s: %q: want a host of lab %s", end.key, end.host, l.Name)
		}
	}
	switch {
	case t.Kind != "ping" && t.Kind != "throughput" && t.Kind != diagnosis:
		return nil, nil, input.Errorf("kind: %q: want ping, throughput or diagnosis", t.Kind)
	case t.From == t.To:
		return nil, nil, input.Errorf("to: %q: is the host that begins; want another", t.To)
	case !(t.Seconds >= 1 && t.Seconds <= 60):
		return nil, nil, input.Errorf("seconds: %v: want 1 to 60", t.Seconds)
	case k.testing:
		return nil, nil, ErrBusy
	default:
		k.testing, k.shown = true, nil
		return l, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.testing, k.shown = false, nil
		}, nil
	}
}

func isHost(nodes []lab.NodeState, name string) bool {
	for _, n := range nodes {
		if n.Name == name {
			return n.Kind == "host"
		}
	}
	return false
}

// child is this program on a host of a lab.
type child struct {
	process  *lab.Process
	out      *os.File
	said     *os.File // what it complained about
	stop     func() bool
	giveUp   context.CancelFunc
	finished bool
}

// spawn runs this program on a host. It is killed when ctx ends; end waits until it has gone.
func (s *Labs) spawn(ctx context.Context, l *lab.Lab, host string, args ...string) (*child, error) {
	out, outWriter, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create pipe: %w", err)
	}
	defer outWriter.Close()
	said, saidWriter, err := os.Pipe()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("create pipe: %w", err)
	}
	defer saidWriter.Close()
	held, giveUp := context.WithCancel(context.WithoutCancel(ctx)) // its end is asked for, and waited for
	p, err := l.Start(held, host, lab.Command{Argv: append([]string{s.Program}, args...), Dir: "/", Stdout: outWriter, Stderr: saidWriter})
	if err != nil {
		giveUp()
		return nil, errors.Join(err, out.Close(), said.Close())
	}
	return &child{process: p, out: out, said: said, giveUp: giveUp, stop: context.AfterFunc(ctx, func() { _ = p.Kill() })}, nil
}

// end kills the program if it still runs, and returns when it has gone.
func (c *child) end() {
	c.stop()
	if !c.finished {
		_ = c.kill()
	}
	c.giveUp()
	c.out.Close()
	c.said.Close()
}

// kill ends the program, and returns why it did not run.
func (c *child) kill() error {
	_ = c.process.Kill()
	late := time.AfterFunc(spare, c.giveUp) // the lab does not answer
	defer late.Stop()
	_, err := c.process.Wait()
	c.finished = true
	return err
}

// complaint ends the program, and returns what it said on its way, or why it did not run.
func (c *child) complaint() string {
	if err := c.kill(); err != nil {
		return err.Error()
	}
	text, _ := io.ReadAll(io.LimitReader(c.said, 4096))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if why := strings.TrimPrefix(lines[len(lines)-1], "pathwise: "); why != "" {
		return why
	}
	return "it ended without a word"
}

// diagnosis hands on the document that the program prints; ended says that it printed one.
func (c *child) diagnosis(each func(Line)) (ended bool, err error) {
	text, err := io.ReadAll(io.LimitReader(c.out, longestLine))
	if err != nil {
		return false, fmt.Errorf("read what the diagnosis printed: %w", err)
	}
	if len(text) == 0 {
		return false, nil
	}
	if !json.Valid(text) {
		return false, errors.New("what the diagnosis printed is no JSON")
	}
	each(Line{Diagnosis: text})
	return true, nil
}

// lines hands on what the program prints; ended says that it came to its Result.
func (c *child) lines(each func(Line)) (ended bool, err error) {
	lines := bufio.NewScanner(c.out)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var line Line
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return false, fmt.Errorf("read what the test printed: %w", err)
		}
		each(line)
		ended = ended || line.Result != nil
	}
	return ended, nil // what could not be read has no Result
}
