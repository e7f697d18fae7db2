// Ctrl-C and its relatives (SIGINT, SIGTERM, SIGHUP), counted: the first asks for an orderly end, the second for one at
// once.
#ifndef SWEETSPOT_INTERRUPT_H
#define SWEETSPOT_INTERRUPT_H

void interrupt_watch(void); // installs the handlers; SIGPIPE is ignored from then on
int interrupt_count(void);  // signals since interrupt_watch
int interrupt_status(void); // the exit status after the first of them: 130 for Ctrl-C (protocol.h)

#endif
