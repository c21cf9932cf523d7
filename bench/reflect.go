package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/proto/owamp"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// The many sessions of the part reflect.
const (
	manySessions   = 500
	sessionRate    = 10 // packets/s of each
	sessionSeconds = 20
)

// The attack of the part attack, and the sessions whose packets it must not disturb.
const (
	attackRate    = 100_000 // packets/s
	attackSeconds = 10
	fewSessions   = 10
)

// stamped is a protocol whose packets `pathwise respond` stamps.
type stamped struct {
	name     string
	port     int
	sessions string   // flag that makes this program many of its clients
	print    printing // of what those printed
}

type printing func(b *bench, sessions int, printed string) error

const protocolOWAMP = "OWAMP"

func stampedProtocols() []stamped {
	return []stamped{
		{"STAMP", stamp.DefaultPort, sessionsFlag, (*bench).printSTAMP},
		{protocolOWAMP, owamp.DefaultPort, owampSessionsFlag, (*bench).printOWAMP},
	}
}

func (s stamped) address() string { return fmt.Sprintf("%s:%d", serverAddress, s.port) }

// reflect prints what many sessions of STAMP, and of OWAMP, at once take of `pathwise respond`, and whether each packet was stamped and counted.
func (b *bench) reflect(ctx context.Context) error {
	for _, p := range stampedProtocols() {
		fmt.Fprintf(b.out, "reflect: %d %s sessions of %d packets/s at once on pathwise respond, %d s over veth\n", manySessions, p.name, sessionRate, sessionSeconds)
		if err := b.withReflector(ctx, func(l *lab.Lab, self string) error { return b.play(ctx, l, self, p, manySessions) }); err != nil {
			return err
		}
	}
	return nil
}

// attack prints what becomes of sessions while others send forged packets, and what the attackers get.
func (b *bench) attack(ctx context.Context) error {
	for _, p := range stampedProtocols() {
		fmt.Fprintf(b.out, "attack: %d %s sessions of %d packets/s on pathwise respond, first alone, then beside %d forged packets/s for %d s, over veth\n",
			fewSessions, p.name, sessionRate, attackRate, attackSeconds)
		for _, do := range []func(*lab.Lab, string) error{
			func(l *lab.Lab, self string) error { return b.play(ctx, l, self, p, fewSessions) },
			func(l *lab.Lab, self string) error { return b.playAttacked(ctx, l, self, p) },
		} {
			if err := b.withReflector(ctx, do); err != nil {
				return err
			}
		}
	}
	return nil
}

// playAttacked plays sessions beside an attacker.
func (b *bench) playAttacked(ctx context.Context, l *lab.Lab, self string, p stamped) error {
	attacker, err := spawn(ctx, l, "client", "", []string{self, forgeFlag, p.name, p.address(), strconv.Itoa(attackRate), strconv.Itoa(attackSeconds)})
	if err != nil {
		return err
	}
	sessionsErr := b.play(ctx, l, self, p, fewSessions)
	printed, err := attacker.wait()
	if err := errors.Join(sessionsErr, err); err != nil {
		return err
	}
	return b.printForged(printed)
}

// withReflector does something to `pathwise respond` on the host server, and prints what that process took.
func (b *bench) withReflector(ctx context.Context, do func(l *lab.Lab, self string) error) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	l, err := startPair(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	server, err := start(ctx, l, "server", "answering stamp", self, meteredFlag, b.pathwise, "respond", "--max-tests", strconv.Itoa(manySessions))
	if err != nil {
		return err
	}
	before, machineErr := readMachine()
	err = errors.Join(do(l, self), machineErr)
	_ = server.process.Signal(syscall.SIGINT)
	printed, serverErr := server.wait()
	if err := errors.Join(err, serverErr); err != nil {
		return err
	}
	after, err := readMachine()
	if err != nil {
		return err
	}
	_, took, err := splitUsage(printed)
	if err != nil {
		return err
	}
	if len(took.Resident) == 0 {
		return errors.New("read memory: it ended within a second")
	}
	half := took.Resident[len(took.Resident)/2:]
	fmt.Fprintf(b.out, "  pathwise respond: %.1f s of processor in %d s (%.0f %% of one), memory %.0f MB at most, %.0f MB half way, %.0f MB at the end\n",
		took.total(), len(took.Resident), 100*took.total()/float64(len(took.Resident)), megabytes(slices.Max(took.Resident)), megabytes(half[0]),
		megabytes(half[len(half)-1]))
	fmt.Fprintf(b.out, "  %s\n", describeOthers(after.othersSince(before)))
	return nil
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

// play plays sessions from the host client.
func (b *bench) play(ctx context.Context, l *lab.Lab, self string, p stamped, sessions int) error {
	printed, err := output(ctx, l, "client", self, p.sessions, p.address(), strconv.Itoa(sessions), strconv.Itoa(sessionRate), strconv.Itoa(sessionSeconds))
	if err != nil {
		return err
	}
	if err := p.print(b, sessions, printed); err != nil {
		return fmt.Errorf("read what the sessions printed: %w", err)
	}
	return nil
}

func (b *bench) printSTAMP(sessions int, printed string) error {
	var seen sessionsSeen
	if err := json.Unmarshal([]byte(printed), &seen); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "  %d sessions: %d sent, %d answered, %d lost, %d stamps out of order, %d wrong counts; round trip median %.0f µs, p99 %.0f µs\n",
		sessions, seen.Sent, seen.Answered, seen.Sent-seen.Answered, seen.Misplaced, seen.Miscount, seen.RTTMedian*1e6, seen.RTTP99*1e6)
	return nil
}

func (b *bench) printOWAMP(sessions int, printed string) error {
	var seen owampSeen
	if err := json.Unmarshal([]byte(printed), &seen); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "  %d sessions, half each way: %d sent, %d lost, %d skipped, %d records twice, %d stamps out of order; delay median %.0f µs, p99 %.0f µs\n",
		sessions, seen.Sent, seen.Lost, seen.Skipped, seen.Repeated, seen.Misplaced, seen.DelayMedian*1e6, seen.DelayP99*1e6)
	return nil
}

// printForged says what an attacker sent and what it got.
func (b *bench) printForged(printed string) error {
	var f forged
	if err := json.Unmarshal([]byte(printed), &f); err != nil {
		return fmt.Errorf("read what the attacker printed: %w", err)
	}
	fmt.Fprintf(b.out, "  attacker: %.0f packets/s, %.1f MB sent; %d answers, %.1f MB, %d of them larger than what they answer\n",
		f.rate(), megabytes(int64(f.Bytes)), f.AnswerPackets, megabytes(f.AnswerBytes), f.Larger)
	return nil
}
