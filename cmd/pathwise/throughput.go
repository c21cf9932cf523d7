package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// transferFlags are what throughput and diagnose share about the transfer that they make.
type transferFlags struct {
	over         hostFlags
	port         int
	duration     string
	rate, window string
	cc, input    string
	dscp         int
}

func (f *transferFlags) add(c *cobra.Command, duration string) {
	flags := c.Flags()
	f.over.add(flags)
	flags.IntVarP(&f.port, "port", "p", iperf3.DefaultPort, "the responder's port")
	flags.StringVarP(&f.duration, "time", "t", duration, "how long each transfer lasts")
	flags.StringVar(&f.rate, "rate", "", "hold the sending program to a rate, such as 10mbit (default: none for TCP, 1mbit for UDP)")
	flags.StringVarP(&f.window, "window", "w", "", "socket buffers of both ends, such as 256K (default: the kernel tunes them)")
	flags.StringVar(&f.cc, "cc", "", "congestion control of both ends, such as cubic (default: each host's own)")
	flags.StringVar(&f.input, "input", "", "send what is read from this file, or from standard input if it is -")
	flags.IntVar(&f.dscp, "dscp", 0, "differentiated services code point, 0 to 63")
}

// config reads the flags. The returned close function ends the input, if there is one.
func (f *transferFlags) config(s *session) (c iperf3.Config, done func(), err error) {
	done = func() {}
	c.Congestion, c.DSCP = f.cc, f.dscp
	if err := checkCongestion(f.cc); err != nil {
		return c, done, badFlag("cc", err)
	}
	if err := checkPort(f.port); err != nil {
		return c, done, err
	}
	if c.Duration, err = parsePositive(f.duration); err != nil {
		return c, done, badFlag("time", err)
	}
	if f.rate != "" {
		rate, err := quantity.ParseRate(f.rate)
		if err == nil && (rate < 1 || rate > mostRate) {
			err = fmt.Errorf("%q: want 1 bit/s to 1 Pbit/s", f.rate)
		}
		if err != nil {
			return c, done, badFlag("rate", err)
		}
		c.Rate = int64(rate)
	}
	if f.window != "" {
		size, err := quantity.ParseSize(f.window)
		if err == nil && size == 0 {
			err = fmt.Errorf("%q: want a size above 0 such as 256K, or leave it out for the kernel to tune", f.window)
		}
		if err != nil {
			return c, done, badFlag("window", err)
		}
		c.Window = int(size)
	}
	switch f.input {
	case "":
	case "-":
		c.Source = s.in
	default:
		file, err := os.Open(f.input)
		if err != nil {
			return c, done, badFlag("input", err)
		}
		c.Source, done = file, func() { file.Close() }
	}
	return c, done, nil
}

// mostRate is beyond any interface and fits what the wire carries.
const mostRate = 1e15

// checkCongestion asks the kernel whether it has a congestion control of that name, before anything is sent.
func checkCongestion(name string) error {
	if name == "" {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // the test itself will say why no socket can be had
	}
	socket := os.NewFile(uintptr(fd), "socket")
	defer socket.Close()
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return sock.SetCongestion(raw, name)
}

func parsePositive(text string) (time.Duration, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q: want more than nothing, such as 10s", text)
	}
	return d, err
}

