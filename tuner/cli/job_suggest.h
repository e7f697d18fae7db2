// Suggests job files for a name that is not a file.
#ifndef SWEETSPOT_JOB_SUGGEST_H
#define SWEETSPOT_JOB_SUGGEST_H

// Prints on stderr which existing job files may be meant by a path that names none: those of the same name
// with or without the folder and .cfg, else the nearest name. They are looked for in the path's own folder, the current
// one, configs and the installed configs.
void job_suggest(const char *path);

#endif
