package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/control"
)

func meshToken(s *session) *cobra.Command {
	var data string
	var revoke bool
	c := &cobra.Command{
		Use: "token [NAME]", Short: "Make a token for somebody who may start tests from elsewhere", Args: cobra.MaximumNArgs(1),
		Long: "Make a new token of a name and print it, once: the controller keeps only its SHA-256. Who has it can start tests\n" +
			"(`pathwise mesh run --controller`) as the mesh file says under controller.callers. A token that the name had before\n" +
			"counts no more. Without a name, list the names that there are.",
		Example: "  pathwise mesh token alice >alice.token\n  pathwise mesh token alice --revoke\n  pathwise mesh token",
		RunE: func(_ *cobra.Command, args []string) error {
			err := error(nil)
			switch {
			case len(args) == 0 && revoke:
				return badFlag("revoke", errors.New("want the name of a token, too"))
			case len(args) == 0:
				err = s.listTokens(data)
			case revoke:
				err = s.revokeToken(data, args[0])
			default:
				err = s.newToken(data, args[0])
			}
			if errors.Is(err, fs.ErrNotExist) {
				return badFlag("data", fmt.Errorf("%s: want the folder of a controller", data))
			}
			return err
		},
	}
	c.Flags().StringVar(&data, "data", "/var/lib/pathwise", "the controller's folder")
	c.Flags().BoolVar(&revoke, "revoke", false, "take the token away instead")
	return c
}

func (s *session) newToken(data, name string) error {
	token, err := control.NewToken(data, name)
	if err != nil {
		return err
	}
	doc := map[string]string{"schema": "pathwise.token/1", "name": name, "token": token}
	return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, token) })
}

func (s *session) revokeToken(data, name string) error {
	err := control.RevokeToken(data, name)
	if errors.Is(err, control.ErrUnknownToken) {
		return &badCall{err}
	} else if err != nil {
		return err
	}
	doc := map[string]string{"schema": "pathwise.token/1", "name": name, "revoked": name}
	return s.emit(doc, func(w io.Writer) { fmt.Fprintf(w, "%s has no token any more\n", name) })
}

func (s *session) listTokens(data string) error {
	names, err := control.TokenNames(data)
	if err != nil {
		return err
	}
	doc := map[string]any{"schema": "pathwise.tokens/1", "names": append([]string{}, names...)}
	return s.emit(doc, func(w io.Writer) {
		for _, name := range names {
			fmt.Fprintln(w, name)
		}
	})
}
