package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/pcap"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// flowsCall is a call of flows.
type flowsCall struct {
	flags parameterFlags
	to    string
	plan  bool
}

func flowsCommand(s *session) *cobra.Command {
	kind, _ := probe.KindOf("flows")
	call := &flowsCall{flags: parameterFlags{kind: kind}}
	c := &cobra.Command{
		Use: "flows SCRIPT", Short: "Send flows of packets by a script, and what came of each",
		Long: "Send flows of UDP packets to a host where `pathwise respond` runs, as a script has them: evenly, at random, in bursts, in frames, or as in a\n" +
			"capture; and report of each flow what was lost, copied and reordered, its rate, how its delay varied, and how late its sender was. The host sends\n" +
			"the flows that the script has in reverse.\n" +
			"SCRIPT is a file, - for standard input, or the text itself, which begins with seed, to, flow or at. docs/flows.md has the language.",
		Example: examples([]string{"flows calls.flows --to carol", "flows 'flow voice end 10s constant rate 50/s size 172 dscp ef' --to carol",
			"flows calls.flows --to carol -R", "flows calls.flows --plan"}),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return call.flags.blame(c, call.run(c, s, args[0])) },
	}
	call.flags.add(c, "reverse", "linger", "port")
	c.Flags().StringVar(&call.to, "to", "", "HOST[:PORT] to send to, in place of the script's own")
	c.Flags().BoolVar(&call.plan, "plan", false, "print what would be sent, and send nothing")
	return c
}

func (call *flowsCall) run(c *cobra.Command, s *session, argument string) error {
	if c.Flags().Changed("to") {
		if _, _, err := sock.SplitHostPort(call.to); err != nil {
			return badFlag("to", err)
		}
	}
	text, captures, err := readScript(s.in, argument)
	if err != nil {
		return err
	}
	script, err := traffic.Parse(text, captures)
	if err != nil {
		return err
	}
	p := &probe.Flows{Script: text, Captures: captures}
	if call.plan {
		return call.printPlan(c, s, p, script)
	}
	if err := call.fill(c, s, p, script.To); err != nil {
		return err
	}
	family, err := call.flags.over.family("flows are sent over one of them")
	if err != nil {
		return err
	}
	p.Family = family
	if err := p.Validate(); err != nil {
		return err
	}
	if s.verbose > 0 {
		p.Progress = flowsProgress(s)
	}
	s.progress("sending flows to %s…", p.Target)
	r, failed := p.Do(c.Context())
	s.progress("")
	return firstOf([]error{failed, s.finish(r, failed, probe.WriteText)}, false)
}

// fill reads where flows go and what the flags say.
func (call *flowsCall) fill(c *cobra.Command, s *session, p *probe.Flows, scripted string) error {
	parameters, _, err := call.flags.read(c, s)
	if err != nil {
		return err
	}
	to := scripted
	if c.Flags().Changed("to") {
		to = call.to
	}
	if to == "" {
		return input.Errorf("--to: give the host to send to, or have the script say it: to HOST")
	}
	host, port, err := sock.SplitHostPort(to)
	if err != nil {
		return input.Errorf("script: to: %v", err)
	}
	if port != 0 {
		if err := call.flags.agree(c, to, map[string]any{"port": port}, parameters); err != nil {
			return err
		}
	}
	p.Target = host
	return setFlows(p, parameters)
}

// setFlows sets what flags say, which they have checked.
func setFlows(p *probe.Flows, parameters map[string]any) (err error) {
	for name, value := range parameters {
		text := fmt.Sprint(value)
		switch name {
		case "port":
			_, err = fmt.Sscan(text, &p.Port)
		case "reverse":
			p.Reverse, err = strconv.ParseBool(text)
		case "linger":
			p.Linger, err = quantity.ParseDuration(text)
		}
		if err != nil {
			return badFlag(name, err)
		}
	}
	return nil
}

// printPlan prints what would be sent, by the flags.
func (call *flowsCall) printPlan(c *cobra.Command, s *session, p *probe.Flows, script *traffic.Script) error {
	parameters, _, err := call.flags.read(c, s)
	if err == nil {
		err = setFlows(p, parameters)
	}
	if err == nil && p.Reverse {
		err = script.Turn()
	}
	if err != nil {
		return err
	}
	return s.printLoad(script)
}

// mostScript bounds what is read as a script: package traffic takes less.
const mostScript = 1 << 20

