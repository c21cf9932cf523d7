package fleet

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// visited is a host to visit, whose folder for what is temporary is tmp, and which is called by a script as our binary.
func visited(t *testing.T, script string) (reach *SSH, tmp string) {
	t.Helper()
	tmp = t.TempDir()
	d := startSSHDWith(t, "SetEnv TMPDIR="+tmp+"\n")
	reach = d.runner(t, script)
	return reach, tmp
}

// untilInputEnds is a program that says something, and ends with its standard input.
const untilInputEnds = `echo "said $1"; exec cat >/dev/null`

// start begins a visit.
func start(t *testing.T, ctx context.Context, reach *SSH, arguments ...string) *Visit {
	t.Helper()
	v, err := reach.Visit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Start(ctx, arguments...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// gone fails if anything of a visit is left on the host, within the time that waitFor has.
func gone(t *testing.T, tmp string) {
	t.Helper()
	waitFor(t, "nothing is left in "+tmp, func() bool {
		left, err := os.ReadDir(tmp)
		return err == nil && len(left) == 0 && len(processesWith(t, tmp)) == 0
	})
}

// While a visit lasts, the program runs in a folder that is the user's alone, and can be run once more; afterwards nothing is left.
func TestVisit(t *testing.T) {
	t.Parallel()
	reach, tmp := visited(t, `[ "$1" = twice ] && { echo "$2 $(cat | wc -c)"; exit 3; }`+"\n"+untilInputEnds)
	v := start(t, t.Context(), reach, "it's")
	if line, err := bufio.NewReader(v.Stdout).ReadString('\n'); err != nil || line != "said it's\n" {
		t.Errorf("it printed %q, %v", line, err)
	}
	info, err := os.Stat(v.Folder)
	if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(v.Folder) != tmp {
		t.Errorf("folder %s: %v, %v", v.Folder, info, err)
	}
	if binary, err := os.ReadFile(reach.Binaries[runtime.GOOS+"/"+runtime.GOARCH]); err != nil || v.Size != int64(len(binary)) || len(v.Hash) != 64 {
		t.Errorf("%d bytes, SHA-256 %s, %v", v.Size, v.Hash, err)
	}
	if v.Local.String() != "127.0.0.1" || v.Remote != v.Local {
		t.Errorf("from %s to %s", v.Remote, v.Local)
	}
	var out strings.Builder
	if status, _, err := v.Run(t.Context(), &out, "twice", "as well"); status != 3 || err != nil || out.String() != "as well 0\n" {
		t.Errorf("run once more: status %d, %v, printed %q", status, err, out.String())
	}
	select {
	case <-v.Over():
		t.Error("it has ended: ", v.Says())
	default:
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 { // at once
		t.Errorf("left: %v, %v", left, err)
	}
}

// A connection that is lost, with no word to the program, ends it and takes all away; the visit says that it cannot see that.
func TestVisitLost(t *testing.T) {
	t.Parallel()
	reach, tmp := visited(t, untilInputEnds)
	v := start(t, t.Context(), reach)
	v.client.Close()
	<-v.Over()
	if err := v.Close(); err == nil || !strings.Contains(err.Error(), v.Folder) {
		t.Errorf("after the connection was lost: %v", err)
	}
	gone(t, tmp)
}

// Who gives up while the binary is pushed, or the program begins, leaves nothing.
func TestVisitGivenUp(t *testing.T) {
	t.Parallel()
	reach, tmp := visited(t, untilInputEnds)
	v, err := reach.Visit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Start(ctx); err == nil {
		t.Error("it began")
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	gone(t, tmp)
}

// A host without room, in a folder where programs may not run, or with another sum of what arrived, is told so, and left as it was.
func TestVisitRefused(t *testing.T) {
	t.Parallel()
	big := untilInputEnds + "\n" + strings.Repeat("# a line of no meaning\n", 1<<17) // 3 MB
	for name, c := range map[string]struct{ mount, script, want string }{
		"full disk":       {"size=1m", big, "No space left on device"},
		"no programs run": {"noexec", untilInputEnds, "ermission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			mount := "mount -t tmpfs -o " + c.mount + " none " + tmp
			if err := exec.Command("unshare", "-m", "sh", "-c", mount).Run(); err != nil {
				t.Skip("nothing can be mounted here: ", err)
			}
			d := startSSHDWith(t, "SetEnv TMPDIR="+tmp+" HOME="+tmp+"\n", "unshare", "-m", "sh", "-c", mount+` && exec "$@"`, "sh")
			reach := d.runner(t, c.script)
			v, err := reach.Visit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = v.Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), tmp) {
				t.Errorf("it began, or said not why: %v", err)
			}
			out, err := command(t.Context(), v.client, "ls -A "+quote(tmp), nil)
			if err != nil || out != "" {
				t.Errorf("left: %q, %v", out, err)
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A folder without room is passed over for the user's home.
func TestVisitInHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	d := startSSHDWith(t, "SetEnv TMPDIR="+filepath.Join(home, "not-there")+" HOME="+home+"\n")
	v := start(t, t.Context(), d.runner(t, untilInputEnds))
	if filepath.Dir(v.Folder) != home {
		t.Errorf("it is in %s, want it in %s", v.Folder, home)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	gone(t, home)
}

// What arrives is run only if it is what was sent.
func TestVisitChecksSum(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	script := strings.NewReplacer("SIZE", "6", "HASH", strings.Repeat("0", 64), "ARGUMENTS", "").Replace(visitScript)
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var says strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("exit 0"), io.Discard, &says
	if err := cmd.Run(); err == nil || !strings.Contains(says.String(), "SHA-256") {
		t.Errorf("%v, it said %q", err, says.String())
	}
	gone(t, tmp)
}
