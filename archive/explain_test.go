package archive

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// PostgreSQL's errors must be ours where a caller branches. A full disk of its own cannot be staged here.
func TestPostgresExplain(t *testing.T) {
	for _, c := range []struct{ err, want error }{
		{&pgconn.PgError{Code: "53100"}, ErrFull},
		{fmt.Errorf("write result: %w", &pgconn.PgError{Code: "23505", ConstraintName: "result_pkey"}), errFiled},
		{&pgconn.PgError{Code: "55P03"}, errBusy},
	} {
		if got := new(postgresStore).explain(c.err); !errors.Is(got, c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v becomes %v, want %v", c.err, got, c.want)
		}
	}
	other := &pgconn.PgError{Code: "23505", ConstraintName: "stream_pkey"}
	if got := new(postgresStore).explain(other); got != error(other) {
		t.Errorf("%v becomes %v", other, got)
	}
}
