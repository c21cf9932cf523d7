package sock

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// holdIdent is set in the environment of a process that takes an identifier from its value on, prints it, and keeps it.
const holdIdent = "SOCK_TEST_HOLD_IDENT"

// An identifier is given once in a network namespace, whichever process has it, until it is freed or the process
// killed.
func TestReserveIdent(t *testing.T) {
	if first, held := os.LookupEnv(holdIdent); held {
		keepIdent(t, first)
		return
	}
	const last = 0xffff
	inNamespace(t, func() {
		reserve := func(want uint16) ident {
			i, err := reserveIdent(last)
			if err != nil || i.number != want {
				t.Errorf("%d, %v; want %d", i.number, err, want)
			}
			return i
		}
		mine := reserve(last)
		inNamespace(t, func() { reserve(last).free() }) // another host
		other := exec.Command(os.Args[0], "-test.run=^TestReserveIdent$")
		other.Env = append(os.Environ(), fmt.Sprintf("%s=%d", holdIdent, last))
		stdin, err := other.StdinPipe()
		if err != nil {
			t.Error(err)
			return
		}
		defer stdin.Close() // which ends it, if nothing else does
		stdout, err := other.StdoutPipe()
		if err == nil {
			err = other.Start()
		}
		if err != nil {
			t.Error(err)
			return
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if line != "0\n" {
			t.Errorf("another process got %q, %v; want 0, the next after the last", line, err)
		}
		reserve(1).free()
		mine.free()
		reserve(last).free()
		mine = reserve(last)
		defer mine.free()
		if err := other.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = other.Wait() // says that it was killed
		reserve(0).free()
	})
}

// keepIdent is what the other process does.
func keepIdent(t *testing.T, first string) {
	number, err := strconv.ParseUint(first, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	i, err := reserveIdent(uint16(number))
	if err != nil {
		t.Fatal(err)
	}
	defer i.free()
	fmt.Println(i.number)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent closes it or ends
}
