package transport

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog := watchdog{limit: time.Minute}
		ctx, done := dog.watch(t.Context())
		for range 10 {
			time.Sleep(50 * time.Second)
			dog.kick()
		}
		if err := ctx.Err(); err != nil {
			t.Fatalf("slow is not stalled: %v", err)
		}
		resume := dog.hold()
		dog.kick() // as a goroutine of ssh may
		time.Sleep(time.Hour)
		resume()
		time.Sleep(50 * time.Second)
		if err := ctx.Err(); err != nil {
			t.Fatalf("work on this host is no stall: %v", err)
		}
		time.Sleep(time.Minute)
		if context.Cause(ctx) != errStalled {
			t.Fatal("the watchdog sleeps")
		}
		if err := done(io.ErrUnexpectedEOF); !errors.Is(err, ErrUnreachable) {
			t.Errorf("got %v, want ErrUnreachable", err)
		}
	})
}

func TestWatchdogLeavesOtherErrorsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog := watchdog{limit: time.Minute}
		for _, want := range []error{nil, io.ErrUnexpectedEOF} {
			ctx, done := dog.watch(t.Context())
			if err := done(want); err != want {
				t.Errorf("got %v, want %v", err, want)
			}
			dog.kick()
			time.Sleep(time.Hour)
			if context.Cause(ctx) == errStalled {
				t.Error("it bit after the operation")
			}
		}
	})
}
