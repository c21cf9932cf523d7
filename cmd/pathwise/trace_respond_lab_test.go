package main

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// responderStarts is how long a responder may take to say that it listens: a tenth of a second on a machine that does nothing else.
const responderStarts = 20 * time.Second

// respondOn runs `pathwise respond` on a host of kernel routers until the test ends, and returns when it listens. What is given goes before the command, such as asNobody(nil).
func (k *kernelRouters) respondOn(host string, before ...string) {
	k.t.Helper()
	argv := slices.Concat([]string{"ip", "netns", "exec", k.name + "-" + host}, before, []string{lab.Self(), "respond"})
	out, write, err := os.Pipe()
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { out.Close() })
	c := exec.Command(argv[0], argv[1:]...)
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), actAsPathwise+"=1"), write, os.Stderr
	err = c.Start()
	write.Close()
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if err := out.SetReadDeadline(time.Now().Add(responderStarts)); err != nil {
		k.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says one line, when it listens
		k.t.Fatalf("%q says %q, and no whole line: %v", argv, line, err)
	}
}
