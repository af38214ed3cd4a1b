// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"regexp"
	"strings"
)

// An explanation is a message of the library's parser, and what it means for the author of a job file. $1 is what the parser
// quotes.
type explanation struct {
	message *regexp.Regexp
	words   string
}

var explanations = []explanation{
	{regexp.MustCompile(`^bad character U\+007D.*$|^unexpected "\}" in .*$`), `a single "}" inside of an action: close the action with RIGHT`},
	{regexp.MustCompile(`^bad character U\+0027.*$|^unterminated character constant$|^malformed character constant: .*$`), `a text in single quotes inside of an action: write it in double quotes`},
	{regexp.MustCompile(`^(?:bad character U\+[0-9A-F]+ '(.*)'|unrecognized character in action: U\+[0-9A-F]+ '(.*)')$`), `the character "$1$2" is not allowed inside of an action: write texts in double quotes, and keys with other characters as index (nomadVar "PATH") "KEY"`},
	{regexp.MustCompile(`^unclosed action.*$`), `an action has no end: close it with RIGHT in the same line`},
	{regexp.MustCompile(`^unterminated quoted string$`), `a text inside of an action has no closing quote`},
	{regexp.MustCompile(`^unterminated raw quoted string$`), "a text inside of an action has no closing backquote"},
	{regexp.MustCompile(`^unclosed comment$`), `a comment has no end: close it with */ and RIGHT`},
	{regexp.MustCompile(`^unclosed left paren$`), `an opening parenthesis has no closing one`},
	{regexp.MustCompile(`^unexpected right paren.*$`), `a closing parenthesis has no opening one`},
	{regexp.MustCompile(`^unexpected EOF$`), `an if, range, with or define block has no end: close it with LEFTendRIGHT`},
	{regexp.MustCompile(`^unexpected \{\{end\}\}$`), `LEFTendRIGHT closes no block: remove it, or add the if, range or with that it belongs to`},
	{regexp.MustCompile(`^unexpected \{\{else\}\}$`), `LEFTelseRIGHT belongs to no if, range or with`},
	{regexp.MustCompile(`^undefined variable "(.*)"$`), `the variable $1 has no value here: assign one before with LEFT$1 := ...RIGHT, in the same block or around it`},
	{regexp.MustCompile(`^missing value for command$`), `an action is empty: write a value or a function between LEFT and RIGHT`},
	{regexp.MustCompile(`^missing value for (.*)$`), `$1 lacks what it is about, such as LEFT$1 nomadVar "nomad/jobs/web"RIGHT`},
	{regexp.MustCompile(`^expected end; found \{\{else\}\}$`), `a block has two LEFTelseRIGHT: remove one, or write LEFTelse if ...RIGHT in the first`},
	{regexp.MustCompile(`^unexpected "=" in operand$`), `"=" is not a comparison: write LEFTif eq A BRIGHT, and assign with :=`},
	{regexp.MustCompile(`^invalid syntax$`), `a text in double quotes has an escape that does not exist: write a backslash as \\, or use backquotes`},
}

// explainSyntax says a message of the parser in plain words, with the next step. Messages that already are plain stay.
func explainSyntax(message, left, right string) string {
	for _, e := range explanations {
		if m := e.message.FindStringSubmatchIndex(message); m != nil {
			words := e.message.ExpandString(nil, e.words, message, m)
			return strings.NewReplacer("LEFT", left, "RIGHT", right).Replace(string(words))
		}
	}
	return message
}