func throughputCommand(s *session) *cobra.Command {
	var common transferFlags
	var kind, number, interval, length string
	var parallel, mss int
	var reverse, bidir, nodelay bool
	c := &cobra.Command{
		Use: "throughput HOST[:PORT]", Short: "How fast data moves to HOST, and what holds it back", Args: cobra.ExactArgs(1),
		Long: "Move data to HOST, where `pathwise respond` or any iperf3 server runs, and report the goodput that the receiver\n" +
			"saw. With a Pathwise responder the result holds the kernel's TCP_INFO of both ends.",
		Example: "  pathwise throughput carol\n  pathwise throughput carol -R -t 5 --cc cubic\n  pathwise throughput carol -n 50MB -P 4 --json",
		RunE: func(c *cobra.Command, args []string) error {
			config, done, err := common.config(s)
			defer done()
			if err != nil {
				return err
			}
			config.Proto, config.Parallel, config.MSS, config.NoDelay = kind, parallel, mss, nodelay
			config.Reverse, config.Bidir = reverse, bidir
			if config.Interval, err = parsePositive(interval); err != nil {
				return badFlag("interval", err)
			}
			if kind != iperf3.TCP && kind != iperf3.UDP {
				return badFlag("proto", fmt.Errorf("%q: want tcp or udp", kind))
			}
			if parallel < 1 {
				return badFlag("parallel", fmt.Errorf("\"%d\": want 1 or more", parallel))
			}
			if length != "" {
				n, err := quantity.ParseSize(length)
				if err != nil {
					return badFlag("len", err)
				}
				config.Length = int(n)
			}
			if number != "" {
				if config.Bytes, err = quantity.ParseSize(number); err != nil {
					return badFlag("bytes", err)
				}
				if config.Bytes == 0 {
					return badFlag("bytes", fmt.Errorf("%q: want a size above 0 such as 50MB", number))
				}
				if !c.Flags().Changed("time") {
					config.Duration = 0
				}
			}
			host, err := readHost(c, args[0], &common.port)
			if err != nil {
				return err
			}
			p := &probe.Throughput{Target: host, Port: common.port, Config: config}
			if err := p.Validate(); err != nil {
				return err
			}
			p.OnInterval = func(i measure.Interval) { s.say("%s", intervalLine(i)) }
			return s.measureHosts(c.Context(), []string{host}, common.over.families(), printThroughput,
				func(_ string, family sock.Family) (*measure.Result, error) {
					if p.Family = family; common.over.four && common.over.six {
						s.say("over %s", family)
					}
					return p.Do(c.Context())
				})
		},
	}
	common.add(c, "10s")
	flags := c.Flags()
	flags.StringVar(&kind, "proto", "tcp", "tcp or udp")
	flags.StringVarP(&number, "bytes", "n", "", "end after this much, such as 50MB, instead of a time; with -t, whichever comes first")
	flags.StringVarP(&interval, "interval", "i", "1s", "how often to report on the way")
	flags.StringVarP(&length, "len", "l", "", "bytes of each write, or of each datagram")
	flags.IntVarP(&parallel, "parallel", "P", 1, "streams at once")
	flags.IntVar(&mss, "mss", 0, "largest TCP segment in bytes (default: the kernel's choice)")
	flags.BoolVarP(&reverse, "reverse", "R", false, "HOST sends")
	flags.BoolVar(&bidir, "bidir", false, "both send at once")
	flags.BoolVar(&nodelay, "nodelay", false, "switch off Nagle's algorithm")
	return c
}

// finish prints a Result, if it holds anything. The error of the measurement is the command's own to return.
func (s *session) finish(r *measure.Result, failed error, text func(io.Writer, *measure.Result)) error {
	var bad interface{ BadInput() bool }
	if errors.As(failed, &bad) && bad.BadInput() {
		return nil
	}
	s.measured(r)
	return s.emit(r, func(w io.Writer) {
		if r.Status != measure.StatusFailed {
			text(w, r)
		}
	})
}

func intervalLine(i measure.Interval) string {
	line := fmt.Sprintf("%3s  %6.2f - %6.2f s  %10s  %14s", streamName(i.Stream), i.StartSeconds, i.EndSeconds,
		quantity.FormatSize(i.Bytes), quantity.FormatRate(i.BitsPerSecond))
	if i.Retransmits != nil {
		line += fmt.Sprintf("  %5d resent", *i.Retransmits)
	}
	if i.Direction == measure.Reverse {
		line += "  (reverse)"
	}
	return line
}

func streamName(n int) string {
	if n == 0 {
		return "sum"
	}
	return fmt.Sprint(n)
}

func printThroughput(w io.Writer, r *measure.Result) {
	line := func(name string, m measure.Metric, format func(float64) string) {
		if v, ok := r.Get(m); ok {
			fmt.Fprintf(w, "%-22s %s\n", name, format(v))
		}
	}
	count := func(v float64) string { return fmt.Sprintf("%.0f packets", v) }
	size := func(v float64) string { return quantity.FormatSize(int64(v)) }
	line("throughput", measure.Throughput, quantity.FormatRate)
	line("reverse throughput", measure.ReverseThroughput, quantity.FormatRate)
	line("received", measure.ReceivedBytes, size)
	line("sent", measure.SentBytes, size)
	line("retransmitted", measure.Retransmits, count)
	line("lost", measure.LossRatio, quantity.FormatRatio)
	line("jitter", measure.Jitter, quantity.FormatSeconds)
	line("held by receive window", measure.RwndLimitedRatio, percent)
	line("held by send buffer", measure.SndbufLimitedRatio, percent)
	line("largest cwnd", measure.CwndMax, size)
	line("sender's CPU", measure.CPUSender, percent)
	line("receiver's CPU", measure.CPUReceiver, percent)
	printNotes(w, r)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func printNotes(w io.Writer, r *measure.Result) {
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note: "+strings.TrimSpace(note))
	}
}
