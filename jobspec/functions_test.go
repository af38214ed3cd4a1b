// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"regexp"
	"strings"
	"testing"
)

// evaluate is the value of an expression as JSON, or its error.
func evaluate(t *testing.T, expr string) (string, error) {
	t.Helper()
	job, err := Parse(Source{Name: "j.hcl", Text: []byte("job \"j\" {\n  meta {\n    v = jsonencode(" + expr + ")\n  }\n}\n")},
		Options{AllowFS: true, BaseDir: "testdata"})
	if err != nil {
		return "", err
	}
	return job.Meta["v"], nil
}

func TestFunctions(t *testing.T) {
	for expr, want := range map[string]string{
		`startswith("reeve", "re")`:           `true`,
		`endswith("reeve", "re")`:             `false`,
		`strcontains("reeve", "eev")`:         `true`,
		`length("日本")`:                        `2`,
		`length({ a = 1 })`:                   `1`,
		`length([])`:                          `0`,
		`length(toset(["a", "a"]))`:           `1`,
		`sum([1, 2.5])`:                       `3.5`,
		`sum([])`:                             `0`,
		`alltrue([])`:                         `true`,
		`alltrue([true, false])`:              `false`,
		`anytrue([true, false])`:              `true`,
		`anytrue([])`:                         `false`,
		`index(["a", "b"], "b")`:              `1`,
		`one([])`:                             `null`,
		`one(["a"])`:                          `"a"`,
		`list("a", 1)`:                        `["a",1]`,
		`map("a", 1, "b", "c")`:               `{"a":1,"b":"c"}`,
		`cidrhost("10.0.0.0/24", 5)`:          `"10.0.0.5"`,
		`cidrhost("10.0.0.0/24", -1)`:         `"10.0.0.255"`,
		`cidrhost("10.0.0.7/24", 0)`:          `"10.0.0.0"`,
		`cidrhost("fd00::/8", 258)`:           `"fd00::102"`,
		`cidrnetmask("10.0.0.0/20")`:          `"255.255.240.0"`,
		`cidrnetmask("0.0.0.0/0")`:            `"0.0.0.0"`,
		`cidrsubnet("10.0.0.0/8", 8, 255)`:    `"10.255.0.0/16"`,
		`cidrsubnet("fd00::/48", 16, 162)`:    `"fd00:0:0:a2::/64"`,
		`cidrsubnets("10.0.0.0/16", 8, 4, 8)`: `["10.0.0.0/24","10.0.16.0/20","10.0.32.0/24"]`,
		`cidrsubnets("10.0.0.0/16")`:          `[]`,
		`sha1("abc")`:                         `"a9993e364706816aba3e25717850c26c9cd0d89d"`,
		`sha256("abc")`:                       `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`,
		`substr(sha512("abc"), 0, 16)`:        `"ddaf35a193617aba"`,
		`md5("abc")`:                          `"900150983cd24fb0d6963f7d28e17f72"`,
		`uuidv5("dns", "www.example.com")`:    `"2ed6657d-e927-568b-95e1-2665a8aea6a2"`,
		`uuidv5("url", "x") == uuidv5("6ba7b811-9dad-11d1-80b4-00c04fd430c8", "x")`: `true`,
		`yamldecode("a: [1, true, null, 'x']").a`:                                   `[1,true,null,"x"]`,
		`yamldecode("a: &x {b: 0x10}\nc: *x")`:                                      `{"a":{"b":16},"c":{"b":16}}`,
		`yamlencode({ a = [1, "b"] })`:                                              `"a:\n- 1\n- b\n"`,
		`base64decode(base64encode("ü"))`:                                           `"ü"`,
		`urlencode("a/b c")`:                                                        `"a%2Fb+c"`,
		`dirname("a/b/c")`:                                                          `"a/b"`,
		`basename("a/b/c")`:                                                         `"c"`,
		`file("files/app.conf")`:                                                    `"color = blue\n"`,
		`fileset("files", "*")`:                                                     `["app.conf"]`,
		`fileset("files", "**")`:                                                    `["app.conf","more/extra.conf"]`,
		`fileset("files", "m*/*.conf")`:                                             `["more/extra.conf"]`,
		`fileset("files", "*.none")`:                                                `[]`,
		`fileexists("files")`:                                                       `false`,
		`try(nothing.at.all, "x")`:                                                  `"x"`,
		`try(local.nothing, var.nothing, "x")`:                                      `"x"`,
		`can(local.nothing)`:                                                        `false`,
		`format("%05.1f|%-4s|%q", 3.14159, "a", "b")`:                               `"003.1|a   |\"b\""`,
		`formatlist("%s=%d", ["a", "b"], [1, 2])`:                                   `["a=1","b=2"]`,
		`indent(2, "a\nb")`:                                                         `"a\n  b"`,
		`setproduct(["a"], [1, 2])`:                                                 `[["a",1],["a",2]]`,
		`merge({ a = 1 }, { a = 2, b = 3 })`:                                        `{"a":2,"b":3}`,
		`convert("3", number)`:                                                      `3`,
		`can(regex("^a", "b"))`:                                                     `false`,
		`"${"${"deep"}"}"`:                                                          `"deep"`,
		`[for k, v in { a = 1, b = 2 } : "${k}${v}" if v > 1]`:                      `["b2"]`,
		`"a ${attr.cpu.arch} ${env["X"]} ${NOMAD_PORT_a} b"`:                        `"a ${attr.cpu.arch} ${env[\"X\"]} ${NOMAD_PORT_a} b"`,
		`upper(attr.cpu.arch)`:                                                      `"${ATTR.CPU.ARCH}"`,
		`meta.rack`:                                                                 `"${meta.rack}"`,
		`"$${x} %%{y}"`:                                                             `"${x} %{y}"`,
	} {
		got, err := evaluate(t, expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		} else if got != want {
			t.Errorf("%s = %s, want %s", expr, got, want)
		}
	}
}

