// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// minDuration is the smallest duration without a unit: durations in the API are nanoseconds,
// and a small bare number is probably meant in seconds.
const minDuration = time.Millisecond

func toDuration(v cty.Value) (time.Duration, error) {
	if !v.IsNull() && v.Type() == cty.String {
		s := v.AsString()
		if d, err := time.ParseDuration(s); err == nil {
			return d, nil
		}
		return 0, durationError(s)
	}
	f, ok := toNumber(v)
	if !ok || !f.IsInt() {
		return 0, fmt.Errorf("must be a duration such as \"30s\", not %s", describe(v))
	}
	n, accuracy := f.Int64()
	return bareDuration(n, accuracy == big.Exact)
}

func bareDuration(n int64, exact bool) (time.Duration, error) {
	d := time.Duration(n)
	if !exact {
		return 0, errors.New("is out of range for a duration")
	}
	if d != 0 && d.Abs() < minDuration {
		return 0, fmt.Errorf("needs a unit: write \"%ds\" if %d seconds are meant (a bare number is nanoseconds)", n, n)
	}
	return d, nil
}

func durationError(s string) error {
	return fmt.Errorf("must be a duration such as \"30s\" or \"1h30m\" (units: ms, s, m, h), not %q", shorten(s))
}
