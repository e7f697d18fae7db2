// Counts Ctrl-C and similar signals (SIGINT, SIGTERM, SIGHUP): the first asks for an orderly end, the second for an
// immediate one.
#pragma once

// Installs the handlers; SIGPIPE is ignored from then on. A SIGHUP that was ignored before stays so (nohup).
void interrupt_watch(void);
int interrupt_count(void);  // signals since interrupt_watch
int interrupt_status(void); // the exit status after the first of them: 130 for Ctrl-C (protocol.h)
