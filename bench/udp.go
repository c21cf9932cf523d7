package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	udpBytes = 1448 // of payload in a datagram: what a TCP segment carries on Ethernet
	udpSteps = 1e9  // bit/s: the rate at which spacing is looked at
)

// udpRates are offered in turn, in bit/s. One processor's memory carries some 30 Gbit/s in large pieces.
var udpRates = []float64{1e9, 2e9, 4e9, 8e9, 16e9, 20e9, 24e9}

// mostLoss is the loss ratio up to which a delivered rate counts for Pathwise; for its peers any does.
const mostLoss = 0.001

// udpTools are the senders of datagrams, called alike at a rate.
func (b *bench) udpTools(rate float64) []tool {
	seconds, size, bits := strconv.Itoa(b.seconds), strconv.Itoa(udpBytes), strconv.FormatFloat(rate, 'f', 0, 64)
	ours := []string{b.pathwise, "--json", "throughput", serverAddress, "--proto", "udp", "-l", size, "-t", seconds, "--rate", bits}
	respond := []string{b.pathwise, "respond"}
	all := []tool{
		{name: "pathwise", ready: "answering on", interrupt: true, read: readPathwiseUDP, server: respond, client: ours},
		{name: "pathwise, one by one", ready: "answering on", interrupt: true, read: readPathwiseUDP, server: respond,
			client: append(ours[:len(ours):len(ours)], "--offload=false")},
		{name: "iperf3", ready: "listening on", read: readIperf3UDP, server: []string{"iperf3", "-s", "-1", "--forceflush"},
			client: []string{"iperf3", "-J", "-c", serverAddress, "-u", "-l", size, "-t", seconds, "-b", bits}},
	}
	if _, err := exec.LookPath("nuttcp"); err == nil {
		all = append(all, tool{name: "nuttcp", ready: "ready", read: readNuttcp,
			server: []string{"sh", "-c", "echo ready; exec nuttcp -S --nofork -1"},
			client: []string{"nuttcp", "-fparse", "-u", "-l" + size, "-T" + seconds, "-R" + strconv.FormatFloat(rate/1e6, 'f', 0, 64) + "m", serverAddress}})
	}
	return all
}

// udp offers datagrams at rates that rise over a plain veth pair, and looks at how evenly they leave at one of them.
func (b *bench) udp(ctx context.Context) error {
	l, err := startPair(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(b.out, "udp: %d bytes of payload a datagram, %d s each, over veth without emulation; tools take turns\n", udpBytes, b.seconds)
	fmt.Fprintf(b.out, "%13s  %-22s%14s%14s%10s%16s%10s\n", "offered", "by", "sent Gbit/s", "came Gbit/s", "lost %", "host's loss", "CPU s/s")
	before, err := readMachine()
	if err != nil {
		return err
	}
	best := map[string]float64{} // delivered, in bit/s
	for _, rate := range udpRates {
		for _, t := range b.udpTools(rate) {
			came, err := t.measure(ctx, l, "server")
			if err != nil {
				return fmt.Errorf("%s at %g Gbit/s: %w", t.name, rate/1e9, err)
			}
			fmt.Fprintf(b.out, "%6g Gbit/s  %-22s%14.2f%14.2f%10.3f%16s%10.2f\n", rate/1e9, t.name, came.SentRate/1e9, came.BitsPerSecond/1e9, 100*came.Loss,
				came.hostLoss(), came.CPU/float64(b.seconds))
			if !strings.HasPrefix(t.name, "pathwise") || came.Loss < mostLoss {
				best[t.name] = max(best[t.name], came.BitsPerSecond)
			}
		}
	}
	for _, name := range []string{"pathwise", "pathwise, one by one"} {
		fmt.Fprintf(b.out, "delivered by %s with less than %g %% lost: %.2f Gbit/s", name, 100*mostLoss, best[name]/1e9)
		for _, peer := range []string{"iperf3", "nuttcp"} {
			if best[peer] > 0 {
				fmt.Fprintf(b.out, "; %.2f times what %s delivers at any loss", best[name]/best[peer], peer)
			}
		}
		fmt.Fprintln(b.out)
	}
	if err := b.udpSpacing(ctx, l); err != nil {
		return err
	}
	after, err := readMachine()
	if err == nil {
		fmt.Fprintln(b.out, describeOthers(after.othersSince(before)))
	}
	return err
}

// hostLoss is what the tool says of the lost datagrams that a host and not the path lost.
func (t transfer) hostLoss() string {
	if t.HostLost < 0 {
		return "not told"
	}
	return strconv.FormatFloat(t.HostLost, 'f', 0, 64)
}

// readPathwiseUDP reads a Result of datagrams.
func readPathwiseUDP(printed string) (transfer, error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return transfer{}, fmt.Errorf("read what pathwise printed: %w", err)
	}
	m := r.Metrics
	t := transfer{BitsPerSecond: m[measure.Throughput], Bytes: m[measure.ReceivedBytes], SentRate: m[measure.SentRate], Loss: m[measure.LossRatio],
		HostLost: m[measure.SenderDropped] + m[measure.ReceiverDropped]}
	return t, t.came()
}

// readIperf3UDP reads the report of iperf3 -J -u. Its bytes are of what was sent; what came is by the receiver's packets.
func readIperf3UDP(printed string) (transfer, error) {
	var r struct {
		End struct {
			Sum struct {
				Bytes       float64 `json:"bytes"`
				Seconds     float64 `json:"seconds"`
				Packets     float64 `json:"packets"`
				LostPackets float64 `json:"lost_packets"`
			} `json:"sum"`
			Received struct {
				Bytes         float64 `json:"bytes"`
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return transfer{}, fmt.Errorf("read what iperf3 printed: %w", err)
	}
	sum := r.End.Sum
	t := transfer{BitsPerSecond: r.End.Received.BitsPerSecond, Bytes: r.End.Received.Bytes, HostLost: -1}
	if sum.Seconds > 0 && sum.Packets > 0 {
		t.SentRate, t.Loss = sum.Bytes*8/sum.Seconds, sum.LostPackets/sum.Packets
	}
	return t, t.came()
}

var nuttcpField = regexp.MustCompile(`(\w+)=([0-9.]+)`)

// readNuttcp reads the line of nuttcp -fparse -u, such as
//
//	megabytes=129.4 real_seconds=2.00 rate_Mbps=542.7 tx_cpu=38 rx_cpu=12 drop=60365 pkt=154072 data_loss=39.17975
func readNuttcp(printed string) (transfer, error) {
	fields := map[string]float64{}
	for _, m := range nuttcpField.FindAllStringSubmatch(printed, -1) {
		fields[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	const mebi = 1 << 20
	t := transfer{BitsPerSecond: fields["rate_Mbps"] * 1e6, Bytes: fields["megabytes"] * mebi, Loss: fields["data_loss"] / 100, HostLost: -1}
	if s := fields["real_seconds"]; s > 0 {
		t.SentRate = fields["pkt"] * udpBytes * 8 / s
	}
	return t, t.came()
}

// came refuses a test in which nothing came.
func (t transfer) came() error {
	if t.Bytes <= 0 || t.BitsPerSecond <= 0 {
		return errors.New("the receiver got nothing")
	}
	return nil
}
