package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/account"
)

// accountCall is a call of mesh account.
type accountCall struct {
	data, role, page         string
	disable, enable, removed bool
}

func meshAccount(s *session) *cobra.Command {
	var call accountCall
	c := &cobra.Command{
		Use: "account [NAME]", Short: "Let somebody sign in to the pages", Args: cobra.MaximumNArgs(1),
		Long: "Make an account, and print the link by which its person sets a password: it works once, for a day. For a name that\n" +
			"has an account already, the link is for a new password, and --role changes what it may. Without a name, list the\n" +
			"accounts that there are. The first one is yours to make an administrator.",
		Example: "  pathwise mesh account alice --role admin\n  pathwise mesh account bob --page https://mesh.example.org/\n" +
			"  pathwise mesh account bob --remove\n  pathwise mesh account",
		RunE: func(c *cobra.Command, args []string) error {
			wish := ""
			for _, flag := range []string{"role", "disable", "enable", "remove", "page"} {
				switch {
				case !c.Flags().Changed(flag):
				case len(args) == 0:
					return badFlag(flag, errors.New("want the NAME of an account, too"))
				case wish != "" && (flag != "page" || wish != "role"):
					return badFlag(flag, fmt.Errorf("want it without --%s", wish))
				default:
					wish = flag
				}
			}
			return withAccounts(call.data, func(book *account.Book) error {
				if len(args) == 0 {
					return s.listAccounts(book)
				}
				return s.changeAccount(book, args[0], &call, c.Flags().Changed("role"))
			})
		},
	}
	f := c.Flags()
	folderFlag(f, &call.data)
	f.StringVar(&call.role, "role", string(account.Viewer), "what they may: viewer, operator (starts tests) or admin")
	f.StringVar(&call.page, "page", "http://127.0.0.1:8080/", "where they see the pages, for the link")
	f.BoolVar(&call.disable, "disable", false, "let them sign in no more")
	f.BoolVar(&call.enable, "enable", false, "let them sign in again")
	f.BoolVar(&call.removed, "remove", false, "take the account away, with its sessions and tokens")
	return c
}

// changeAccount does the one thing to an account that a call asks for.
func (s *session) changeAccount(book *account.Book, name string, call *accountCall, role bool) error {
	doc := map[string]string{"schema": "pathwise.account/1", "name": name}
	done := func(err error, what string) error {
		if err != nil {
			return err
		}
		doc["done"] = what
		return s.emit(doc, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", name, what) })
	}
	switch {
	case call.disable:
		return done(book.Disable(owner, name), "can sign in no more")
	case call.enable:
		return done(book.Enable(owner, name), "can sign in again")
	case call.removed:
		return done(book.Remove(owner, name), "has no account any more")
	}
	to, err := account.ParseRole(call.role)
	if err != nil {
		return badFlag("role", err)
	}
	if page, err := url.Parse(call.page); err != nil || page.Host == "" || page.Scheme != "http" && page.Scheme != "https" {
		return badFlag("page", fmt.Errorf("%q: want a URL such as https://mesh.example.org/", call.page))
	}
	if role {
		if err := book.SetRole(owner, name, to); !errors.Is(err, account.ErrUnknown) {
			return done(err, "is "+call.role+" now")
		}
	}
	invitation, err := book.Invite(owner, name)
	if errors.Is(err, account.ErrUnknown) {
		invitation, err = book.Add(owner, name, to)
	}
	if err != nil {
		return err
	}
	doc["link"] = call.page + "#/welcome?token=" + invitation
	return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, doc["link"]) })
}

func (s *session) listAccounts(book *account.Book) error {
	accounts, err := book.Accounts()
	if err != nil {
		return err
	}
	doc := map[string]any{"schema": "pathwise.accounts/1", "accounts": append([]account.Account{}, accounts...)}
	return s.emit(doc, func(w io.Writer) {
		rows := [][]string{{"account", "role", "password", "state"}}
		for _, a := range accounts {
			password, state := "none yet", "enabled"
			if a.Password {
				password = "set"
			}
			if a.Disabled {
				state = "disabled"
			}
			rows = append(rows, []string{a.Name, string(a.Role), password, state})
		}
		printTable(w, rows, 1, 2, 3)
	})
}
