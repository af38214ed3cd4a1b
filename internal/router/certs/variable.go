// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// parse returns the certificate in a variable. No error contains a part of it.
func (s Source) parse(v *api.Variable, now time.Time) (*certificate, error) {
	for _, item := range []string{ItemCertificate, ItemKey} {
		switch text := v.Items[item]; {
		case text == "":
			return nil, fmt.Errorf("%s has no item %q: %s", s, item, s.renewal())
		case len(text) > maxFile:
			return nil, fmt.Errorf("%s: item %q has more than %d bytes: %s", s, item, maxFile, s.renewal())
		}
	}
	c, err := parse([]byte(v.Items[ItemCertificate]), []byte(v.Items[ItemKey]), now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s, err, s.renewal())
	}
	return c, nil
}

// explain adds the place and the next step to an error of a read.
func (s Source) explain(err error) error {
	if api.CodeOf(err) == api.CodeNotFound {
		return fmt.Errorf("%s does not exist: %s", s, s.renewal())
	}
	return fmt.Errorf("%s cannot be read: %w", s, err)
}