func TestFunctionsRefuseWhatTheyCannotDo(t *testing.T) {
	for expr, want := range map[string]string{
		`cidrhost("10.0.0.0", 1)`:             `cidrhost: "10.0.0.0" is not a network such as 10.0.0.0/8`,
		`cidrhost("10.0.0.0/30", -5)`:         `cidrhost: 10.0.0.0/30 has only 4 addresses`,
		`cidrhost("10.0.0.0/30", 1.5)`:        `cidrhost: takes whole numbers`,
		`cidrnetmask("fd00::/8")`:             `cidrnetmask: only IPv4 networks have a netmask`,
		`cidrsubnet("10.0.0.0/24", 9, 0)`:     `cidrsubnet: 10.0.0.0/24 cannot be made 9 bits longer`,
		`cidrsubnet("10.0.0.0/24", 1, 2)`:     `cidrsubnet: there is no network 2 in 10.0.0.0/24`,
		`cidrsubnets("10.0.0.0/24", 1, 1, 1)`: `cidrsubnets: the networks do not all fit in 10.0.0.0/24`,
		`uuidv5("home", "x")`:                 `uuidv5: the namespace must be dns, url, oid, x500 or a UUID`,
		`base64decode("%")`:                   `base64decode: the text is not base64`,
		`base64decode("/w==")`:                `base64decode: the decoded text is not UTF-8`,
		`one(["a", "b"])`:                     `one: there are 2 elements, not one`,
		`one("a")`:                            `one: takes a list or a set, not the text "a"`,
		`index(["a"], "b")`:                   `index: the list does not contain the text "b"`,
		`map("a")`:                            `map: takes keys and values in turn`,
		`length(1)`:                           `length: takes a collection or a text, not the number 1`,
		`yamldecode("a: *b")`:                 `yamldecode: line 1: there is no anchor "b" above`,
		`fileset("none", "*")`:                `fileset: none: no such file or directory`,
		`fileset("files", "[")`:               `fileset: files: "[" is not a pattern`,
		`bcrypt("x", 4, 5)`:                   `bcrypt: takes a text and at most one cost`,
		`sum(["a"])`:                          `sum: invalid value for "numbers" parameter`,
	} {
		_, err := evaluate(t, expr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q", expr, err, want)
		}
	}
}

func TestFunctionsWithoutAFixedResult(t *testing.T) {
	for expr, pattern := range map[string]string{
		`uuidv4()`:       `^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$`,
		`timestamp()`:    `^"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"$`,
		`bcrypt("x", 4)`: `^"\$2a\$04\$.{53}"$`,
		`abspath(".")`:   `^"/.*/jobspec/testdata"$`,
	} {
		got, err := evaluate(t, expr)
		if err != nil || !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%s = %s, %v; want a match of %s", expr, got, err, pattern)
		}
	}
}
