// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/crypto/bcrypt"
)

func encodingFunctions() map[string]function.Function {
	return map[string]function.Function{
		"base64decode": textFunc(base64Decode, "text"),
		"base64encode": textFunc(func(a []string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(a[0])), nil }, "text"),
		"csvdecode":    stdlib.CSVDecodeFunc,
		"jsondecode":   stdlib.JSONDecodeFunc,
		"jsonencode":   stdlib.JSONEncodeFunc,
		"urlencode":    textFunc(func(a []string) (string, error) { return url.QueryEscape(a[0]), nil }, "text"),
		"yamldecode":   yamlDecodeFunc,
		"yamlencode":   yamlEncodeFunc,
	}
}

func base64Decode(args []string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		return "", errors.New("the text is not base64")
	}
	if !utf8.Valid(b) {
		return "", errors.New("the decoded text is not UTF-8")
	}
	return string(b), nil
}

var yamlDecodeFunc = function.New(&function.Spec{
	Params: []function.Parameter{text("text")},
	Type: func(args []cty.Value) (cty.Type, error) {
		if !args[0].IsKnown() {
			return cty.DynamicPseudoType, nil
		}
		v, err := yamlDecode(args[0].AsString())
		if err != nil {
			return cty.NilType, err
		}
		return v.Type(), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return yamlDecode(args[0].AsString()) },
})

func yamlDecode(s string) (cty.Value, error) {
	y := newYAMLReader(&problems{file: "yaml", text: []byte(s)})
	root := y.document()
	if err := y.err(); err != nil {
		p := y.list[0]
		return cty.NilVal, fmt.Errorf("line %d: %s", p.Line, p.Message)
	}
	return root.cty(), nil
}

var yamlEncodeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		asJSON, err := ctyjson.Marshal(args[0], args[0].Type())
		if err != nil {
			return cty.NilVal, err
		}
		asYAML, err := yaml.JSONToYAML(asJSON)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(string(bytes.TrimRight(asYAML, "\n")) + "\n"), nil
	},
})

func hashFunctions() map[string]function.Function {
	digest := func(sum func([]byte) []byte) function.Function {
		return textFunc(func(a []string) (string, error) { return hex.EncodeToString(sum([]byte(a[0]))), nil }, "text")
	}
	return map[string]function.Function{
		"bcrypt": bcryptFunc,
		"md5":    digest(func(b []byte) []byte { s := md5.Sum(b); return s[:] }),
		"sha1":   digest(func(b []byte) []byte { s := sha1.Sum(b); return s[:] }),
		"sha256": digest(func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
		"sha512": digest(func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }),
		"uuidv4": textFunc(func([]string) (string, error) {
			var id [16]byte
			_, err := rand.Read(id[:])
			return formatUUID(id, 4), err
		}),
		"uuidv5": textFunc(uuidV5, "namespace", "name"),
	}
}

var uuidNamespaces = map[string]byte{"dns": 0x10, "url": 0x11, "oid": 0x12, "x500": 0x14}

// uuidV5 derives an id from a name in a namespace: a well-known one or a UUID.
func uuidV5(args []string) (string, error) {
	var space [16]byte
	if last, ok := uuidNamespaces[args[0]]; ok {
		b, _ := hex.DecodeString("6ba7b8009dad11d180b400c04fd430c8")
		copy(space[:], b)
		space[3] = last
	} else {
		b, err := hex.DecodeString(string(bytes.ReplaceAll([]byte(args[0]), []byte("-"), nil)))
		if err != nil || len(b) != 16 {
			return "", errors.New("the namespace must be dns, url, oid, x500 or a UUID")
		}
		copy(space[:], b)
	}
	sum := sha1.Sum(append(space[:], args[1]...))
	return formatUUID([16]byte(sum[:16]), 5), nil
}

func formatUUID(id [16]byte, version byte) string {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

var bcryptFunc = function.New(&function.Spec{
	Params:   []function.Parameter{text("text")},
	VarParam: &function.Parameter{Name: "cost", Type: cty.Number},
	Type:     function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		cost := bcrypt.DefaultCost
		if len(args) > 2 {
			return cty.NilVal, errors.New("takes a text and at most one cost")
		}
		if len(args) == 2 {
			n, _ := args[1].AsBigFloat().Int64()
			cost = int(n)
		}
		if cost < bcrypt.MinCost || cost > 15 {
			return cty.NilVal, fmt.Errorf("the cost must be from %d to 15", bcrypt.MinCost)
		}
		hash, err := bcrypt.GenerateFromPassword([]byte(args[0].AsString()), cost)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(string(hash)), nil
	},
})

func timeFunctions() map[string]function.Function {
	return map[string]function.Function{
		"formatdate": stdlib.FormatDateFunc,
		"timeadd":    stdlib.TimeAddFunc,
		"timestamp": textFunc(func([]string) (string, error) {
			return time.Now().UTC().Format(time.RFC3339), nil
		}),
	}
}
