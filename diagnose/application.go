package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
)

// applicationLimited: the program could have given TCP more nearly all the time, and did not.
func applicationLimited(v *view) *claim {
	if v.roomShare < mostlyIdle || v.rwndShare >= unlimited || v.sndbufShare >= unlimited {
		return nil
	}
	f := &measure.Finding{ID: "application-limited", Severity: measure.Problem, Confidence: confidence(v.roomShare),
		Where: "sender " + v.sender,
		Evidence: []measure.Evidence{
			evidence("send_buffer_room_ratio", v.roomShare, "ratio", "share of the samples in which the program could have given TCP more"),
			evidence("delivery_rate_app_limited", v.appLimitedShare, "ratio", "share of the samples that the kernel marked as held back by the program"),
			evidence("rwnd_limited_ratio", v.rwndShare, "ratio", "share of the time that the receiver's window held the sender"),
			evidence("sndbuf_limited_ratio", v.sndbufShare, "ratio", "share of the time that the send buffer held the sender"),
		},
		Explanation: "The network waited for the program: TCP sent what it was given at once, and had no more. A slow disk, a busy " +
			"processor, an encrypting or compressing program, or a rate limit in the program itself are the usual causes.",
		Predicted: v.next(),
	}
	if v.sourced {
		f.Advice = append(f.Advice, measure.Advice{Host: v.sender,
			Why: "this test was given its source or its rate: run it again without --input and --rate to see what the path can do"})
	}
	f.Advice = append(f.Advice, measure.Advice{Host: v.sender, Command: "iostat -x 1; pidstat -u 1",
		Why: fmt.Sprintf("find what the program on %s waits for: disk, processor or its own limit", v.sender)})
	allows := v.steady // what the program gave went out at once, so it gave that much
	if v.rate > 0 {
		allows = v.rate
	}
	return &claim{f, allows}
}

const (
	mostlyIdle = 0.9  // a program slower than the path finds room whenever it looks
	unlimited  = 0.05 // of the time: the kernel's jiffies and the first round trips book up to this much
)
