package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/pathwise-net/pathwise/document"
)

// output keeps what a program prints, to a bound: who prints more is not read by people, nor by expectations.
type output struct {
	mu   sync.Mutex
	text []byte
}

// mostOutput is ten times what the longest measurement of a case prints.
const mostOutput = 64 << 20

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b[:min(len(b), mostOutput-len(o.text))]...)
	return len(b), nil
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text
}

// drain reads until the last holder of the other end is gone.
func drain(from *os.File, write func([]byte)) {
	defer from.Close()
	block := make([]byte, 64<<10)
	for {
		n, err := from.Read(block)
		write(block[:n])
		if err != nil {
			return
		}
	}
}

// documentOf is what was printed, if it was one JSON document, or else if its last line is one.
func documentOf(text []byte) any {
	var printed any
	if document.JSON(text, mostOutput, &printed) == nil {
		return printed
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if document.JSON(lines[len(lines)-1], mostOutput, &printed) == nil {
		return printed
	}
	return nil
}

// complaint is the last that a program said, in one line: of its errors, or of all.
func (r *running) complaint() string {
	text := strings.TrimSpace(string(r.errors.bytes()))
	if text == "" {
		text = strings.TrimSpace(string(r.all.bytes()))
	}
	text = text[strings.LastIndex(text, "\n")+1:]
	return text[:min(len(text), 300)]
}

// gist is a program's outcome for people, where it is one of a few numbers that matter.
func (r *running) gist() string {
	for _, one := range []struct {
		path string
		unit unit
	}{
		{"verdict", noUnit}, {"metrics.throughput_bits_per_second", inBits}, {"metrics.rtt_median_seconds", inSeconds},
		{"rate_bits_per_second", inBits}, {"transaction_median_seconds", inSeconds},
		{"end.sum_received.bits_per_second", inBits},
	} {
		way, _ := parsePath(one.path) // a constant
		switch v, _ := way.in(r.document); v := v.(type) {
		case float64:
			return one.unit.format(v)
		case string:
			return v
		}
	}
	return ""
}

// value finds a value in what a program left: by run.status, run.seconds and run.text how it went, and by any other path
// something in its document.
func (r *running) value(way path) (any, error) {
	select {
	case <-r.ended:
	default:
		return nil, errors.New("is still running; wait for it first")
	}
	if r.err != nil {
		return nil, r.err
	}
	if way[0].key != "run" {
		if r.document == nil {
			return nil, fmt.Errorf("printed no JSON document: %s", r.complaint())
		}
		return way.in(r.document)
	}
	return way.in(map[string]any{"run": map[string]any{
		"status": float64(r.status), "seconds": r.took.Seconds(), "text": string(r.all.bytes())}})
}
