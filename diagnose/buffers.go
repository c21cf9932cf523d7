package diagnose

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// noWindowScaling: the window cannot be said in 16 bits, and the option that scales it was not agreed on.
func noWindowScaling(v *view) *claim {
	if v.windowScaling == nil || *v.windowScaling || v.rwndShare <= binding || v.window > unscaledWindow {
		return nil
	}
	f := v.windowFinding("no-window-scaling")
	f.Explanation = fmt.Sprintf("Sender and receiver did not agree to scale windows, so the window can never exceed 65,535 bytes, "+
		"and one window each round trip of %s is all that can move. Either a host has the option switched off or something "+
		"on the path strips it.", quantity.FormatSeconds(v.baseRTT))
	for _, side := range []struct {
		end       *measure.TCPEnd
		host, who string
	}{{v.to, v.receiver, "receiver"}, {v.from, v.sender, "sender"}} {
		if e := side.end; e != nil && e.Settings != nil && e.Settings.WindowScaling != nil && *e.Settings.WindowScaling != 0 {
			continue // this end does
		}
		f.Advice = append(f.Advice, measure.Advice{Host: side.host, Command: "sysctl -w net.ipv4.tcp_window_scaling=1",
			Why: "the " + side.who + " must offer the option"})
	}
	if len(f.Advice) == 0 {
		f.Advice = []measure.Advice{{Host: v.where(), Why: "both ends offer the option: find the firewall or proxy that strips it from SYN packets"}}
	}
	scaled := *v
	yes := true
	scaled.windowScaling = &yes
	f.Predicted = scaled.next()
	return &claim{f, v.windowAllows()}
}

// receiveWindowLimited: the receiver's window is used up before the path is.
func receiveWindowLimited(v *view) *claim {
	if v.rwndShare <= binding || v.windowScaling != nil && !*v.windowScaling && v.window <= unscaledWindow {
		return nil
	}
	f := v.windowFinding("receive-window-limited")
	need := v.bufferFor(v.window, receiveBuffer(v.to), rmem(v.to))
	f.Explanation = fmt.Sprintf("The sender spends its time waiting for the receiver's window to open: %s each round trip of %s is "+
		"all that can move. The receiver's buffer is too small for the distance.",
		quantity.FormatSize(int64(v.window)), quantity.FormatSeconds(v.baseRTT))
	f.Advice = []measure.Advice{bufferAdvice(v.receiver, "receive", "tcp_rmem", v.to, rmem(v.to), need)}
	f.Predicted = v.next(byReceiveWindow)
	return &claim{f, v.windowAllows()}
}

// windowAllows is the goodput that the largest window which the receiver offered allows: one each round trip.
func (v *view) windowAllows() float64 { return v.windowRate(v.window) }

// windowRate is the goodput that so many bytes each round trip come to. Round trips are those under load.
func (v *view) windowRate(bytes float64) float64 {
	if v.roundTrip() == 0 || bytes == 0 {
		return math.Inf(1)
	}
	return model.WindowLimit(bytes, seconds(v.roundTrip()))
}

// windowFinding is what the two window findings have in common.
func (v *view) windowFinding(id string) *measure.Finding {
	f := &measure.Finding{ID: id, Severity: measure.Problem, Confidence: confidence(v.rwndShare), Where: "receiver " + v.receiver,
		Evidence: []measure.Evidence{
			evidence("rwnd_limited_ratio", v.rwndShare, "ratio", "share of the time that the receiver's window held the sender"),
			evidence("snd_wnd_bytes", v.window, "bytes", "the largest window that the receiver offered"),
			evidence("throughput_bits_per_second", v.steady, "bit/s", fmt.Sprintf("achieved; window / round trip allows %s",
				quantity.FormatRate(v.windowAllows()))),
		}}
	if r := rmem(v.to); r != nil {
		f.Evidence = append(f.Evidence, evidence("tcp_rmem_max_bytes", float64(r[2]), "bytes",
			"the most that the receiver's kernel tunes the buffer to"))
	}
	return f
}

