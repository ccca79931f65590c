//go:build !linux

package main

import "errors"

func loopbackUp() error { return errors.New("only Linux has network namespaces") }
