package workload

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/sys/unix"
)

// Transfer is what a source, a sink or a copy moved. Rates are of payload, over Seconds.
type Transfer struct {
	Role           string      `json:"role"`
	Bytes          int64       `json:"bytes"`
	Seconds        float64     `json:"seconds"` // from the first byte until the last had been taken
	Rate           float64     `json:"rate_bits_per_second"`
	ConnectSeconds float64     `json:"connect_seconds,omitempty"`
	CPURatio       float64     `json:"cpu_ratio"`               // of one processor, by this program
	WaitSeconds    float64     `json:"wait_seconds"`            // held back by itself: its rate, its pauses, its disk
	CloseSeconds   float64     `json:"close_seconds,omitempty"` // from the last write until the far end had all
	Connections    int         `json:"connections,omitempty"`   // that a sink took
	Connection     *Connection `json:"connection,omitempty"`    // of the sending end
	Error          string      `json:"error,omitempty"`         // what ended it early
}

// finish fills in what follows from the rest.
func (t *Transfer) finish(began time.Time, cpu time.Duration) {
	t.Seconds = time.Since(began).Seconds()
	if t.Seconds > 0 {
		t.Rate = float64(t.Bytes) * 8 / t.Seconds
		t.CPURatio = (processorTime() - cpu).Seconds() / t.Seconds
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// source is a program that sends.
type source struct {
	*options
	duration, every *spanValue
	patience        *spanValue
	bytes, write    *sizeValue
	burst           *sizeValue
	rate            *rateValue
	work, cipher    int
}

func runSource(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	s := source{options: optionFlags(f)}
	s.duration = spanFlag(f, "t", 3*time.Second, "how long to send")
	s.bytes = sizeFlag(f, "n", 0, "send so much, however long it takes")
	s.write = sizeFlag(f, "write", 64<<10, "bytes of each write")
	s.rate = rateFlag(f, "rate", "make data at this rate")
	s.burst = sizeFlag(f, "burst", 0, "make so much at once, then rest")
	s.every = spanFlag(f, "every", 200*time.Millisecond, "time between the beginnings of bursts")
	s.patience = spanFlag(f, "patience", 10*time.Second, "how long the far end may take for what is left at the end")
	f.IntVar(&s.work, "work", 0, "times to hash each write first, as a cipher would keep the processor busy")
	f.IntVar(&s.cipher, "cipher", 0, "times to encrypt each write first, under the name of ssh, by which it is known that it does")
	plain, err := parse(f, args, "HOST:PORT")
	if err != nil {
		return nil, err
	}
	if s.cipher > 0 {
		if err := os.WriteFile("/proc/self/comm", []byte("ssh"), 0); err != nil {
			return nil, fmt.Errorf("take the name of ssh: %w", err)
		}
	}
	if *s.write < 1 || *s.write > 1<<20 {
		return nil, input.Errorf("source: write: %d: want 1 to 1048576 bytes", *s.write)
	}
	c, took, err := s.dial(ctx, plain[0])
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return s.send(ctx, c, took), nil
}

// send writes until it is enough, ends its half of the connection and waits for the far end to end the other, which says
// that all has been read.
func (s *source) send(ctx context.Context, c *net.TCPConn, took time.Duration) *Transfer {
	t := &Transfer{Role: "source", ConnectSeconds: took.Seconds()}
	began, cpu := time.Now(), processorTime()
	kernel := watch(c)
	limited, cancel := context.WithTimeout(ctx, time.Duration(*s.duration))
	if *s.bytes > 0 {
		limited, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) })
	err := s.produce(limited, c, t)
	stop()
	if limited.Err() == nil && err != nil {
		t.Error = err.Error()
	}
	ended := time.Now()
	t.Connection = kernel.stop()
	if err := s.await(ctx, c); err != nil && t.Error == "" {
		t.Error = err.Error()
	}
	t.CloseSeconds = time.Since(ended).Seconds()
	t.finish(began, cpu)
	return t
}

// await bounds how long it waits: a path that passes nothing must not hold it for ever.
func (s *source) await(ctx context.Context, c *net.TCPConn) error {
	if err := c.CloseWrite(); err != nil {
		return fmt.Errorf("end connection: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })()
	_ = c.SetReadDeadline(time.Now().Add(time.Duration(*s.patience)))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("await far end: %w", err)
	}
	return nil
}

// produce makes data and writes it.
func (s *source) produce(ctx context.Context, c net.Conn, t *Transfer) error {
	pace := newPace(*s.rate)
	block := make([]byte, *s.write)
	encrypt, err := s.encrypts()
	if err != nil {
		return err
	}
	began, bursts := time.Now(), 0
	for ctx.Err() == nil && (*s.bytes == 0 || t.Bytes < int64(*s.bytes)) {
		want := pace.step(len(block))
		if *s.bytes > 0 {
			want = int(min(int64(want), int64(*s.bytes)-t.Bytes))
		}
		if *s.burst > 0 {
			left := int64(*s.burst)*int64(bursts+1) - t.Bytes
			want = int(min(int64(want), left))
		}
		for range s.work {
			sum := sha256.Sum256(block[:want])
			copy(block, sum[:])
		}
		encrypt(block[:want])
		n, err := c.Write(block[:want])
		t.Bytes += int64(n)
		if err != nil {
			return fmt.Errorf("send: %w", err)
		}
		waited := pace.pass(ctx, n)
		if *s.burst > 0 && t.Bytes >= int64(*s.burst)*int64(bursts+1) {
			bursts++
			waited += sleep(ctx, time.Until(began.Add(time.Duration(bursts)*time.Duration(*s.every))))
		}
		t.WaitSeconds += waited.Seconds()
	}
	return nil
}

// encrypts returns what encrypts a block so many times, as ssh does by default once.
func (s *source) encrypts() (func(block []byte), error) {
	aead, err := chacha20poly1305.New(make([]byte, chacha20poly1305.KeySize))
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	nonce, sealed := make([]byte, aead.NonceSize()), []byte(nil)
	return func(block []byte) {
		for range s.cipher {
			sealed = aead.Seal(sealed[:0], nonce, block, nil)
			copy(block, sealed)
		}
	}, nil
}

// pace holds something to a rate. What was not used is lost but for the last few milliseconds, which make up for sleeps
// that end late: a disk or a microphone saves nothing up either.
type pace struct {
	bytesPerSecond float64 // 0: no limit
	due            time.Time
	wait           func(context.Context, time.Duration) time.Duration // as sleep
}

// slack is longer than a sleep of a busy machine ends late, and short beside what any of the roles is watched for.
const slack = 20 * time.Millisecond

func newPace(rate rateValue) *pace { return &pace{bytesPerSecond: float64(rate) / 8, wait: sleep} }

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
	return p.wait(ctx, time.Until(p.due))
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
