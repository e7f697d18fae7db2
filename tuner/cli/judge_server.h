// The judge that stays (`judge --serve`): requests (judge_request.h) come as lines from standard input or from the
// clients of a Unix socket, and each is answered by a line.
//
// The server never touches CUDA and trusts no request. Each is judged by a process of its own, `sweetspot judge -`, and
// so in a CUDA context of its own. One request is judged at a time, while a spare process waits, its workers started. A
// spare is started when a request begins, so that it is ready before that request's kernel is timed.
//
// Everything is bounded: clients, requests that wait (beyond them no more is read), lines, answers that a client does
// not read, and the time of a request. A process that is late, or whose client has gone, is killed with all that it
// started.
#pragma once

// `socket` NULL or "-": standard input, until it ends. `cache` may be NULL. Prints its own messages. Returns the exit
// status.
int judge_server_run(const char *socket, const char *device, const char *cache);
