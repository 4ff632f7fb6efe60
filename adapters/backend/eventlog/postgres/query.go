package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// OIDs of types and codes of formats of the PostgreSQL protocol.
const (
	oidText      = 25
	formatText   = 0
	formatBinary = 1
)

// statement is a query with its parameters: string, int64, []byte, []int64 or []string.
type statement struct {
	sql  string
	args []any
}

// encodeArgs returns the parameters in the form of the protocol.
func encodeArgs(args []any) (values [][]byte, formats []int16) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, a := range args {
		formats[i] = formatText
		switch a := a.(type) {
		case string:
			values[i] = []byte(a)
		case int64:
			values[i] = strconv.AppendInt(nil, a, 10)
		case []byte:
			values[i], formats[i] = append([]byte{}, a...), formatBinary // nil would be NULL
		case []int64:
			values[i] = appendInts(nil, a)
		case []string:
			values[i], formats[i] = appendTexts(nil, a), formatBinary
		default:
			panic(fmt.Sprintf("postgres: a parameter of type %T", a))
		}
	}
	return values, formats
}

// appendInts appends an array of numbers in text form.
func appendInts(b []byte, numbers []int64) []byte {
	b = append(b, '{')
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, '}')
}

// appendTexts appends an array of texts in binary form, which needs no escapes.
func appendTexts(b []byte, texts []string) []byte {
	dimensions := min(len(texts), 1)
	for _, n := range []int{dimensions, 0, oidText} {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	if dimensions == 1 {
		b = binary.BigEndian.AppendUint32(b, uint32(len(texts)))
		b = binary.BigEndian.AppendUint32(b, 1) // the first index
	}
	for _, t := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(t)))
		b = append(b, t...)
	}
	return b
}

// query runs one statement and calls row for each of its rows. The values are valid
// during the call only.
func query(ctx context.Context, c *pgconn.PgConn, sql string, row func([][]byte) error, args ...any) error {
	values, formats := encodeArgs(args)
	r := c.ExecParams(ctx, sql, values, nil, formats, nil)
	var failed error
	for r.NextRow() {
		if failed == nil && row != nil {
			failed = row(r.Values())
		}
	}
	if _, err := r.Close(); err != nil {
		return err
	}
	return failed
}

// runAll runs statements in one round trip and returns the result of each.
func runAll(ctx context.Context, c *pgconn.PgConn, statements []statement) ([]*pgconn.Result, error) {
	var b pgconn.Batch
	for _, s := range statements {
		values, formats := encodeArgs(s.args)
		b.ExecParams(s.sql, values, nil, formats, nil)
	}
	return c.ExecBatch(ctx, &b).ReadAll()
}

// numberOf returns a number in text form. The server sends no other.
func numberOf(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64)
	return n
}
