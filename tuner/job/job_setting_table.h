// The hand-written rows of the table of settings, for job_settings.c alone. A row without a path ends it.
#ifndef SWEETSPOT_JOB_SETTING_TABLE_H
#define SWEETSPOT_JOB_SETTING_TABLE_H

#include "tuner/job/job_settings.h"

extern const struct job_setting job_setting_table[];

#endif
