package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// Seen from both ends by SSH it is the far firewall that drops, as docs/connect.md shows, and nothing of ours stays there. --fail-on then ends with
// status 3.
func TestConnectBySSH(t *testing.T) {
	t.Parallel()
	s := startSSHLab(t, twoOnALink, tmpOnCarol)
	onHost(t, s.Lab, "carol", os.Stderr, "nft", "add table inet f; add chain inet f in { type filter hook input priority 0; }; add rule inet f in iifname != lo tcp dport 5201 drop")
	readyOnCarol(t, s.Lab, lab.Command{Argv: []string{s.binary, "respond"}})
	shown := stepBySSH(t, "connect.md")
	var out bytes.Buffer
	command := strings.Replace(shown.command, "pathwise ping", s.binary+" ping "+strings.Join(s.login(), " "), 1)
	onHost(t, s.Lab, "bob", &out, "sh", "-c", command)
	got := strings.ReplaceAll(aside.ReplaceAllString(out.String(), ""), s.path("tmp"), "/tmp")
	if !agrees(folderNames.ReplaceAllString(got, ""), folderNames.ReplaceAllString(shown.want, ""), false) {
		t.Errorf("$ %s\nprinted:\n%s\nthe page has:\n%s", shown.command, got, shown.want)
	}
	onHost(t, s.Lab, "bob", os.Stderr, "sh", "-c", command+" -W 0.2 --fail-on closed >/dev/null; test $? = 3")
	if left := s.left(); len(left) > 0 {
		t.Errorf("left on carol: %v", left)
	}
}
