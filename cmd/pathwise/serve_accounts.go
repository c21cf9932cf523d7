package main

import (
	"errors"
	"log/slog"

	"github.com/pathwise-net/pathwise/account"
)

// openAccounts opens the accounts of the controller's folder. Tokens of earlier releases are taken over.
func (s *session) openAccounts(data string, log *slog.Logger) (*account.Book, error) {
	book, err := account.Open(data, account.Options{Log: log})
	if err != nil {
		return nil, err
	}
	if _, err := book.AdoptTokens(); err != nil {
		return nil, errors.Join(err, book.Close())
	}
	return book, nil
}
