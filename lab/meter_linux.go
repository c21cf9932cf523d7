package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// meterInterval is how fresh a Meter is, within what people notice, at no cost that could be measured.
const meterInterval = 50 * time.Millisecond

// keepMeter opens what the lab's processes may read of the engine, and brings it up to date for as long as the lab stands. It
// returns the variables that name it to them.
func (e *engine) keepMeter() (variables []string, err error) {
	meter, err1 := newSharedFile("pathwise-meter")
	counters, err2 := newSharedFile("pathwise-adapters")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := errors.Join(meter.write(Meter{}.bytes()), counters.write([]byte("{}"))); err != nil {
		return nil, fmt.Errorf("write meter: %w", err)
	}
	go func() {
		last, handled := Meter{}, int64(0)
		for range time.Tick(meterInterval) {
			m, all, seen := e.pump.meter()
			if seen == handled { // where nothing moves nothing overflows
				continue
			}
			handled, m.Overflowed = seen, e.pump.overflowed()
			if m != last {
				last = m
				_ = meter.write(m.bytes())
			}
			if len(all) > 0 {
				text, _ := json.Marshal(all) // numbers and names always can be
				_ = counters.write(text)
			}
		}
	}()
	return []string{MeterVariable + "=" + meter.path, AdapterVariable + "=" + counters.path}, nil
}

// meter returns what the pump knows of a Meter and of adapters, and how many packets it has handled so far.
func (u *pump) meter() (m Meter, all adapters, handled int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Meter{Packets: u.network.handed, Late: u.network.late, Refused: u.refusals}, u.network.adapters(), u.handled
}

// overflowed adds up what the kernel dropped at all devices. It takes system calls, so the pump's lock is not held.
func (u *pump) overflowed() (n uint64) {
	u.looking.Lock()
	defer u.looking.Unlock()
	for _, d := range u.devices {
		if d != nil {
			n += d.overflowed()
		}
	}
	return n
}
