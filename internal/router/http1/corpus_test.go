// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"fmt"
	"strings"
)

// An entry is a message of the corpus.
type entry struct{ name, text string }

const valid = "Host: x\r\n"

// requests returns the corpus of requests: common, odd and hostile ones. A second
// request follows each, so that a disagreement about the end of the first one
// shows.
func requests() (all []entry) {
	add := func(name, text string) {
		all = append(all, entry{name, text + "GET /next HTTP/1.1\r\nHost: next\r\n\r\n"})
	}
	for _, line := range requestLines() {
		add(fmt.Sprintf("line %q", line), line+"\r\n"+valid+"\r\n")
		add(fmt.Sprintf("line %q without host", line), line+"\r\n\r\n")
	}
	for _, name := range hosts() {
		add(fmt.Sprintf("host %q", name), "GET / HTTP/1.1\r\nHost: "+name+"\r\n\r\n")
		add(fmt.Sprintf("host %q in the target", name), "GET http://"+name+"/p?q HTTP/1.1\r\nHost: other\r\n\r\n")
	}
	for _, field := range fields() {
		add(fmt.Sprintf("field %q", field), "GET / HTTP/1.1\r\n"+valid+field+"\r\n\r\n")
		add(fmt.Sprintf("field %q first", field), "GET / HTTP/1.1\r\n"+field+"\r\n"+valid+"\r\n")
		add(fmt.Sprintf("field %q with HTTP/1.0", field), "POST / HTTP/1.0\r\n"+field+"\r\nContent-Length: 2\r\n\r\nok")
	}
	for _, length := range lengths() {
		for _, encoding := range encodings() {
			add(fmt.Sprintf("framing %q, %q", length, encoding), "POST / HTTP/1.1\r\n"+valid+length+encoding+"\r\n4\r\nabcd\r\n0\r\n\r\n")
			if length != "" && encoding != "" {
				add(fmt.Sprintf("framing %q, %q", encoding, length), "POST / HTTP/1.1\r\n"+valid+encoding+length+"\r\n4\r\nabcd\r\n0\r\n\r\n")
			}
		}
		add(fmt.Sprintf("length %q with HTTP/1.0", length), "POST / HTTP/1.0\r\n"+length+"\r\nabcd")
	}
	for _, encoding := range encodings() {
		add(fmt.Sprintf("encoding %q with HTTP/1.0", encoding), "POST / HTTP/1.0\r\n"+encoding+"\r\n0\r\n\r\n")
	}
	for _, body := range chunkedBodies() {
		add(fmt.Sprintf("chunks %.60q", body), "POST / HTTP/1.1\r\n"+valid+"Transfer-Encoding: chunked\r\n\r\n"+body)
	}
	for _, end := range []string{"\n", "\r", "\r\r\n", "\n\r", "\x00\r\n", " \r\n", "\t\r\n", "\r\n\r\n", "\v", "\f", "\u0085", "\u2028", ""} {
		add(fmt.Sprintf("%q after the request line", end), "GET / HTTP/1.1"+end+valid+"\r\n")
		add(fmt.Sprintf("%q after a field", end), "GET / HTTP/1.1\r\nHost: x"+end+"A: b\r\n\r\n")
		add(fmt.Sprintf("%q as the empty line", end), "GET / HTTP/1.1\r\n"+valid+end)
		add(fmt.Sprintf("%q before the request", end), end+"GET / HTTP/1.1\r\n"+valid+"\r\n")
	}
	for _, n := range []int{255, 4095, 4096, 4097, 8192, 70_000} {
		add(fmt.Sprintf("a target of %d bytes", n), "GET /"+strings.Repeat("a", n)+" HTTP/1.1\r\n"+valid+"\r\n")
		add(fmt.Sprintf("a field of %d bytes", n), "GET / HTTP/1.1\r\n"+valid+"A: "+strings.Repeat("a", n)+"\r\n\r\n")
		add(fmt.Sprintf("a name of %d bytes", n), "GET / HTTP/1.1\r\n"+valid+strings.Repeat("a", n)+": b\r\n\r\n")
		add(fmt.Sprintf("%d fields", n/16), "GET / HTTP/1.1\r\n"+valid+strings.Repeat("A: b\r\n", n/16)+"\r\n")
		add(fmt.Sprintf("a body of %d bytes", n), fmt.Sprintf("POST / HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", valid, n, strings.Repeat("a", n)))
	}
	return all
}

