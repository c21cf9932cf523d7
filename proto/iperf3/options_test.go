package iperf3

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options that change how data leaves, and not how much comes.
func TestOptionsOfSenders(t *testing.T) {
	stock, _ := stockServer(t)
	own := serve(t, Policy{})
	for name, c := range map[string]Config{
		"blocks":         {Blocks: 31, Length: 10_000},
		"blocks back":    {Blocks: 31, Length: 10_000, Reverse: true},
		"blocks of UDP":  {Proto: UDP, Blocks: 50, Length: 1000, Rate: 20_000_000},
		"zero copy":      {Bytes: 5_000_001, ZeroCopy: true},
		"zero copy back": {Blocks: 50, ZeroCopy: true, Reverse: true},
		"kernel's rate":  {Bytes: 3_000_000, FQRate: 40_000_000},
		"bursts":         {Bytes: 3_000_000, Rate: 40_000_000, Burst: 5},
		"bursts of UDP":  {Proto: UDP, Bytes: 500_000, Length: 1000, Rate: 40_000_000, Burst: 10},
	} {
		for peer, addr := range map[string]string{"stock": stock, "own": own} {
			r := retry(t, addr, c)
			way := directions(c)[0]
			sum := r.Total(way)
			want := c.Bytes + c.Blocks*int64(r.Config.Length)
			if sum.ReceivedBytes < want-2*int64(r.Config.Length) || sum.ReceivedBytes > want+int64(max(r.Config.Length, writeSize)) {
				t.Errorf("%s, %s: %d bytes came, want %d", name, peer, sum.ReceivedBytes, want)
			}
			if rate := max(c.Rate, c.FQRate); rate > 0 && sum.ReceivedBytes > 900_000 && sum.Goodput() > 2*float64(rate) {
				t.Errorf("%s, %s: %.3g bit/s, held to %d", name, peer, sum.Goodput(), rate)
			}
		}
	}
}

// What the far end printed comes with the results, from either sort of it, and to a stock client.
func TestServerOutput(t *testing.T) {
	stock, _ := stockServer(t)
	own := serve(t, Policy{})
	for peer, addr := range map[string]string{"stock": stock, "own": own} {
		for _, proto := range []string{TCP, UDP} {
			r := retry(t, addr, Config{Proto: proto, Duration: 1200 * time.Millisecond, Rate: 1_000_000, ServerOutput: true})
			if strings.Count(r.ServerOutput, "\n") < 3 || !strings.Contains(r.ServerOutput, "receiver") {
				t.Errorf("%s, %s: output %q", peer, proto, r.ServerOutput)
			}
		}
	}
	if r, status := stockClient(t, own, "-t", "1", "-b", "1M", "--get-server-output"); status != 0 || !strings.Contains(r.ServerOutput, "receiver") {
		t.Errorf("a stock client has status %d and output %q", status, r.ServerOutput)
	}
}

// Both ends by MPTCP, where this kernel has it; a server that listens for it serves plain TCP alike.
func TestMPTCP(t *testing.T) {
	if text, err := os.ReadFile("/proc/sys/net/mptcp/enabled"); err != nil || strings.TrimSpace(string(text)) != "1" {
		t.Skip("this kernel has no MPTCP")
	}
	addr := serveOn(t, Policy{MPTCP: true}, ListenMPTCP)
	for _, reverse := range []bool{false, true} {
		r := run(t, addr, Config{Bytes: 3_000_000, MPTCP: true, Reverse: reverse})
		if sum := r.Total(directions(r.Config)[0]); sum.ReceivedBytes != 3_000_000 || sum.SentBytes < 2_700_000 || sum.SentBytes > 3_000_000 || len(r.Notes) > 0 {
			t.Errorf("reverse %v: sent %d, received %d, notes %q", reverse, sum.SentBytes, sum.ReceivedBytes, r.Notes)
		}
	}
	if r := run(t, addr, Config{Bytes: 3_000_000}); r.Total(Forward).ReceivedBytes != 3_000_000 {
		t.Errorf("by TCP: %+v", r.Total(Forward))
	}
	stock, _ := stockServer(t)
	if r := retry(t, stock, Config{Bytes: 1_000_000, MPTCP: true}); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "plain TCP") {
		t.Errorf("at a server without it the notes are %q", r.Notes)
	}
	if _, err := (&Client{Addr: serve(t, Policy{}), Config: Config{Bytes: 1000, MPTCP: true}}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not implemented") {
		t.Errorf("at a responder that does not listen for it: %v", err)
	}
}

