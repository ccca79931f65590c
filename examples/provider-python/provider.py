#!/usr/bin/env python3
"""A memory provider for vade in one file, with the standard library only.

It speaks vade.provider/1 (docs/provider-protocol.md): JSON-RPC 2.0, one message
a line, requests on stdin, answers on stdout, everything else on stderr. It
keeps memories in memories.db in the working directory, which vade sets to a
folder of the provider's own, and finds them by their words.

The same loop serves both modes. Long-lived: vade leaves stdin open and sends
more. One-shot: vade sends one line and closes stdin, and the loop ends.

Try it:

    echo '{"jsonrpc":"2.0","id":"1","method":"vade.health","params":{}}' | python3 provider.py
    vade provider eval jsonrpc --command python3 -- "$PWD/provider.py"
"""

import collections
import datetime
import json
import math
import os
import queue
import re
import sqlite3
import sys
import threading
import time

# What this provider says of itself. Each promise is tested by vade's kit: say
# only what is true. Delete what you do not implement, and its method below.
ABOUT = {
    "protocol": "vade.provider/1",
    "name": "provider-python",
    "version": "1.0",
    "capabilities": {
        "put_batch": True, "delete": True, "resolve": True, "find": True, "list": True, "cleanup": True, "purge": True,
        "filter": True,  # search honours workspace
        "verbatim": True, "attribution": True,  # hits carry text and id as they were put
        "idempotent": True, "replaces": True,  # one copy of a key, one version of an id
        "read_your_writes": True,
        "score": "similarity",  # higher is better
        "max_batch": 100,
    },
}  # fmt: skip


NOT_JSON, END = object(), object()  # in the queue of requests


class Refused(Exception):
    """An answer that is an error: a code of the protocol, and why."""

    def __init__(self, code, message, **data):
        super().__init__(message)
        self.error = {"code": code, "message": message, "data": data}


class Store:
    """Memories in one SQLite table. A call returns after its change is on disk."""

    def __init__(self):
        self.db = sqlite3.connect("memories.db", timeout=20, isolation_level=None)
        self.db.execute("PRAGMA synchronous = FULL")  # an answer is a promise
        self.db.execute("PRAGMA secure_delete = ON")  # forgotten is forgotten
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS memories (ref TEXT PRIMARY KEY, id TEXT NOT NULL, version TEXT NOT NULL,"
            " workspace TEXT NOT NULL, expires TEXT NOT NULL, item TEXT NOT NULL)"
        )
        self.db.execute("CREATE INDEX IF NOT EXISTS by_id ON memories (id)")

    def put(self, items):
        """Several processes may share the file, so each batch is a transaction."""
        refs = []
        self.db.execute("BEGIN IMMEDIATE")
        with self.db:  # commits, or rolls back
            for item in items:
                # A long memory comes in parts; each part has a place of its own,
                # the same for every version: that makes puts idempotent.
                ref = f"{item['id']}#{item.get('part', 0)}"
                self.db.execute("DELETE FROM memories WHERE id = ? AND version <> ?", (item["id"], item["version"]))
                self.db.execute(
                    "INSERT OR REPLACE INTO memories VALUES (?, ?, ?, ?, ?, ?)",
                    (ref, item["id"], item["version"], item.get("workspace", ""), item.get("expires", ""), json.dumps(item)),
                )
                refs.append(ref)
        return refs

    def rows(self, where="1", args=()):
        return self.db.execute(f"SELECT ref, item FROM memories WHERE {where}", args)

    def remove(self, where="1", args=()):
        return self.db.execute(f"DELETE FROM memories WHERE {where}", args).rowcount


def words(text):
    return re.findall(r"\w+", text.casefold())


def hit(ref, item, score=None):
    h = {"ref": ref, "text": item["text"]}
    for name in ("id", "version", "vault", "part", "created"):
        if name in item:
            h[name] = item[name]
    if score is not None:
        h["score"] = score
    return h