func requestLines() []string {
	var all []string
	for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "CONNECT", "TRACE", "PRI", "get", "G(T", "G T", "GET:", "X-Y.Z!", "", "\x00", "G\tT", "Gé"} {
		all = append(all, method+" / HTTP/1.1")
	}
	for _, target := range []string{
		"/", "/a?b", "/a?b#c", "/a#c", "*", "", "a", "?a", "//", "//a/b", "///", "/../..", "/%2e%2e/", "/a;b", "/a|b", "/a^b", "/a\"b", "/a<b>", "/a\\b", "/{}", "/`",
		"/é", "/\xff", "/%", "/%2", "/%zz", "/%00", "/%0d%0a", "/?%", "/?%zz", "/?a=b;c", "/ ", "/a b", "/a\tb", "/a\x00b", "/a\x7fb", "/a\x1fb",
		"http://y/z", "http://y", "http://y?a", "http://y/?a", "HTTP://Y/z", "hTTp://y:80/z", "http:///z", "http://", "http:", "http:/a", "https://y/z", "ftp://y/z",
		"http://a@y/z", "http://a:b@y/", "http://y:/z", "http://y:a/z", "http://[::1]/z", "http://[::1/z", "http://y#f", "http://y/%zz", "http://y /", "http://y\\z/", "http://%41/",
		"y:80", "mailto:a", "file:///etc/passwd", "//y@z/", "/:80", "/a:b", "/a//b/./c/..",
	} {
		all = append(all, "GET "+target+" HTTP/1.1", "OPTIONS "+target+" HTTP/1.1")
	}
	all = append(all, "CONNECT y:80 HTTP/1.1", "CONNECT /a HTTP/1.1", "CONNECT http://y/ HTTP/1.1", "CONNECT * HTTP/1.1")
	for _, version := range []string{
		"HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "HTTP/1", "HTTP/1.", "HTTP/11", "HTTP/1.10", "HTTP/1.01", "HTTP/01.1", "http/1.1", "HTTP/ 1.1", "HTTP/1.1 ", " HTTP/1.1",
		"HTTP/1.1\t", "HTTPS/1.1", "HTTP/+1.1", "HTTP/1.1x", "", "1.1", "HTTP", "HTTP/-1.1", "HTTP/1,1", "ＨTTP/1.1",
	} {
		all = append(all, "GET / "+version)
	}
	return append(all, "GET /", "GET", " GET / HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET\t/\tHTTP/1.1", "\tGET / HTTP/1.1", "GET / HTTP/1.1 HTTP/1.1", "GET / extra HTTP/1.1")
}

func hosts() []string {
	return []string{
		"x", "X", "x.example.com", "x.", "x..y", ".", "-", "_", "x_y", "x:80", "x:", ":80", ":", "x:80:80", "x:a", "x:-1", "x:99999", "127.0.0.1", "1.2.3.4:5", "[::1]", "[::1]:80",
		"[::1", "::1", "[]", "[x]", "[::1%25eth0]", "[::1]x", "]", "x[", "x/y", "x?y", "x#y", "x@y", "a:b@x", "x y", "x\ty", "x,y", "x, y", "x;y", "x\\y", "x%41", "x%zz", "x\"y", "<x>",
		"é", "\xff", "x\x00", "x\x7f", "http://x", "x|y", "x'y", "x!y", "x$y", "x(y)", "x*y", "x+y", "x=y", "x~y", "*", "", " ", "\t", "localhost\r\nHost: y",
	}
}

