package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// postBuffer is how long a request may be and still announce its length; what
// is longer goes in chunks (git's http.postBuffer).
const postBuffer = 1 << 20

// An httpConversation posts each exchange.
type httpConversation struct {
	d       *httpDialer
	service string
	said    *advertisement
	request *requestBody // of the last exchange
	answer  io.ReadCloser
}

func (c *httpConversation) advert() *advertisement { return c.said }
func (c *httpConversation) stateless() bool        { return true }

func (c *httpConversation) close(err error) error {
	if c.request != nil {
		c.request.stop()
	}
	if c.answer != nil {
		finishBody(c.answer, err)
	}
	c.request, c.answer = nil, nil
	return err
}

// finishBody reads the little that follows a flush packet, so that the
// connection can be used again.
func finishBody(body io.ReadCloser, err error) {
	if err == nil {
		io.CopyN(io.Discard, body, 4<<10)
	}
	body.Close()
}

func (c *httpConversation) exchange(ctx context.Context, write func(io.Writer) error) (*pktReader, error) {
	c.close(nil)
	body, err := startBody(write)
	if err != nil {
		return nil, err
	}
	c.request = body
	resp, err := c.post(ctx, body)
	if err != nil {
		return nil, err
	}
	want := "application/x-" + c.service + "-result"
	switch got := resp.Header.Get("Content-Type"); {
	case resp.StatusCode != http.StatusOK:
		err = c.d.statusError(resp)
	case got != want:
		err = fault(ErrProtocol, fmt.Sprintf("the answer is %q, not %q", words1([]byte(got)), want), notGitRemedy)
	default:
		c.answer = resp.Body
		return newPktReader(watchedReader{resp.Body, c.d.dog}), nil
	}
	resp.Body.Close()
	return nil, err
}

func (c *httpConversation) post(ctx context.Context, body *requestBody) (*http.Response, error) {
	req, err := c.d.request(ctx, http.MethodPost, c.d.base+"/"+c.service, watchedReader{body.reader(), c.d.dog})
	if err != nil {
		return nil, err
	}
	req.ContentLength = -1
	if body.rest == nil {
		req.ContentLength = int64(len(body.head))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body.head)), nil }
	}
	req.Header.Set("Content-Type", "application/x-"+c.service+"-request")
	req.Header.Set("Accept", "application/x-"+c.service+"-result")
	return c.d.do(req)
}

// A requestBody is what a function writes: in full when it is short, else the
// head of it and a stream from a goroutine.
type requestBody struct {
	head  []byte
	rest  *io.PipeReader
	ended chan error
}

// startBody runs write until it has ended or filled the buffer.
func startBody(write func(io.Writer) error) (*requestBody, error) {
	pr, pw := io.Pipe()
	b := &requestBody{ended: make(chan error, 1)}
	go func() {
		err := write(pw)
		b.ended <- err
		pw.CloseWithError(err)
	}()
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(pr, postBuffer))
	if err != nil {
		return nil, err
	}
	b.head = head.Bytes()
	if n == postBuffer {
		b.rest = pr
	}
	return b, nil
}

func (b *requestBody) reader() io.Reader {
	if b.rest == nil {
		return bytes.NewReader(b.head)
	}
	return io.MultiReader(bytes.NewReader(b.head), b.rest)
}

// stop ends the function if it still writes, and waits for it.
func (b *requestBody) stop() {
	if b.rest != nil {
		b.rest.Close()
		<-b.ended
	}
}
