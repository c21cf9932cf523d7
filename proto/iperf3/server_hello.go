package iperf3

import (
	"encoding/json"
	"fmt"

	"github.com/pathwise-net/pathwise/sock"
)

// sayHello tells a Pathwise client what this end is, and what becomes of what it asked for beyond iperf3. An error refuses the test.
func (s *serverTest) sayHello() error {
	settings := sock.ReadTCPSettings()
	s.extra = &ResultsExtra{
		Software: softwareName, Version: softwareVersion, Settings: &settings,
		Path: forget(addrPort(s.ctl.conn.RemoteAddr()).Addr()),
	}
	s.wall = sock.WatchWall(s.server.Now)
	clock := newClock(s.server.Clock())
	clock.Shows = s.server.Now().UnixNano()
	var opened *HelloFile
	if s.params.Pathwise.File != nil {
		opened = s.openFile()
	}
	answer := Hello{Software: softwareName, Version: softwareVersion, Clock: clock, Steps: true, Awaits: true, File: opened}
	if s.params.search() != nil {
		answer.Search = &HelloSearch{Most: s.policy.searchMost(s.params)}
	}
	if s.params.group() != nil {
		answer.Group = s.answerGroup()
	}
	hello, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	if err := s.ctl.send(Pathwise); err != nil {
		return err
	}
	if err := s.ctl.sendFrame(hello); err != nil {
		return err
	}
	if opened != nil && opened.Error != "" {
		return &PeerError{Code: codeFile}
	}
	if answer.Group != nil && answer.Group.Error != "" {
		return &PeerError{Code: codeUnimplemented}
	}
	return nil
}
