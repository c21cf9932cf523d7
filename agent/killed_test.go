package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const agentDir = "PATHWISE_TEST_AGENT_DIR"

// TestMain is an agent, if a test started it as one: a process that can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(agentDir); dir != "" {
		if err := beAgent(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beAgent runs an agent whose controller sends one plan, from the file "send" in the folder, and files everything. Each begin
// and each Result that is filed is a line on standard output.
func beAgent(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	link := &printingLink{memoryLink: newLink()}
	prober := func(task measure.Task, o probe.Options) (measure.Prober, error) {
		fmt.Println("began", task.Target)
		return (&fakeProber{takes: 300 * time.Millisecond}).new(task, o)
	}
	a, err := New(Config{Host: host, Dir: dir, Link: link, Prober: prober})
	if err != nil {
		return err
	}
	if text, err := os.ReadFile(dir + "/send"); err == nil {
		var p fleet.Plan
		if err := json.Unmarshal(text, &p); err != nil {
			return err
		}
		if err := a.Plan(ctx, p); err != nil {
			return err
		}
	}
	return a.Run(ctx)
}

type printingLink struct{ *memoryLink }

func (l *printingLink) Deliver(ctx context.Context, results []*measure.Result) error {
	for _, r := range results {
		fmt.Println("filed", r.ID, r.Status)
	}
	return l.memoryLink.Deliver(ctx, results)
}

// TestKilled kills an agent with runs under way, again and again, and starts it again: no run begins twice, each has a
// Result, and one that was filed is at most delivered once more. The last runs are left in peace, however slow the machine.
func TestKilled(t *testing.T) {
	t.Parallel()
	const runs, kills, apart = 200, 20, 40 * time.Millisecond
	dir := t.TempDir()
	start := time.Now().Add(time.Second)
	plan := fleet.Plan{Host: host, Number: 1}
	byTarget := map[string]string{}
	for n := range runs {
		r := newRun(n, start.Add(time.Duration(n)*apart))
		r.Task.Target = fmt.Sprintf("192.0.2.%d", n)
		byTarget[r.Task.Target] = r.ID
		plan.Runs = append(plan.Runs, r)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/send", text, 0o600); err != nil {
		t.Fatal(err)
	}
	began, filed, status := map[string]int{}, map[string]int{}, map[string]string{}
	random := rand.New(rand.NewPCG(3, 4))
	for life := 0; len(filed) < runs; life++ {
		if life > 3*kills {
			t.Fatalf("%d of %d Results after %d lives", len(filed), runs, life)
		}
		lives := 50*time.Millisecond + time.Duration(random.Int64N(int64(500*time.Millisecond)))
		if life >= kills || time.Since(start) > runs*apart/2 {
			lives = 20 * time.Second
		}
		oneLife(t, dir, lives, func(word, name, what string) (enough bool) {
			switch word {
			case "began":
				began[byTarget[name]]++
			case "filed":
				filed[name]++
				status[name] = what
			}
			return len(filed) == runs
		})
	}
	ok := 0
	for id, n := range began {
		if n > 1 {
			t.Errorf("run %s began %d times", id, n)
		}
	}
	for _, s := range status {
		if s == string(measure.StatusOK) {
			ok++
		}
	}
	t.Logf("%d runs began, %d were measured, the others failed because the agent was killed", len(began), ok)
	if ok == 0 || ok == runs {
		t.Errorf("%d of %d runs were measured: the kills hit nothing, or everything", ok, runs)
	}
}

// oneLife starts an agent, kills it after a time or when it has printed enough, and passes on what it printed.
func oneLife(t *testing.T, dir string, lives time.Duration, line func(word, name, what string) (enough bool)) {
	t.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), agentDir+"="+dir)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(lives, func() { process.Process.Kill() })
	defer timer.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var word, name, what string
		_, _ = fmt.Sscan(lines.Text(), &word, &name, &what)
		if line(word, name, what) {
			process.Process.Kill()
		}
	}
	if err := process.Wait(); err == nil || process.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the agent ended by itself: %v", err)
	}
}
