package web

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
)

// Joining is how further hosts join the mesh by themselves.
type Joining struct {
	At        netip.AddrPort // where they reach the controller
	Suggested netip.Addr     // an address of this machine that others would reach

	// Invite makes an invitation, which somebody asked for.
	Invite func(by string) (invitation string, until time.Time, err error)
}

// joining is the part of the table by which administrators let hosts in.
func (s *Server) joining(a huma.API) {
	add(a, get("joining", account.Admin, "/joining", "Whether hosts can join the mesh by an invitation, and from where"), s.howToJoin)
	add(a, post("invite-host", account.Admin, "/joining", "An invitation by which one host joins the mesh"), s.inviteHost)
}

type joiningDoc struct {
	Enabled bool `json:"enabled" doc:"Whether the mesh is one that hosts join; false: its file says all of them"`
	Entrance
	Hosts int `json:"hosts" doc:"How many hosts the mesh has"`
}

// Entrance is where hosts join.
type Entrance struct {
	At    string `json:"at,omitempty" doc:"Where a host that joins reaches the controller" example:"192.0.2.5:4222"`
	Alone bool   `json:"alone" doc:"Whether programs on the controller's machine alone reach it there"`

	Suggested string `json:"suggested,omitempty" doc:"An address of the controller's machine for pathwise serve --reach"`
}

// Invitation is what makes one host one of the mesh.
type Invitation struct {
	Entrance
	Command string    `json:"command" doc:"To be pasted on the host; it is a secret until it was"`
	Expires time.Time `json:"expires"`
}

// AloneNote says what is to be done so that other machines can join.
func AloneNote(suggested string) string {
	return fmt.Sprintf("this works on the controller's own machine alone: for hosts elsewhere start it as `pathwise serve --reach %s`, "+
		"with the address by which they reach it", suggested)
}

func (j *Joining) from() Entrance {
	return Entrance{At: j.At.String(), Alone: j.At.Addr().IsLoopback(), Suggested: j.Suggested.String()}
}

var errNoJoining = errors.New("hosts of this mesh are named in its mesh file: add one there, and make its keys by `pathwise mesh deploy`")

func (s *Server) howToJoin(context.Context, *struct{}) (*body[joiningDoc], error) {
	doc := joiningDoc{Hosts: len(s.Control.Mesh().Hosts)}
	if s.Joining != nil {
		doc.Enabled, doc.Entrance = true, s.Joining.from()
	}
	return &body[joiningDoc]{doc}, nil
}

// inviteHost is for people: a token that was stolen shall not add hosts.
func (s *Server) inviteHost(ctx context.Context, _ *struct{}) (*body[Invitation], error) {
	switch {
	case byToken(ctx):
		return nil, fault(errNotYours)
	case s.Joining == nil:
		return nil, fault(errNoJoining)
	}
	if err := s.note(ctx, "invite a host", ""); err != nil {
		return nil, fault(err)
	}
	text, until, err := s.Joining.Invite(nameOf(visitorOf(ctx).actor()))
	if err != nil {
		return nil, fault(err)
	}
	return &body[Invitation]{Invitation{s.Joining.from(), fmt.Sprintf("echo '%s' | pathwise agent --join", text), until}}, nil
}