// Twenty stock clients at once against one server: each ends well, and has what it sent. They ask for a number of bytes, whole blocks as a
// server sends them: a client that ends by its clock leaves unread what comes while the other nineteen keep it from the processor.
func TestTwentyStockClients(t *testing.T) {
	addr := serve(t, Policy{MaxTests: 20})
	var group sync.WaitGroup
	for i := range 20 {
		args, within := []string{"-n", "640K", "-b", "5M"}, leftUnread // of an acknowledgement that is on its way
		switch i % 4 {
		case 1:
			args = append(args, "-R")
		case 2:
			args, within = append(args, "-u", "-l", "1200"), countedApart
		case 3:
			args = append(args, "-P", "2")
		}
		group.Go(func() {
			r, status := stockClient(t, addr, args...)
			if status != 0 || r.Error != "" {
				t.Errorf("%v: status %d, %q", args, status, r.Error)
				return
			}
			closeTo(t, strings.Join(args, " "), r.End.Sent, r.End.Received, within)
		})
	}
	group.Wait()
}

// mixed draws the options of a run, as a stock client has them and as ours does. Rates are such that a busy machine sustains them; what ends with a number
// of bytes is compared to the byte, within what a stock end leaves unread.
func mixed(random *rand.Rand, seconds int) (args []string, c Config) {
	add := func(words ...string) { args = append(args, words...) }
	length := 1000 + random.IntN(20)*100
	udp := random.IntN(3) == 0
	rate := int64(2+random.IntN(8)) * 1_000_000
	c.Rate, c.Duration = rate, time.Duration(seconds)*time.Second
	add("-b", strconv.FormatInt(rate, 10), "-t", strconv.Itoa(seconds))
	if udp {
		length = 200 + random.IntN(12)*100
		c.Proto = UDP
		add("-u", "--udp-counters-64bit")
	}
	if random.IntN(2) == 0 {
		c.Length = length
		add("-l", strconv.Itoa(length))
	}
	switch random.IntN(4) {
	case 0:
		c.Reverse = true
		add("-R")
	case 1:
		c.Bidir = true
		add("--bidir")
	}
	if random.IntN(2) == 0 {
		c.Parallel = 1 + random.IntN(4)
		add("-P", strconv.Itoa(c.Parallel))
	}
	if random.IntN(4) == 0 {
		c.DSCP = 8 * random.IntN(8)
		add("-S", strconv.Itoa(c.DSCP<<2))
	}
	if udp {
		return args, c
	}
	for _, one := range []func(){
		func() { c.NoDelay = true; add("-N") },
		func() { c.MSS = 1000; add("-M", "1000") },
		func() { c.Congestion = "reno"; add("-C", "reno") },
		func() { c.ZeroCopy = true; add("-Z") },
		func() { c.Window = 200_000; add("-w", "200000") },
		func() { c.ServerOutput = true; add("--get-server-output") },
	} {
		if random.IntN(4) == 0 {
			one()
		}
	}
	return args, c
}

// slice reads how many runs there are to be, such as 50, or which of them, such as 25-49.
func slice(text string) (first, last int, err error) {
	from, to, isSlice := strings.Cut(text, "-")
	if !isSlice {
		from, to = "0", text
	}
	if first, err = strconv.Atoi(from); err != nil {
		return 0, 0, err
	}
	if last, err = strconv.Atoi(to); !isSlice {
		last--
	}
	return first, last, err
}

// Runs with options drawn at random, with a stock iperf3 in each role in turn, end well and agree. PATHWISE_IPERF3_MIXED says how many in each role; 3 unless it
// is set. With 25-49 it is those of these numbers alone, with the options that they have among all, so that many can be run in slices.
func TestMixedOptions(t *testing.T) {
	// What one end has not read when it is told to stop is of the 10 to 20 ms of a wake-up and of a write: of a second, more than the hundredth asked for.
	first, last, seconds, within := 0, 2, 1, leftUnread
	if text := os.Getenv("PATHWISE_IPERF3_MIXED"); text != "" {
		var err error
		if first, last, err = slice(text); err != nil {
			t.Fatal(err)
		}
		seconds, within = 4, 0.01
	}
	own := serve(t, Policy{})
	stock, _ := stockServer(t)
	random := rand.New(rand.NewPCG(17, 1))
	for i := range last + 1 {
		args, c := mixed(random, seconds)
		if i < first {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i, strings.Join(args, " ")), func(t *testing.T) {
			r, status := stockClient(t, own, args...)
			if status != 0 || r.Error != "" {
				t.Errorf("stock client: status %d, %q", status, r.Error)
			}
			closeTo(t, "stock client", r.End.Sent, r.End.Received, within)
			if c.Bidir {
				closeTo(t, "stock client, reverse", r.End.SentBack, r.End.ReceivedBck, within)
			}
			agree(t, retry(t, stock, c), directions(c), within)
		})
	}
}
