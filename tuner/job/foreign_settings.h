// What other tuners call the settings of a job file.
#ifndef SWEETSPOT_FOREIGN_SETTINGS_H
#define SWEETSPOT_FOREIGN_SETTINGS_H

// How to say here what a setting of this name says elsewhere: "it is 'constraints' here". Static text, or NULL.
const char *foreign_setting(const char *name);

#endif
