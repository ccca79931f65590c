package repo

import (
	"io/fs"
	"syscall"
)

func statOf(st fs.FileInfo) fileStat {
	s := plainStat(st)
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.ctime = stamp{uint32(sys.Ctimespec.Sec), uint32(sys.Ctimespec.Nsec)}
		s.dev, s.ino, s.uid, s.gid = uint32(sys.Dev), uint32(sys.Ino), sys.Uid, sys.Gid
	}
	return s
}
