package host

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linked keeps settings of interfaces in memory.
func (s System) linked(values map[string]string) System {
	s.GetLink = func(link, setting string) (string, error) { return values[link+" "+setting], nil }
	s.SetLink = func(link, setting, to string) error {
		values[link+" "+setting] = to
		return nil
	}
	return s
}

// contents are all files below a folder.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, root+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// faultyMachine has faults that Apply cures: settings, an interface's, a governor, read-ahead.
func faultyMachine(t *testing.T) *machine {
	m := soundMachine(t)
	for _, fault := range planted {
		switch fault.id {
		case "tcp-rmem", "tcp-sack", "backlog", "tcp-mem", "governor", "read-ahead", "ring", "reverse-path":
			fault.plant(m)
		}
	}
	m.link("eth0").Qdiscs = []Qdisc{{Kind: "fq", Root: true}}
	return m
}

// What Apply changes is as it should be then, and Revert leaves every file and every setting as it was.
func TestApplyRevert(t *testing.T) {
	m := faultyMachine(t)
	rings := map[string]string{"eth0 rx ring": "512"}
	system := m.system(t).linked(rings)
	r, err := system.Audit(t.Context(), tenGigabit)
	if err != nil {
		t.Fatal(err)
	}
	before, ringsBefore := contents(t, system.Root), maps.Clone(rings)
	backup := filepath.Join(t.TempDir(), "backup.json")
	done, err := system.Apply(r.Changes(), backup, true)
	if err != nil {
		t.Fatal(err)
	}
	now := contents(t, system.Root)
	for file, want := range map[string]string{
		"proc/sys/net/ipv4/tcp_rmem": "4096 131072 125000000\n", "proc/sys/net/ipv4/tcp_sack": "1\n",
		"proc/sys/net/core/netdev_max_backlog": "250000\n", "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "performance\n",
		"sys/block/nvme0n1/queue/read_ahead_kb": "1221\n",
	} {
		if now[file] != want {
			t.Errorf("%s is %q, want %q", file, now[file], want)
		}
	}
	if got := rings["eth0 rx ring"]; got != "555" { // 4 ms of 10 Gbit/s in packets of 9000 bytes
		t.Errorf("ring %s", got)
	}
	if !strings.Contains(now[settingsFile], "\nnet.ipv4.tcp_sack = 1\n") {
		t.Errorf("settings that are to stay:\n%s", now[settingsFile])
	}
	if len(done) != 8 {
		t.Errorf("%d changes: %v", len(done), done)
	}

	if _, err := system.Revert(backup); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, system.Root), cmp.Transformer("lines", func(s string) string { return strings.TrimSuffix(s, "\n") })); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(ringsBefore, rings); diff != "" {
		t.Errorf("rings (-before +after):\n%s", diff)
	}
	if _, err := os.Stat(backup); err == nil {
		t.Error("the backup is still there")
	}
	if _, err := system.Revert(backup); !os.IsNotExist(err) {
		t.Errorf("a second time: %v", err)
	}
}

// The backup keeps what was there before the first of several changes.
func TestApplyTwice(t *testing.T) {
	m := soundMachine(t)
	system, backup := m.system(t), filepath.Join(t.TempDir(), "backup.json")
	for _, to := range []string{"2", "3"} {
		if _, err := system.Apply(settings("net.ipv4.tcp_sack", to), backup, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := system.Revert(backup); err != nil {
		t.Fatal(err)
	}
	if got := system.word("proc/sys/net/ipv4/tcp_sack"); got != "1" {
		t.Errorf("tcp_sack %s, was 1", got)
	}
	if _, err := os.Stat(system.path(settingsFile)); !os.IsNotExist(err) {
		t.Errorf("the file of settings: %v", err)
	}
}

// What cannot be changed is said and changes nothing else; what cannot be written back stays in the backup.
func TestApplyFails(t *testing.T) {
	m := soundMachine(t)
	system, backup := m.system(t), filepath.Join(t.TempDir(), "backup.json")
	changes := append(settings("net.ipv4.no_such", "1"), settings("net.ipv4.tcp_sack", "0")...)
	done, err := system.Apply(changes, backup, false)
	if err == nil || done[0].Error == "" || done[1].Error != "" || system.word("proc/sys/net/ipv4/tcp_sack") != "0" {
		t.Fatalf("%v, %+v", err, done)
	}
	path := system.path(sysctlFile("net.ipv4.tcp_sack"))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := system.Revert(backup); err == nil {
		t.Fatal("written back into a file that is not there")
	}
	if err := os.WriteFile(path, []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := system.Revert(backup); err != nil || system.word("proc/sys/net/ipv4/tcp_sack") != "1" {
		t.Errorf("then: %v, %s", err, system.word("proc/sys/net/ipv4/tcp_sack"))
	}
	if _, err := system.Apply(settings("net.ipv4.tcp_sack", "0"), filepath.Join(backup, "x"), false); err == nil ||
		system.word("proc/sys/net/ipv4/tcp_sack") != "1" {
		t.Errorf("without a backup: %v", err)
	}
}

// A backup that names another file than the kernel's settings is refused: root would write it.
func TestRevertRefuses(t *testing.T) {
	system, backup := soundMachine(t).system(t), filepath.Join(t.TempDir(), "backup.json")
	for _, text := range []string{
		`{"schema":"pathwise.host-backup/1","changed":[{"file":"etc/passwd","to":"","was":"x"}]}`,
		`{"schema":"pathwise.host-backup/1","changed":[{"file":"proc/sys/../../etc/passwd","to":"","was":"x"}]}`,
		`{"schema":"pathwise.host-backup/1","changed":[{"link":"eth0","setting":"address","to":"","was":"x"}]}`,
		`{"schema":"pathwise.host/1"}`, `{`,
	} {
		if err := os.WriteFile(backup, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if done, err := system.Revert(backup); err == nil || done != nil {
			t.Errorf("%s: %v, %v", text, done, err)
		}
	}
}
