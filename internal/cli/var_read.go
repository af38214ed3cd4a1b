// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"
	"unicode/utf8"

	"github.com/reeve-run/reeve/api"
)

// readAll reads a file of text, "-" is stdin, of at most so many bytes.
func (c *cli) readAll(name string, limit int64) ([]byte, error) {
	in := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	} else {
		name = "<stdin>"
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, api.Errorf(api.CodeInvalid, "read %s: has more than %d bytes", name, limit)
	case !utf8.Valid(text):
		return nil, api.Errorf(api.CodeInvalid, "read %s: is not text in UTF-8: encode it, for example with: base64 %s", name, name)
	}
	return text, nil
}
