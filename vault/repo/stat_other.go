//go:build !linux && !darwin

package repo

import "io/fs"

func statOf(st fs.FileInfo) fileStat { return plainStat(st) }
