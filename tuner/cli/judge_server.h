// The judge as a server (`judge --serve`). Requests (judge_request.h) are lines from standard input or from the clients
// of a Unix socket. Each is answered with one line.
//
// The server never uses CUDA and trusts no request. Each request gets its own process, `sweetspot judge -`, and
// therefore its own CUDA context. One request is judged at a time, while a spare process waits with its workers
// started. The spare is started when a request begins, so that it is ready before that request's kernel is timed.
//
// Everything is bounded: the number of clients, the number of waiting requests (at the limit, no further requests are
// read), the length of lines, the unread answers, and the time for a request. A process that exceeds its time, or whose
// client has disconnected, is killed with all processes that it started.
#pragma once

// If `socket` is NULL or "-", serves standard input until it ends. `cache` may be NULL. Prints its own messages.
// Returns the exit status.
int judge_server_run(const char *socket, const char *device, const char *cache);
