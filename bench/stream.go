package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
)

// stream is UDP packets one way, evenly sent.
type stream struct {
	rate    int // packets/s
	bytes   int // of an IP packet
	seconds int
}

func (s stream) packets() int { return s.rate * s.seconds }

// bitsPerSecond of IP at so many packets/s.
func (s stream) bitsPerSecond(rate float64) float64 { return rate * float64(8*s.bytes) }

// streamPort is where sinks listen: the discard protocol's (RFC 863).
const streamPort = 9

// Arguments of the two ends.
func (s stream) blastArgs(address string) []string {
	return []string{blastFlag, fmt.Sprintf("%s:%d", address, streamPort), strconv.Itoa(s.rate), strconv.Itoa(s.bytes), strconv.Itoa(s.seconds)}
}

func (s stream) sinkArgs(options ...string) []string {
	return append([]string{sinkFlag, strconv.Itoa(streamPort), strconv.Itoa(s.packets())}, options...)
}

// parseStream reads PACKETS/S BYTES SECONDS.
func parseStream(args []string) (s stream, err error) {
	for i, to := range []*int{&s.rate, &s.bytes, &s.seconds} {
		if *to, err = strconv.Atoi(args[i]); err != nil {
			return stream{}, err
		}
	}
	return s, nil
}

// run sends from one host to the address of another, and returns what the sender did and what the sink printed.
func (s stream) run(ctx context.Context, l *lab.Lab, from, to, address string, options ...string) (blasted, string, error) {
	self, err := os.Executable()
	if err != nil {
		return blasted{}, "", fmt.Errorf("find this program: %w", err)
	}
	sink, err := start(ctx, l, to, sinkReady, append([]string{self}, s.sinkArgs(options...)...)...)
	if err != nil {
		return blasted{}, "", err
	}
	printed, sendErr := output(ctx, l, from, append([]string{self}, s.blastArgs(address)...)...)
	if sendErr != nil {
		_ = sink.process.Kill()
	}
	received, err := sink.wait()
	if err := errors.Join(sendErr, err); err != nil {
		return blasted{}, "", err
	}
	var sent blasted
	if err := json.Unmarshal([]byte(printed), &sent); err != nil {
		return blasted{}, "", fmt.Errorf("read what the sender printed: %w", err)
	}
	return sent, received, nil
}

// readCount reads what a sink without stamps printed.
func readCount(printed string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(printed))
	if err != nil {
		return 0, fmt.Errorf("read what the sink printed: %w", err)
	}
	return n, nil
}

// readArrivals reads what a sink with stamps printed.
func readArrivals(printed string) ([]arrival, error) {
	var arrivals []arrival
	for line := range strings.Lines(printed) {
		number, stamp, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read what the sink printed: %w", err)
		}
		t, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read what the sink printed: %w", err)
		}
		arrivals = append(arrivals, arrival{n, t})
	}
	return arrivals, nil
}

func printJSON(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}
