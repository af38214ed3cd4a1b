// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Bounds of a page, in records.
const (
	defaultPage = 100
	maxPage     = 1000
)

// A Query selects records. The zero value of a field selects all.
type Query struct {
	Caller    string // kind, name of the token, or the beginning of the accessor id
	Namespace string
	Route     string // a part of the pattern or of the path
	Refused   bool   // only refused requests
	Since     time.Time
	PerPage   int
	NextToken string
}

// Matches reports whether the query selects a record. A record of lost ones may stand for any.
func (q *Query) Matches(r *api.RequestRecord) bool {
	switch {
	case r.Time.Before(q.Since):
		return false
	case r.Dropped > 0:
		return true
	case q.Refused && !r.Refused:
		return false
	case q.Namespace != "" && r.Namespace != q.Namespace:
		return false
	case q.Route != "" && !strings.Contains(r.Method+" "+r.Route, q.Route) && !strings.Contains(r.Path, q.Route):
		return false
	case q.Caller == "" || r.Caller == q.Caller || r.TokenName == q.Caller:
		return true
	}
	return r.Accessor != "" && strings.HasPrefix(r.Accessor, q.Caller)
}

// Read returns a page of records, the newest first. Damaged lines are skipped.
func (l *Log) Read(ctx context.Context, q Query) (*api.RequestRecords, error) {
	if err := l.Flush(ctx); err != nil {
		return nil, err
	}
	page := &api.RequestRecords{Records: []*api.RequestRecord{}, Dropped: l.dropped.Load()}
	size := q.PerPage
	if size == 0 {
		size = defaultPage
	}
	size = min(size, maxPage)
	from, end, err := parseToken(q.NextToken)
	if err != nil {
		return nil, err
	}
	all, err := numbers(l.config.Dir)
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		number, at := all[i], int64(-1)
		if q.NextToken != "" {
			if number > from {
				continue
			} else if number == from {
				at = end
			}
		}
		full, err := l.readFile(ctx, number, at, &q, page, size)
		if full || err != nil {
			return page, err
		}
	}
	return page, nil
}

// readFile adds the records of a file before a position; -1 is its end. It reports whether the page is complete.
func (l *Log) readFile(ctx context.Context, number uint64, end int64, q *Query, page *api.RequestRecords, size int) (full bool, err error) {
	f, err := os.Open(pathOf(l.config.Dir, number))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // it was the oldest, and was deleted meanwhile
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	lines, err := newBackward(f, end)
	if err != nil {
		return false, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		after := lines.end
		line, err := lines.next()
		if err != nil || line == nil {
			return false, err
		}
		r := new(api.RequestRecord)
		if json.Unmarshal(line, r) != nil {
			continue
		}
		if !q.Since.IsZero() && r.Time.Before(q.Since.Add(-disorder)) {
			return true, nil
		}
		if !q.Matches(r) {
			continue
		}
		if len(page.Records) == size {
			page.NextToken = fmt.Sprintf("%d.%d", number, after)
			return true, nil
		}
		page.Records = append(page.Records, r)
	}
}

// disorder bounds how much later than its time a record is written: summaries of failures wait for the
// end of their second, and the clock may be corrected.
const disorder = 10 * time.Second

// parseToken returns the file and the position at which a page begins.
func parseToken(token string) (number uint64, end int64, err error) {
	if token == "" {
		return 0, 0, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(token, "%d.%d%s", &number, &end, &rest); n != 2 || end < 0 {
		return 0, 0, api.Errorf(api.CodeInvalid, "next_token: %.64q is not the token of a page: pass NextToken of the page before", token)
	}
	return number, end, nil
}
