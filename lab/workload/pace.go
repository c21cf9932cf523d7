package workload

import (
	"context"
	"time"
)

// pace holds something to a rate. What was not used is lost but for the last few milliseconds, which make up for sleeps
// that end late: a disk or a microphone saves nothing up either.
type pace struct {
	bytesPerSecond float64 // 0: no limit
	due            time.Time
}

// slack is longer than a sleep of a busy machine ends late, and short beside what any of the roles is watched for.
const slack = 20 * time.Millisecond

func newPace(rate rateValue) *pace { return &pace{bytesPerSecond: float64(rate) / 8} }

// pass waits until so many more bytes may go, and returns how long that took. It returns at once when ctx ends.
func (p *pace) pass(ctx context.Context, bytes int) time.Duration {
	if p.bytesPerSecond == 0 {
		return 0
	}
	now := time.Now()
	if earliest := now.Add(-slack); p.due.Before(earliest) {
		p.due = earliest
	}
	p.due = p.due.Add(time.Duration(float64(bytes) / p.bytesPerSecond * float64(time.Second)))
	return sleep(ctx, time.Until(p.due))
}

// step is the most that a paced program moves at once: 10 ms of its rate, so that the flow is even, and one segment at
// least.
func (p *pace) step(most int) int {
	if p.bytesPerSecond == 0 {
		return most
	}
	return max(min(most, int(p.bytesPerSecond/100)), min(most, 1448))
}

// sleep returns after a time, or when ctx ends, and says how long it took.
func sleep(ctx context.Context, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	began, timer := time.Now(), time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return time.Since(began)
}
