// `make deb`: the package has the files that `make install` installs, declares its dependencies, and works in whatever
// folder it is unpacked.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/base/installation.h"

static char folder[] = "/tmp/sweetspot-deb-XXXXXX", *project;

static void setup(void)
{
    assert_non_null(mkdtemp(folder));
    project = getcwd(NULL, 0);
}

static void teardown(void)
{
    e2e_run("/tmp", "rm -rf %s", folder);
    free(project);
}

static void skip_without_dpkg(void)
{
    struct e2e_result r = e2e_run(folder, "command -v dpkg-deb && command -v dpkg-shlibdeps");
    if (r.status) skip();
}

// The programs are already built, and the settings of the calling make are not wanted here.
TEST(the_package_is_built_with_what_it_needs)
{
    skip_without_dpkg();
    e2e_pass(folder, "umask 077; env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -o all deb BIN=\"$BIN\" "
                     "DEB=$DIR/deb && mv $DIR/deb/*.deb $DIR/sweetspot.deb");
    struct e2e_result r = e2e_run(folder, "dpkg-deb -f $DIR/sweetspot.deb; $BIN/sweetspot --version");
    assert_contains(r.out, "Package: sweetspot\n", "libsqlite3-0", "libjansson4", "Recommends: cuda-nvrtc-");
    assert_null(strstr(r.out, "@VERSION@"));
    char version[32] = "", *line;
    sscanf(strstr(r.out, "\nsweetspot ") ? strstr(r.out, "\nsweetspot ") : "", "\nsweetspot %31s", version);
    line = test_text("Version: %s\n", version);
    assert_contains(r.out, line);
}

TEST(it_has_the_files_of_make_install)
{
    skip_without_dpkg();
    struct e2e_result r =
        e2e_run(folder, "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -o all install BIN=\"$BIN\" PREFIX=/usr "
                        "DESTDIR=$DIR/plain >/dev/null && cd $DIR/plain && find usr ! -type d | sort >../installed && "
                        "cd .. && dpkg-deb --fsys-tarfile sweetspot.deb | tar t | grep -v '/$' | sed 's|^./||; "
                        "s|^\\(.*/man1/.*\\)[.]gz$|\\1|' | sort >packed && diff installed packed");
    if (strstr(r.out, "\n< ") || !strncmp(r.out, "< ", 2)) fail_msg("missing in the package: %s", r.out);
    assert_string_equal(r.err, "");
    assert_contains(r.out, "> usr/share/doc/sweetspot/copyright", "> usr/share/doc/sweetspot/changelog.gz");
    r = e2e_run(folder, "dpkg-deb --fsys-tarfile $DIR/sweetspot.deb | tar tv | grep -v ' root/root '");
    assert_string_equal(r.out, ""); // root owns all files
}

TEST(unpacked_anywhere_it_works)
{
    skip_without_dpkg();
    struct e2e_result r = e2e_passed(
        e2e_in(folder,
               "dpkg-deb -x sweetspot.deb there && mkdir work && cd work && S=../there/usr/bin/sweetspot "
               "&& $S --version && $S check configs/sgemm_2048.cfg && $S tune configs/sgemm_2048.cfg -q --no-final -n "
               "10 --device replay:%s/tests/spaces/sgemm_2048_h200.json.gz && gzip -dc "
               "../there/usr/share/man/man1/*.gz | head -1 && cd ../there && find . ! -perm -004; sh -c 'dpkg-deb -e "
               "../sweetspot.deb ../control && md5sum --quiet -c ../control/md5sums'",
               project));
    assert_contains(r.out, "sweetspot " SWEETSPOT_VERSION "\n", "\nNVRTC ");
    assert_null(strstr(r.out, "not found"));
    assert_contains(r.out, "no mistakes found");
    assert_contains(r.err, "10 new trials");
    assert_contains(r.out, "manual page");
}

TEST_MAIN(setup, teardown)
