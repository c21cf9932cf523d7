package demo

import (
	"context"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// bobAndCarol is the lab of the case of Bob and Carol: 2,000 miles, 100 Mbit/s at the narrowest link, a round trip of 50 ms; a bad
// cable between two routers, and a receive buffer that nobody ever raised.
const bobAndCarol = `
seed: 2009
hosts:
  bob:   {}
  carol: {sysctl: {net.ipv4.tcp_rmem: "4096 87380 87380"}}
routers: [denver, chicago]
links:
  - {between: [bob, denver],     rate: 1gbit,   delay: 1ms}
  - {between: [denver, chicago], rate: 100mbit, delay: 23ms, loss: 1%}
  - {between: [chicago, carol],  rate: 1gbit,   delay: 1ms}
`

const (
	transferBytes = 50_000_000      // what Bob must send each half hour
	patience      = 8 * time.Second // of a slow transfer; the rest is worked out
	diagnosisTime = "4s"            // of each transfer that the diagnosis makes
)

// fault is what is wrong in a round, and how it is mended afterwards; the last one is none, and has no mend.
type fault struct {
	name string
	mend func(*lab.Lab, *measure.Finding) (done string, err error)
}

var faults = []fault{
	{"loss on a bad cable", func(l *lab.Lab, _ *measure.Finding) (string, error) {
		return "the cable between denver and chicago is replaced", l.Set("denver", "chicago", "loss=0")
	}},
	{"receive buffer left at 87380 bytes", FollowAdvice},
	{"none", nil},
}

// Round is the account of a round, as the contract's demo has it. A rate of 0 is one that nobody can tell: what is expected where the
// capacity is not known, what is predicted where nothing can be, what is reached after the last round.
type Round struct {
	Fault           string   `json:"fault"`   // what was wrong, in words
	Verdict         string   `json:"verdict"` // of the diagnosis
	Expected        float64  `json:"expected_bits_per_second"`
	Achieved        float64  `json:"achieved_bits_per_second"`
	Predicted       float64  `json:"predicted_bits_per_second"`
	Reached         float64  `json:"reached_bits_per_second"`
	TransferSeconds float64  `json:"transfer_seconds"`
	Extrapolated    bool     `json:"extrapolated"`
	Advice          []string `json:"advice"`
	Done            string   `json:"done"`
}

// Case plays Bob and Carol.
type Case struct {
	Screen
	// Run runs a command of this program with --json on a host of a lab, says meanwhile what goes on, and reads the document that the
	// command prints into doc.
	Run func(ctx context.Context, l *lab.Lab, host, what string, doc any, args ...string) error
}

// Play stands the lab up, plays all rounds in it, and takes it down. It returns the rounds that were played, and what ended them early.
func (c *Case) Play(ctx context.Context) ([]Round, error) {
	spec, err := lab.ParseSpec("demo", []byte(bobAndCarol))
	if err != nil {
		return nil, err
	}
	c.Progress("standing up bob, carol and the path between them…")
	l, err := lab.Start(ctx, spec, lab.Options{})
	c.Progress("")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c.Say("Bob sends 50 MB to Carol, 2,000 miles away: 100 Mbit/s, 50 ms. He expects 4 to 6 seconds.")
	responder, err := l.Respond(ctx, "carol", lab.Command{Argv: []string{lab.Self()}})
	if err != nil {
		return nil, err
	}
	defer responder.Kill()
	return c.playAll(ctx, l)
}