class Provider:
    def __init__(self):
        self.store = Store()
        self.cancelled = set()  # ids, filled by the thread that reads stdin

    def search(self, params, check):
        query = set(words(params["text"]))
        # Memories of this workspace, and those that belong to none.
        where, args = "(expires = '' OR expires > ?)", [now()]
        if params.get("workspace"):
            where, args = where + " AND workspace IN ('', ?)", args + [params["workspace"]]
        found, seen = [], collections.Counter()
        total = 0
        for ref, raw in self.store.rows(where, args):
            check()
            item, total = json.loads(raw), total + 1
            counts = collections.Counter(w for w in words(item.get("title", "") + " " + item["text"]) if w in query)
            if counts:
                seen.update(counts.keys())
                found.append((ref, item, counts))
        hits = []
        for ref, item, counts in found:
            check()
            # A word that few memories have says more; saying it twice says little more.
            score = sum(math.log(1 + total / seen[w]) * n / (n + 1) for w, n in counts.items())
            hits.append(hit(ref, item, round(score, 4)))
        hits.sort(key=lambda h: (-h["score"], h["ref"]))
        return {"hits": hits[: params["limit"]]}

    def list(self, params):
        limit = params.get("limit", 100)
        rows = list(self.store.rows("ref > ? ORDER BY ref LIMIT ?", (params.get("cursor", ""), limit)))
        return {"hits": [hit(ref, json.loads(raw)) for ref, raw in rows], "next": rows[-1][0] if len(rows) == limit else ""}

    def find(self, params):
        marks = ",".join("?" * len(params["ids"]))
        return {"hits": [hit(ref, json.loads(raw)) for ref, raw in self.store.rows(f"id IN ({marks})", params["ids"])]}

    def put_batch(self, params):
        return {"results": [{"state": "stored", "refs": [ref]} for ref in self.store.put(params["items"])]}

    def delete(self, params):
        self.store.remove("ref = ?", [params["ref"]])  # what is not there is deleted, too
        return {"state": "deleted"}

    def answer(self, method, params, check):
        match method:
            case "vade.initialize":
                return ABOUT
            case "vade.health":
                self.store.db.execute("SELECT count(*) FROM memories").fetchone()
                return {"version": ABOUT["version"], "warnings": []}
            case "vade.search":
                return self.search(params, check)
            case "vade.put":
                return {"state": "stored", "refs": self.store.put([params["item"]])}
            case "vade.put_batch":
                return self.put_batch(params)
            case "vade.delete":
                return self.delete(params)
            case "vade.resolve":  # puts are stored at once, so there is nothing to wait for
                return {**params["receipt"], "state": "stored"}
            case "vade.find":
                return self.find(params)
            case "vade.list":
                return self.list(params)
            case "vade.cleanup":
                return {"removed": self.store.remove("expires <> '' AND expires <= ?", [params["now"]])}
            case "vade.purge":
                return {"removed": self.store.remove()}
        raise Refused(-32601, f"no method {method}")

    def handle(self, request):
        """Answers one request; None for a notification, which has no answer."""
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return failed(None, -32600, "not a request")
        if "id" not in request:
            return None
        params = request.get("params") or {}
        deadline = time.monotonic() + params.get("deadline_ms", 3_600_000) / 1000

        def check():
            if request["id"] in self.cancelled:
                raise Refused(-32800, "cancelled")
            if time.monotonic() > deadline:
                raise Refused(-32800, "the deadline has passed")

        try:
            check()
            return {"jsonrpc": "2.0", "id": request["id"], "result": self.answer(request["method"], params, check)}
        except Refused as e:
            return {"jsonrpc": "2.0", "id": request["id"], "error": e.error}
        except (KeyError, TypeError, ValueError) as e:
            return failed(request["id"], -32602, f"{request['method']}: bad or missing {e}")
        except sqlite3.OperationalError as e:  # locked, disk full: again, later
            return failed(request["id"], -32001, str(e))
        finally:
            self.cancelled.discard(request["id"])


def failed(request_id, code, message):
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(requests, cancelled):
    """Reads stdin in a thread of its own, so that a cancel overtakes the queue."""
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
        except ValueError:
            request = NOT_JSON
        if isinstance(request, dict) and request.get("method") == "vade.cancel":
            cancelled.add(request.get("params", {}).get("id"))
        else:
            requests.put(request)
    requests.put(END)  # stdin was closed: answer the rest, and end


def main():
    os.umask(0o077)
    provider, requests = Provider(), queue.Queue()
    threading.Thread(target=read, args=(requests, provider.cancelled), daemon=True).start()
    while (request := requests.get()) is not END:
        answer = failed(None, -32700, "not JSON") if request is NOT_JSON else provider.handle(request)
        if answer is not None:
            sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
            sys.stdout.buffer.flush()  # or nobody sees it until the buffer is full


if __name__ == "__main__":
    main()
