// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Command tool is the program of test images. Its arguments are commands, each ended by a
// comma: tool echo hello , sleep. It stops at the first command that fails.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	for args := os.Args[1:]; len(args) > 0; {
		end := slices.Index(args, ",")
		if end < 0 {
			end = len(args)
		}
		if err := run(args[:end]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
			os.Exit(1)
		}
		args = args[min(end+1, len(args)):]
	}
}

func run(args []string) error {
	arg := func(n int) string {
		if n < len(args) {
			return args[n]
		}
		return ""
	}
	number := func(n int) int {
		v, _ := strconv.Atoi(arg(n))
		return v
	}
	switch arg(0) {
	case "echo":
		fmt.Println(strings.Join(args[1:], " "))
	case "error":
		fmt.Fprintln(os.Stderr, strings.Join(args[1:], " "))
	case "try": // prints whether another command works
		if err := run(args[1:]); err != nil {
			fmt.Printf("%s: %v\n", strings.Join(args[1:], " "), err)
		} else {
			fmt.Printf("%s: done\n", strings.Join(args[1:], " "))
		}
	case "sleep":
		signal.Reset()
		time.Sleep(time.Hour)
	case "wait": // for a signal, which it prints
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1)
		fmt.Println("waiting")
		fmt.Println("received", <-c)
	case "exit":
		os.Exit(number(1))
	case "stand-in": // for a server, whatever its arguments
		err := standIn()
		if err == nil {
			os.Exit(0)
		}
		return err
	case "finish": // as a program that does its work, whatever its arguments
		fmt.Println("done", strings.Join(args[1:], " "))
		os.Exit(0)
	case "kill":
		return syscall.Kill(number(1), syscall.Signal(number(2)))
	case "env":
		env := os.Environ()
		slices.Sort(env)
		for _, kv := range env {
			if len(args) == 1 || strings.HasPrefix(kv, arg(1)) {
				fmt.Println(kv)
			}
		}
	case "id":
		groups, _ := os.Getgroups()
		fmt.Println("uid", os.Getuid(), "gid", os.Getgid(), "groups", groups)
	case "pid":
		fmt.Println("pid", os.Getpid())
	case "pwd":
		dir, err := os.Getwd()
		fmt.Println(dir)
		return err
	case "hostname":
		name, err := os.Hostname()
		fmt.Println(name)
		return err
	case "cat":
		b, err := os.ReadFile(arg(1))
		os.Stdout.Write(b)
		return err
	case "grep":
		return grep(arg(1), arg(2))
	case "copy": // of standard input
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case "ls":
		entries, err := os.ReadDir(arg(1))
		for _, e := range entries {
			fmt.Println(e.Name())
		}
		return err
	case "stat":
		var st syscall.Stat_t
		if err := syscall.Lstat(arg(1), &st); err != nil {
			return err
		}
		fmt.Printf("%s %d:%d %o\n", arg(1), st.Uid, st.Gid, st.Mode&0o7777)
	case "write":
		return os.WriteFile(arg(1), []byte(strings.Join(args[2:], " ")), 0o644)
	case "mkdir":
		return os.MkdirAll(arg(1), 0o755)
	case "link":
		return os.Symlink(arg(1), arg(2))
	case "remove":
		return os.RemoveAll(arg(1))
	case "eat": // megabytes of memory
		b := make([]byte, number(1)<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		fmt.Println("ate", len(b)>>20)
	case "serve":
		return http.ListenAndServe(":"+arg(1), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served\n") }))
	case "dial":
		c, err := net.Dial(arg(1), arg(2))
		if err == nil {
			c.Close()
		}
		return err
	case "lookup":
		addresses, err := net.LookupHost(arg(1))
		fmt.Println(strings.Join(addresses, " "))
		return err
	case "orphan": // leaves a process behind
		_, err := syscall.ForkExec("/proc/self/exe", []string{"tool", "sleep"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
		return err
	case "tty":
		_, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		return err
	case "size": // of the terminal
		var size [4]uint16
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, 0, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))); e != 0 {
			return e
		}
		fmt.Println("rows", size[0], "columns", size[1])
	default:
		return attack(args)
	}
	return nil
}

func grep(text, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.Contains(lines.Text(), text) {
			fmt.Println(lines.Text())
		}
	}
	return nil
}