func fields() []string {
	all := []string{
		"A: b", "A:b", "A:", "A: ", "A:  b  ", "A:\tb\t", "a: B", "A : b", "A\t: b", " A: b", "\tA: b", ": b", ":", "A", "A b: c", "A: b\r\n c", "A: b\r\n\tc", "A: b\r\n \r\nB: c",
		"A: b\nB: c", "A: b\rB: c", "A: b\r\r\nB: c", "A: b\x00", "A: \x00", "A: b\x01", "A: b\x1f", "A: b\x7f", "A: b\x0b", "A: b\x0c", "A: \x80", "A: \xff", "A: é", "\x00: b", "A\x00: b",
		"A\x7f: b", "É: b", "A\": b", "(A): b", "A,B: c", "A;B: c", "A/B: c", "A@B: c", "A[B]: c", "A{B}: c", "A=B: c", "A_B: c", "A.B: c", "A!#$%&'*+-.^`|~9: c", "A:: b", "A: b: c",
		"A: b\r\nA: c", "A: b\r\na: c", "Host: y", "host: x", "Host : y", "HOST:y",
	}
	for _, value := range []string{
		"close", "Close", "keep-alive", "Keep-Alive", "close, keep-alive", "keep-alive, close", "close,", ",close", "close;", "\"close\"", "upgrade", "Upgrade, close", "a", "a, b, c",
		"host", "content-length", "transfer-encoding", "connection", "x-forwarded-for", "", ",", ",,,", "a b", "close\tclose", strings.Repeat("a,", 32) + "b", strings.Repeat("a,", 33) + "b",
	} {
		all = append(all, "Connection: "+value, "Connection: "+value+"\r\nUpgrade: websocket")
	}
	for _, value := range []string{"websocket", "h2c", "websocket, h2c", "H2C", "", "a/1", "TLS/1.0"} {
		all = append(all, "Upgrade: "+value, "Connection: Upgrade\r\nUpgrade: "+value)
	}
	for _, value := range []string{"100-continue", "100-Continue", "100-continue, x", "x", "", "200-ok"} {
		all = append(all, "Expect: "+value)
	}
	for _, value := range []string{"trailers", "trailers, gzip", "gzip", "trailers;q=0", ""} {
		all = append(all, "TE: "+value)
	}
	for _, name := range []string{
		"Content_Length", "Transfer_Encoding", "X_Forwarded_For", "X-Forwarded_For", "Proxy", "Proxy-Connection", "Keep-Alive", "HTTP2-Settings", "Trailer", "Pragma", "Cookie", "Content-Type",
		"X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Request-Id", "Proxy-Authorization", "Authorization", "Range", "Content-Encoding", "Content-Length-", "-Content-Length",
	} {
		all = append(all, name+": 1", strings.ToLower(name)+":no-cache")
	}
	return all
}

func lengths() []string {
	values := []string{
		"10", "0", "9", "010", "00", "+10", "-1", "-0", "1 0", "10 ", "10,10", "10, 10", "10,9", "0x0a", "1e1", "10.0", "", ",", "10;", "9223372036854775807", "9223372036854775808",
		"99999999999999999999", "１０", "10\x00", "ten",
	}
	all := []string{"", "Content-Length: 10\r\nContent-Length: 10\r\n", "Content-Length: 10\r\nContent-Length: 9\r\n", "Content-Length : 10\r\n", " Content-Length: 10\r\n", "Content-Length:\r\n 10\r\n"}
	for _, v := range values {
		all = append(all, "Content-Length: "+v+"\r\n")
	}
	return all
}

func encodings() []string {
	values := []string{
		"chunked", "Chunked", "CHUNKED", " chunked", "chunked ", "\tchunked", "chunked\t", "\vchunked", "chunked\v", "\x00chunked", "xchunked", "chunkedx", "chunked;q=1", "\"chunked\"", "'chunked'",
		"chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", "identity, chunked", "chunked, identity", "gzip", "", ",", ",chunked", "chunked,", "chunk", "cow", "chu\x00nked", "chun ked", "\r\n chunked",
	}
	all := []string{
		"", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding : chunked\r\n", " Transfer-Encoding: chunked\r\n", "Transfer_Encoding: chunked\r\n", "X: y\nTransfer-Encoding: chunked\r\n", "X: y\rTransfer-Encoding: chunked\r\n", "Transfer-Encoding\r\n",
		"Transfer-encoding: chunked\r\n", "TRANSFER-ENCODING:chunked\r\n", "Transfer-Encoding\x00: chunked\r\n", "TE: chunked\r\n",
	}
	for _, v := range values {
		all = append(all, "Transfer-Encoding: "+v+"\r\n")
	}
	return all
}

