package probe

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// answer handles an echo reply.
func (r *pingRun) answer(p sock.Packet) {
	index, ok := r.packets.answered(p.Data, len(r.echoes))
	if !ok || p.From.Addr() != r.target.WithZone("") && r.Proto == protoSYN {
		return
	}
	e := &r.echoes[index]
	if e.RTTSeconds != nil {
		e.Duplicates++
		return
	}
	rtt, kernel := sock.Elapsed(e.sent, p.At)
	if rtt > r.Timeout {
		return // lost, by definition
	}
	if kernel {
		r.kernel++
	}
	e.RTTSeconds, e.TTL = new(rtt.Seconds()), p.TTL
	if from := p.From.Addr(); from != r.target.WithZone("") {
		e.From = from.String()
	}
	e.Error = ""
	r.arrivals = append(r.arrivals, uint64(e.Seq))
	if !e.done { // it is, when this process was too late to see a reply that came in time
		r.settle(e)
	}
}

// refuse handles an ICMP error about an echo request.
func (r *pingRun) refuse(i sock.ICMPError) {
	index, ok := r.packets.quoted(i.Quoted, len(r.echoes))
	if !ok || r.echoes[index].done {
		return
	}
	e := &r.echoes[index]
	if !r.last && len(r.arrivals) == 0 && noWay(i.Reason()) {
		r.noWay = fmt.Sprintf("%s, said %s", i.Reason(), i.Offender)
		return
	}
	e.From, e.Error = i.Offender.String(), string(i.Reason())
	if i.MTU > 0 {
		e.Error += fmt.Sprintf(" (MTU %d bytes)", i.MTU)
	}
	r.settle(e)
}

// report fills in what was measured. Echoes whose fate was still open when the run was cut short are neither answered
// nor lost, and so are left out.
func (r *pingRun) report(result *measure.Result) {
	open := 0
	for _, e := range r.echoes {
		if e.done {
			result.Samples.Echoes = append(result.Samples.Echoes, e.Echo)
		} else {
			open++
		}
	}
	if open > 0 {
		result.Note(fmt.Sprintf("%d echoes were on their way when the measurement was cut short and are not counted", open))
	}
	result.Metrics = reduceEchoes(result.Samples.Echoes, r.arrivals)
	result.Parameters["stamps"], result.Parameters["socket"] = "kernel", "datagram"
	if r.raw {
		result.Parameters["socket"] = "raw"
	}
	if user := len(r.arrivals) - r.kernel; user > 0 {
		result.Note(fmt.Sprintf("%d of %d round trips lack a kernel stamp and are by this process's clock", user, len(r.arrivals)))
		if user*2 > len(r.arrivals) {
			result.Parameters["stamps"] = "user"
		}
	}
}