// readScript returns the text of a script, and how captures that it names are read: by their paths from the script's folder.
func readScript(stdin io.Reader, argument string) (text string, captures traffic.Captures, err error) {
	if isScriptText(argument) {
		return argument, capturesIn("."), nil
	}
	from := stdin
	if argument != "-" {
		file, err := os.Open(argument)
		if err != nil {
			return "", nil, input.Errorf("script: %v: want a file, or a text that begins with seed, to, flow or at", err)
		}
		defer file.Close()
		from = file
	}
	all, err := io.ReadAll(io.LimitReader(from, mostScript))
	if err != nil {
		return "", nil, input.Errorf("script: read %s: %v", argument, err)
	}
	return string(all), capturesIn(filepath.Dir(argument)), nil
}

// isScriptText reports whether an argument is the text of a script: it begins with a word of the language, or with a comment, and more follows. A
// file of such a name can be given with its folder: ./flow chart.
func isScriptText(argument string) bool {
	words := strings.Fields(argument)
	return len(words) > 1 && (words[0][0] == '#' || slices.Contains([]string{"seed", "to", "flow", "at"}, words[0]))
}

// udpHeaders are those of IPv4 and UDP: what an IP packet of a size has beside UDP payload, in bytes.
const udpHeaders = 28

func capturesIn(folder string) traffic.Captures {
	return func(name string, port int) (all []traffic.Recorded, err error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		var first time.Time
		err = pcap.Read(file, func(p pcap.Packet) error {
			if port > 0 && !p.Between(port) {
				return nil
			}
			if len(all) == 0 {
				first = p.At
			}
			if len(all) == traffic.MostPackets {
				return input.Errorf("more than %d packets", traffic.MostPackets)
			}
			after := p.At.Sub(first)
			if len(all) > 0 { // packets of several interfaces may stand a little out of order
				after = max(after, all[len(all)-1].After)
			}
			all = append(all, traffic.Recorded{After: after, Bytes: p.Bytes - udpHeaders})
			return nil
		})
		return all, err
	}
}

// flowsProgress says each second what arrived.
func flowsProgress(s *session) func(*traffic.Script, []flows.SoFar) {
	return func(script *traffic.Script, soFar []flows.SoFar) { s.say("%s", probe.FlowsLine(script, soFar)) }
}

// printLoad prints what a script asks for, under --json as a document.
func (s *session) printLoad(script *traffic.Script) error {
	load, err := script.Load()
	if err != nil {
		return err
	}
	document := map[string]any{"schema": "pathwise.flows-plan/1", "duration_seconds": script.Duration().Seconds(), "packets": load.Packets,
		"bytes": load.Bytes, "peak_bits_per_second": load.Peak, "reverse_peak_bits_per_second": load.ReversePeak, "flows": flowLoads(script, load)}
	return s.emit(document, func(w io.Writer) {
		fmt.Fprintf(w, "%v, %s, %s, at most %s\n", script.Duration(), quantity.FormatCount(load.Packets, "packet"), quantity.FormatSize(load.Bytes), peaks(script, load))
		for i, f := range script.Flows {
			way := ""
			if f.Reverse {
				way = ", in reverse"
			}
			fmt.Fprintf(w, "%-12s %v to %v, %s, %s%s\n", f.Name, f.Start, f.End, quantity.FormatCount(load.Flows[i].Packets, "packet"),
				quantity.FormatRate(8*float64(load.Flows[i].Bytes)/(f.End-f.Start).Seconds()), way)
		}
	})
}

// peaks are the most that goes each way.
func peaks(script *traffic.Script, load traffic.Load) string {
	var all []string
	if script.Goes(false) {
		all = append(all, quantity.FormatRate(load.Peak)+" in a second with headers")
	}
	if script.Goes(true) {
		all = append(all, quantity.FormatRate(load.ReversePeak)+" in reverse")
	}
	return strings.Join(all, " and ")
}

func flowLoads(script *traffic.Script, load traffic.Load) (all []map[string]any) {
	for i, f := range script.Flows {
		all = append(all, map[string]any{"name": f.Name, "reverse": f.Reverse, "start_seconds": f.Start.Seconds(), "end_seconds": f.End.Seconds(),
			"packets": load.Flows[i].Packets, "bytes": load.Flows[i].Bytes})
	}
	return all
}