func chunkedBodies() []string {
	all := []string{"0\r\n\r\n", "00\r\n\r\n", "000000000000000\r\n\r\n", "0000000000000000\r\n\r\n", "\r\n\r\n", "\r\n0\r\n\r\n", "4\r\nabcd\r\n0\r\n\r\n", "A\r\n0123456789\r\n0\r\n\r\n", "a\r\n0123456789\r\n0\r\n\r\n"}
	for _, size := range []string{
		"04", "4 ", " 4", "4\t", "\t4", "+4", "-4", "0x4", "4.", "4,", "4h", "4;", "4;a", "4;a=b", "4;a=\"b\"", "4;a=\"b;c\"", "4; a", "4 ;a", "4;\ta", "4;a\x00", "4;a\x7f", "4;a\xff", "4;a\n", "4;a\rb",
		"4;" + strings.Repeat("x", 255), "4;" + strings.Repeat("x", 257), "4\x00", "100000004", "10000000000000004", "ffffffffffffffff", "fffffffffffffff0", "8000000000000004", "",
	} {
		all = append(all, size+"\r\nabcd\r\n0\r\n\r\n", "1\r\nx\r\n"+size+"\r\nabcd\r\n0\r\n\r\n")
	}
	for _, end := range []string{"\n", "\r", "", "\n\r", "\r\n\r\n", "X\r\n", "\r\r\n", " \r\n"} {
		all = append(all, "4"+end+"abcd\r\n0\r\n\r\n", "4\r\nabcd"+end+"0\r\n\r\n", "4\r\nabcd\r\n0"+end+"\r\n", "4\r\nabcd\r\n0\r\n"+end)
	}
	for _, trailer := range []string{
		"A: b", "A:", "A: b\r\nC: d", "A", "A : b", " A: b", ": b", "A: b\r\n c", "A: b\nC: d", "A: b\rC: d", "A: \x00", "A: \xff", "Content-Length: 5", "content-length: 5", "Content_Length: 5",
		"Transfer-Encoding: chunked", "Host: y", "Trailer: A", "Connection: close", "X-Forwarded-For: 1.2.3.4", "X-Request-Id: a", "Authorization: a", "A: " + strings.Repeat("a", 8<<10), strings.Repeat("A: b\r\n", 1500) + "C: d",
	} {
		all = append(all, "4\r\nabcd\r\n0\r\n"+trailer+"\r\n\r\n")
	}
	return append(all, "4\r\nabc\r\n0\r\n\r\n", "4\r\nabcde\r\n0\r\n\r\n", "0\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")
}

// responses returns the corpus of responses.
func responses() (all []entry) {
	add := func(name, text string) { all = append(all, entry{name, text}) }
	for _, line := range []string{
		"HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1  200 OK", "HTTP/1.1 200  OK", "HTTP/1.0 200 OK", "HTTP/1.2 200 OK", "HTTP/2.0 200 OK", "http/1.1 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK",
		"HTTP/1.1 +20 OK", "HTTP/1.1 099 OK", "HTTP/1.1 600 OK", "HTTP/1.1 999 OK", "HTTP/1.1 204 None", "HTTP/1.1 304 Same", "HTTP/1.1 100 Continue", "HTTP/1.1 101 Switch", "HTTP/1.1 103 Hints", "HTTP/1.1 199 x", "HTTP/1.1 abc OK",
		"HTTP/1.1 200 O\x00K", "HTTP/1.1 200 \xff", "HTTP/1.1 200\tOK", "HTTP/1.1", "200 OK", "ICY 200 OK", "HTTP/1.1 205 Reset", "HTTP/1.1 404 Not Found", "HTTP/1.1 500 ", "SSH-2.0-OpenSSH",
	} {
		for _, framing := range []string{"", "Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 4\r\nConnection: close\r\n"} {
			add(fmt.Sprintf("%q with %q", line, framing), line+"\r\n"+framing+"\r\n4\r\nabcd\r\n0\r\n\r\n")
		}
		add(fmt.Sprintf("%q with LF", line), line+"\nContent-Length: 4\n\nabcd")
	}
	for _, length := range lengths() {
		for _, encoding := range encodings() {
			add(fmt.Sprintf("framing %q, %q", length, encoding), "HTTP/1.1 200 OK\r\n"+length+encoding+"\r\n4\r\nabcd\r\n0\r\n\r\n")
		}
		add(fmt.Sprintf("length %q with HTTP/1.0", length), "HTTP/1.0 200 OK\r\n"+length+"\r\nabcdefghijkl")
	}
	for _, field := range fields() {
		add(fmt.Sprintf("field %q", field), "HTTP/1.1 200 OK\r\n"+field+"\r\nContent-Length: 2\r\n\r\nok")
	}
	for _, body := range chunkedBodies() {
		add(fmt.Sprintf("chunks %.60q", body), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+body)
	}
	return all
}
