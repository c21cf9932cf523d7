package traffic

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// clause is what a statement says of a flow, while it is read.
type clause struct {
	flow     *Flow
	shape    Shape
	captures Captures
	whole    bool // it is a flow and not a change of one
	seen     []string
	file     string
	port     int
}

// patterns are the words that stand alone.
var patterns = []Pattern{Constant, Poisson, OnOff, Frames, Replay}

func (c *clause) read(words []string) error {
	for i := 0; i < len(words); i++ {
		key := words[i]
		if c.whole && (key == "forward" || key == "reverse") {
			if slices.Contains(c.seen, "way") {
				return fmt.Errorf("%q: it has a way already", key)
			}
			c.seen, c.flow.Reverse = append(c.seen, "way"), key == "reverse"
			continue
		}
		if slices.Contains(patterns, Pattern(key)) {
			if slices.Contains(c.seen, "pattern") {
				return fmt.Errorf("%q: it has a pattern already", key)
			}
			if !c.whole && Pattern(key) == Replay {
				return errors.New("a flow replays a capture from its start, or not at all")
			}
			c.seen, c.shape.Pattern = append(c.seen, "pattern"), Pattern(key)
			continue
		}
		if i++; i == len(words) {
			return fmt.Errorf("%q: want a value behind it", key)
		}
		if slices.Contains(c.seen, key) {
			return fmt.Errorf("%s: it is there twice", key)
		}
		c.seen = append(c.seen, key)
		if err := c.set(key, words[i]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// set reads the value of a key.
func (c *clause) set(key, value string) (err error) {
	s := &c.shape
	switch {
	case key == "start" && c.whole:
		c.flow.Start, err = parseTime(value)
	case key == "end" && c.whole:
		c.flow.End, err = parseTime(value)
	case key == "file" && c.whole:
		c.file = value
	case key == "port" && c.whole:
		if c.port, err = strconv.Atoi(value); err != nil || c.port < 1 || c.port > 65535 {
			err = fmt.Errorf("%q: want a number from 1 to 65535", value)
		}
	case key == "rate":
		s.Rate, err = parseRate(value)
	case key == "size":
		s.Size, err = parseSize(value, LeastBytes, MostBytes)
	case key == "frame":
		s.Frame, err = parseSize(value, LeastBytes, mostFrame)
	case key == "every":
		if s.Every, err = parseTime(value); err == nil && s.Every < leastGap {
			err = fmt.Errorf("%v: want at least %v", s.Every, leastGap)
		}
	case key == "on":
		s.On, err = parseSpell(value)
	case key == "off":
		s.Off, err = parseSpell(value)
	case key == "dscp":
		s.DSCP, err = quantity.ParseDSCP(value)
	default:
		err = errors.New("want one of start, end, rate, size, dscp, on, off, frame, every, file, port, of the ways forward, reverse, or of the patterns constant, poisson, onoff, frames, replay")
		if !c.whole {
			err = errors.New("want one of rate, size, dscp, on, off, frame, every, or of the patterns constant, poisson, onoff, frames")
		}
	}
	return err
}

const (
	// leastGap between packets of a flow on average, and between frames: more than a million packets a second nobody sends from one thread.
	leastGap = time.Microsecond
	// mostFrame is an uncompressed picture of 4096 by 2160 points.
	mostFrame = 64 << 20
)

// parseRate reads 50/s as packets, and anything else as bit/s.
func parseRate(text string) (r Rate, err error) {
	if packets, is := strings.CutSuffix(text, "/s"); is && !strings.HasSuffix(packets, "bit") && !strings.HasSuffix(packets, "B") && !strings.HasSuffix(packets, "b") {
		r.Packets, err = strconv.ParseFloat(packets, 64)
		if err != nil || !(r.Packets > 0 && r.Packets <= 1e6) {
			return Rate{}, fmt.Errorf("%q: want packets a second, from above 0 to 1000000, such as 50/s", text)
		}
		return r, nil
	}
	r.Bits, err = quantity.ParseRate(text)
	if err == nil && !(r.Bits > 0) {
		err = fmt.Errorf("%q: want more than 0", text)
	}
	return r, err
}

// parseSpell reads a time, or ~ and the mean of times that are drawn.
func parseSpell(text string) (s Spell, err error) {
	mean, drawn := strings.CutPrefix(text, "~")
	s.Drawn = drawn
	if s.Mean, err = parseTime(mean); err == nil && s.Mean < time.Millisecond {
		err = fmt.Errorf("%v: want at least 1ms", s.Mean)
	}
	return s, err
}

// complete checks a flow that was read, and gives it its first phase.
func (f *Flow) complete(c *clause) error {
	switch {
	case c.shape.Pattern == "":
		return errors.New("want a pattern: constant, poisson, onoff, frames or replay")
	case (c.shape.Pattern == Replay) != (c.file != ""), c.file == "" && c.port != 0:
		return errors.New("want a capture for replay, and for nothing else: replay file call.pcap")
	}
	f.Phases = []Phase{{At: f.Start, Shape: c.shape}}
	if err := f.checkWay(); err != nil {
		return err
	}
	if c.file != "" {
		if c.captures == nil {
			return errors.New("captures are replayed from the command line alone")
		}
		var err error
		if f.Recorded, err = c.captures(c.file, c.port); err != nil {
			return fmt.Errorf("replay %s: %w", c.file, err)
		}
		if len(f.Recorded) == 0 {
			return fmt.Errorf("replay %s: it has no packet to send", c.file)
		}
		if f.End == 0 { // the next millisecond behind its last packet
			f.End = f.Start + f.Recorded[len(f.Recorded)-1].After.Truncate(time.Millisecond) + time.Millisecond
		}
	}
	if f.End <= f.Start {
		return fmt.Errorf("it ends at %v, and starts at %v: give a later end", f.End, f.Start)
	}
	return c.shape.check()
}

// checkWay says what is wrong with the way of a flow.
func (f *Flow) checkWay() error {
	if f.Reverse && f.Phases[0].Shape.Pattern == Replay {
		return errors.New("a capture is replayed from this host, and not in reverse")
	}
	return nil
}

// check says what a shape lacks.
func (s *Shape) check() error {
	sized := len(s.Size.Mixture) > 0 || s.Size.High > 0
	switch s.Pattern {
	case Replay:
		return nil
	case Frames:
		if s.Frame.High == 0 && len(s.Frame.Mixture) == 0 || s.Every == 0 || s.Size.High == 0 || s.Size.Low != s.Size.High {
			return errors.New("want bytes of a frame, the time between frames, and one size of packets: frames frame 12kB every 40ms size 1200")
		}
		return nil
	case OnOff:
		if s.On.Mean == 0 || s.Off.Mean == 0 {
			return errors.New("want how long it is on and off: onoff on 500ms off 1s rate 50/s size 200")
		}
	}
	if s.Rate == (Rate{}) || !sized {
		return fmt.Errorf("want rate and size: %s rate 50/s size 200", s.Pattern)
	}
	least, _ := s.Size.bounds()
	if gap := s.Rate.gap(float64(least)); gap < float64(leastGap) {
		return fmt.Errorf("rate: packets of %d bytes would leave less than %v apart", least, leastGap)
	}
	return nil
}

// gap is the time that a packet of so many bytes takes at a rate, in nanoseconds.
func (r Rate) gap(bytes float64) float64 {
	if r.Packets > 0 {
		return 1e9 / r.Packets
	}
	return 8e9 * bytes / r.Bits
}
