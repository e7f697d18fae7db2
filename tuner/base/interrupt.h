// Counts Ctrl-C and similar signals (SIGINT, SIGTERM, SIGHUP). The first signal asks the program to shut down cleanly,
// and the second asks it to end at once.
#pragma once

// Installs the handlers; SIGPIPE is ignored from then on. If SIGHUP was ignored before (nohup), it stays ignored.
void interrupt_watch(void);
int interrupt_count(void);  // signals since interrupt_watch
int interrupt_status(void); // the exit status after the first of them: 130 for Ctrl-C (protocol.h)
