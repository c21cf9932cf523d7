package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/account"
)

func meshToken(s *session) *cobra.Command {
	var data string
	var revoke bool
	var scopes []string
	c := &cobra.Command{
		Use: "token [NAME]", Short: "Make a token for somebody who may start tests from elsewhere", Args: cobra.MaximumNArgs(1),
		Long: "Make a new token of a name and print it, once: the controller keeps only its SHA-256. Who has it can start tests\n" +
			"(`pathwise mesh run --controller`) as the mesh file says under controller.callers. A token that the name had before\n" +
			"counts no more. Without a name, list the names that there are.",
		Example: "  pathwise mesh token alice >alice.token\n  pathwise mesh token alice --revoke\n  pathwise mesh token",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && revoke {
				return badFlag("revoke", errors.New("want the name of a token, too"))
			}
			return withAccounts(data, func(book *account.Book) error {
				switch {
				case len(args) == 0:
					return s.listTokens(book)
				case revoke:
					return s.revokeToken(book, args[0])
				}
				return s.newToken(book, args[0], scopes)
			})
		},
	}
	folderFlag(c.Flags(), &data)
	c.Flags().StringSliceVar(&scopes, "scope", []string{"read", "run"}, "what it is for: read, run, admin")
	c.Flags().BoolVar(&revoke, "revoke", false, "take the token away instead")
	return c
}

// owner is who may open the controller's folder.
var owner = account.Actor{Identity: account.Owner()}

// withAccounts opens the accounts of a controller's folder, which must be there, and takes over tokens of earlier releases.
func withAccounts(data string, do func(*account.Book) error) error {
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return notAFolder(data)
	} else if err != nil {
		return err
	}
	book, err := account.Open(data, account.Options{})
	if err != nil {
		return err
	}
	if _, err := book.AdoptTokens(); err != nil {
		return errors.Join(err, book.Close())
	}
	return errors.Join(do(book), book.Close())
}

func (s *session) newToken(book *account.Book, name string, scopes []string) error {
	spec := account.TokenSpec{Name: name, Replace: true}
	var err error
	if spec.Scopes, err = account.ParseScopes(scopes); err != nil {
		return badFlag("scope", err)
	}
	token, err := book.NewToken(owner, spec)
	if err != nil {
		return err
	}
	doc := map[string]string{"schema": "pathwise.token/1", "name": name, "token": token}
	return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, token) })
}

func (s *session) revokeToken(book *account.Book, name string) error {
	if err := book.RemoveToken(owner, name); err != nil {
		return err
	}
	doc := map[string]string{"schema": "pathwise.token/1", "name": name, "revoked": name}
	return s.emit(doc, func(w io.Writer) { fmt.Fprintf(w, "%s has no token any more\n", name) })
}

func (s *session) listTokens(book *account.Book) error {
	tokens, err := book.Tokens()
	if err != nil {
		return err
	}
	names := []string{}
	for _, t := range tokens {
		names = append(names, t.Name)
	}
	doc := map[string]any{"schema": "pathwise.tokens/1", "names": names}
	return s.emit(doc, func(w io.Writer) {
		for _, name := range names {
			fmt.Fprintln(w, name)
		}
	})
}