// sendBufferLimited: the sender's buffer is full of what is not yet acknowledged, so the program must wait.
func sendBufferLimited(v *view) *claim {
	if v.sndbufShare <= sendBinding {
		return nil
	}
	inFlight := v.steady * v.baseRTT / 8
	need := v.bufferFor(inFlight, sendBuffer(v.from), wmem(v.from))
	f := &measure.Finding{ID: "send-buffer-limited", Severity: measure.Problem, Confidence: confidence(0.5 + v.sndbufShare/2),
		Where: "sender " + v.sender,
		Evidence: []measure.Evidence{
			evidence("sndbuf_limited_ratio", v.sndbufShare, "ratio", "share of the time that the send buffer held the sender"),
			evidence("throughput_bits_per_second", v.steady, "bit/s", fmt.Sprintf("achieved: %s in flight each round trip of %s",
				quantity.FormatSize(int64(inFlight)), quantity.FormatSeconds(v.baseRTT))),
		},
		Explanation: "The sender must keep every byte until it is acknowledged, one round trip later, and its buffer is too small " +
			"to hold that much. The receiver and the path could take more."}
	if v.from != nil && v.from.SendBufferBytes > 0 {
		f.Evidence = append(f.Evidence, evidence("send_buffer_bytes", float64(v.from.SendBufferBytes), "bytes", "SO_SNDBUF when the test ended"))
	}
	f.Advice = []measure.Advice{bufferAdvice(v.sender, "send", "tcp_wmem", v.from, wmem(v.from), need)}
	f.Predicted = v.next(bySendBuffer)
	return &claim{f, v.windowRate(sendShare * sendBuffer(v.from))}
}

// bufferAdvice says how to come to a larger buffer: by taking the program's own setting out, or by the kernel's.
func bufferAdvice(host, kind, setting string, end *measure.TCPEnd, present *[3]int, need int64) measure.Advice {
	switch {
	case end != nil && end.BuffersFixed:
		return measure.Advice{Host: host, Why: fmt.Sprintf("the program set the buffer itself, which stops the kernel from tuning "+
			"it: take the setting out (here: --window), or ask for %s", quantity.FormatSize(need))}
	case present == nil:
		return measure.Advice{Host: host, Why: fmt.Sprintf("raise the third value of net.ipv4.%s there to at least %s; what it is "+
			"now could not be seen, so compare first", setting, quantity.FormatSize(need))}
	}
	return measure.Advice{Host: host, Command: fmt.Sprintf("sysctl -w net.ipv4.%s=\"%d %d %d\"", setting, present[0], present[1], need),
		Why: fmt.Sprintf("lets the kernel tune the %s buffer up to four times the bandwidth-delay product; put it in /etc/sysctl.d "+
			"to keep it", kind)}
}

// bufferFor is the buffer that lets ample bandwidth-delay products be in flight: as much larger than the present one as
// that is more than the present flight. Without a known capacity it is ample times the present buffer. It is never
// less than the kernel may tune to now, since that would be advice to make things worse. Whole steps of 64 KiB.
func (v *view) bufferFor(inFlight, buffer float64, tunable *[3]int) int64 {
	if buffer == 0 {
		buffer = 2 * inFlight // the kernel's own provision for its bookkeeping (socket(7))
	}
	need := ample * buffer
	if v.capacity > 0 && v.baseRTT > 0 && inFlight > 0 {
		need = ample * model.BandwidthDelay(v.capacity, seconds(v.baseRTT)) * buffer / inFlight
	}
	if tunable != nil {
		need = max(need, float64(tunable[2]))
	}
	const step = 64 << 10
	return int64(math.Ceil(need/step)) * step
}

// ample is how many bandwidth-delay products a buffer should hold: one in flight, one in the path's queue, and two
// while losses are repaired. With two in all, the usual least, 20 Mbit/s over 200 ms reached 8 % less in the lab.
const ample = 4

// receiveBuffer and sendBuffer are the sizes in force when the test ended, 0 where they are not known.
func receiveBuffer(e *measure.TCPEnd) float64 {
	if e == nil {
		return 0
	}
	return float64(e.ReceiveBufferBytes)
}

func sendBuffer(e *measure.TCPEnd) float64 {
	if e == nil {
		return 0
	}
	return float64(e.SendBufferBytes)
}

func rmem(e *measure.TCPEnd) *[3]int {
	if e == nil || e.Settings == nil {
		return nil
	}
	return e.Settings.RmemBytes
}

func wmem(e *measure.TCPEnd) *[3]int {
	if e == nil || e.Settings == nil {
		return nil
	}
	return e.Settings.WmemBytes
}

func confidence(share float64) float64 { return min(0.99, max(0, share)) }
