package wait

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// watched is a Waiter for the reading end of a pipe, under mark 3.
func watched(t *testing.T) (w *Waiter, writer *os.File, fd int) {
	t.Helper()
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	fd = int(reader.Fd())
	if err := w.Add(fd, 3); err != nil {
		t.Fatal(err)
	}
	return w, writer, fd
}

func clock() func() int64 {
	began := time.Now()
	return func() int64 { return int64(time.Since(began)) }
}

// A wait ends when its time has come, not before, and by nothing else.
func TestUntilTime(t *testing.T) {
	w, _, _ := watched(t)
	if err := w.Prefer(); err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	now := clock()
	for _, wait := range []time.Duration{0, 20 * time.Microsecond, time.Millisecond, 7 * time.Millisecond} {
		due := now() + int64(wait)
		for now() < due { // it may end early
			if err := w.Until(now, due, true); err != nil {
				t.Fatal(err)
			}
		}
		if len(w.Events()) > 0 {
			t.Errorf("%v: events %v", wait, w.Events())
		}
	}
}

// A wait ends when something comes, also where nothing is due, or was due long ago.
func TestUntilEvent(t *testing.T) {
	for _, test := range []struct {
		name    string
		due     int64
		pending bool
	}{{"nothing due", 0, false}, {"due in an hour", int64(time.Hour), true}, {"due long ago", -1, true}} {
		w, writer, fd := watched(t)
		if _, err := writer.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if err := w.Until(clock(), test.due, test.pending); err != nil {
			t.Fatal(err)
		}
		if got := w.Events(); len(got) != 1 || got[0] != (Event{Mark: 3}) {
			t.Errorf("%s: events %v, want one of mark 3", test.name, got)
		}
		w.Forget()
		w.Remove(fd)
		if err := w.Rest(0); err != nil || len(w.Events()) > 0 {
			t.Errorf("%s: events %v of what was removed, %v", test.name, w.Events(), err)
		}
	}
}

// An end that is gone is told as failed.
func TestFailed(t *testing.T) {
	w, writer, _ := watched(t)
	writer.Close()
	if err := w.Until(clock(), 0, false); err != nil {
		t.Fatal(err)
	}
	if got := w.Events(); len(got) != 1 || got[0] != (Event{Mark: 3, Failed: true}) {
		t.Errorf("events %v, want a failed one", got)
	}
}

// Poke ends the next wait, and is no event.
func TestPoke(t *testing.T) {
	w, _, _ := watched(t)
	w.Poke()
	if err := w.Until(clock(), 0, false); err != nil || len(w.Events()) > 0 {
		t.Errorf("events %v, %v", w.Events(), err)
	}
}

// A signal that ends a wait does not make it watch the clock until what is due: it returns, for its caller to wait again.
func TestSignal(t *testing.T) {
	w, _, _ := watched(t)
	tid, ended := make(chan int), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the thread that is signalled
		tid <- unix.Gettid()
		_ = w.Until(clock(), int64(time.Minute), true)
		close(ended)
	}()
	id := <-tid
	for {
		select {
		case <-ended:
			return
		default:
			_ = unix.Tgkill(os.Getpid(), id, unix.SIGURG) // Go's own, and harmless
		}
	}
}
