package web

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
)

// people is the part of the table by which administrators let others in.
func (s *Server) people(a huma.API) {
	add(a, get("accounts", account.Admin, "/accounts", "Who can sign in"), s.accounts)
	add(a, post("add-account", account.Admin, "/accounts",
		"Make an account; the answer has the invitation by which its person sets a password"), s.addAccount)
	add(a, changing("change-account", http.MethodPatch, "/accounts/{name}", "Give an account another role, or let it in no more"),
		s.changeAccount)
	add(a, changing("remove-account", http.MethodDelete, "/accounts/{name}", "Take an account away, with its sessions and tokens"),
		s.removeAccount)
	add(a, post("invite", account.Admin, "/accounts/{name}/invitation", "A new invitation, for who forgot their password"), s.invite)
	add(a, get("tokens", account.Read, "/tokens", "The tokens of programs: of an administrator all, else one's own"), s.tokens)
	add(a, post("add-token", account.Read, "/tokens", "Make a token; its text is in the answer, and nowhere else"), s.addToken)
	add(a, silent(operation(http.MethodDelete, "remove-token", account.Read, "/tokens/{name}", "Take a token away")), s.removeToken)
	add(a, get("audit", account.Admin, "/audit", "Who did what, newest first"), s.audit)
}

// changing is an operation that answers with nothing but that it was done.
func changing(id, method, path, summary string) huma.Operation {
	o := silent(operation(method, id, account.Admin, path, summary))
	o.Errors = append(o.Errors, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	return o
}

type accountsDoc struct {
	Accounts []account.Account `json:"accounts"`
}

func (s *Server) accounts(context.Context, *struct{}) (*body[accountsDoc], error) {
	all, err := s.Accounts.Accounts()
	if err != nil {
		return nil, fault(err)
	}
	return &body[accountsDoc]{accountsDoc{append([]account.Account{}, all...)}}, nil
}

type addAccountInput struct {
	Body struct {
		Name string `json:"name"`
		Role string `json:"role" enum:"viewer,operator,admin"`
	}
}

// invitationDoc is the secret by which a person sets their password: the page's address, then #/welcome?token= and this.
type invitationDoc struct {
	Name       string `json:"name"`
	Invitation string `json:"invitation" doc:"Works once, for 24 h: PAGE#/welcome?token=INVITATION"`
}

func (s *Server) addAccount(ctx context.Context, in *addAccountInput) (*body[invitationDoc], error) {
	invitation, err := s.Accounts.Add(visitorOf(ctx).actor(), in.Body.Name, account.Role(in.Body.Role))
	if err != nil {
		return nil, fault(err)
	}
	return &body[invitationDoc]{invitationDoc{in.Body.Name, invitation}}, nil
}

type named struct {
	Name string `path:"name"`
}

type changeAccountInput struct {
	Name string `path:"name"`
	Body struct {
		Role     string `json:"role,omitempty" enum:"viewer,operator,admin"`
		Disabled *bool  `json:"disabled,omitempty"`
	}
}

func (s *Server) changeAccount(ctx context.Context, in *changeAccountInput) (*struct{}, error) {
	change := account.Change{Role: account.Role(in.Body.Role), Disabled: in.Body.Disabled}
	if err := s.Accounts.Change(visitorOf(ctx).actor(), in.Name, change); err != nil {
		return nil, fault(err)
	}
	return nil, nil
}

func (s *Server) removeAccount(ctx context.Context, in *named) (*struct{}, error) {
	if err := s.Accounts.Remove(visitorOf(ctx).actor(), in.Name); err != nil {
		return nil, fault(err)
	}
	return nil, nil
}

func (s *Server) invite(ctx context.Context, in *named) (*body[invitationDoc], error) {
	invitation, err := s.Accounts.Invite(visitorOf(ctx).actor(), in.Name)
	if err != nil {
		return nil, fault(err)
	}
	return &body[invitationDoc]{invitationDoc{in.Name, invitation}}, nil
}

type tokensDoc struct {
	Tokens []account.Token `json:"tokens"`
}

func (s *Server) tokens(ctx context.Context, _ *struct{}) (*body[tokensDoc], error) {
	all, err := s.Accounts.Tokens()
	if err != nil {
		return nil, fault(err)
	}
	v, shown := visitorOf(ctx), []account.Token{}
	for _, t := range all {
		if v.may(account.Admin) || v.Kind == account.KindAccount && t.MadeBy == v.Name {
			shown = append(shown, t)
		}
	}
	return &body[tokensDoc]{tokensDoc{shown}}, nil
}

type addTokenInput struct {
	Body struct {
		Name    string    `json:"name"`
		Scopes  []string  `json:"scopes" minItems:"1" maxItems:"3"`
		Expires time.Time `json:"expires,omitzero" required:"false" doc:"Never, if left out"`
	}
}

type tokenDoc struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

func (s *Server) addToken(ctx context.Context, in *addTokenInput) (*body[tokenDoc], error) {
	scopes, err := account.ParseScopes(in.Body.Scopes)
	if err != nil {
		return nil, fault(err)
	}
	text, err := s.Accounts.NewToken(visitorOf(ctx).actor(), account.TokenSpec{Name: in.Body.Name, Scopes: scopes, Expires: in.Body.Expires})
	if err != nil {
		return nil, fault(err)
	}
	return &body[tokenDoc]{tokenDoc{in.Body.Name, text}}, nil
}

func (s *Server) removeToken(ctx context.Context, in *named) (*struct{}, error) {
	if err := s.Accounts.RemoveToken(visitorOf(ctx).actor(), in.Name); err != nil {
		return nil, fault(err)
	}
	return nil, nil
}

type auditInput struct {
	Before string `query:"before" doc:"next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type auditDoc struct {
	Entries []account.Entry `json:"entries"`
	Next    string          `json:"next,omitempty"`
}

func (s *Server) audit(_ context.Context, in *auditInput) (*body[auditDoc], error) {
	page, err := s.Accounts.Audit(in.Before, in.Limit)
	if err != nil {
		return nil, fault(err)
	}
	return &body[auditDoc]{auditDoc{append([]account.Entry{}, page.Entries...), page.Next}}, nil
}
