// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone - make, start and examine lifezone devices.
 *
 * One binary, a command each for what there is to do. Everything that touches
 * the format goes through the same core the kernel module is built of, so the
 * tool cannot disagree with the module about it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "lifezone.h"

struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *what;
};

static const struct command commands[] = {
	{ "format", cmd_format,	"make a lifezone device of a zoned drive" },
	{ "start",  cmd_start,	"make its block device appear" },
	{ "stop",   cmd_stop,	"make it go away" },
	{ "status", cmd_status,	"show what started devices are doing" },
	{ "list",   cmd_list,	"list started devices" },
	{ "set",    cmd_set,	"change an option of a started device" },
	{ "trim",   cmd_trim,	"make file systems on one discard what they have freed" },
	{ "table",  cmd_table,	"print the device-mapper table line of a drive" },
	{ "probe",  cmd_probe,	"tell whether a drive holds a lifezone device" },
	{ "check",  cmd_check,	"verify a lifezone device that is not in use" },
	{ "repair", cmd_repair,	"rebuild damaged metadata of one from what is whole" },
	{ "dump",   cmd_dump,	"print metadata of a drive or image, damaged or not" },
	{ "sim",    cmd_sim,	"simulate placement policies and count what they copy" },
};

static void print_commands(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: lifezone COMMAND [ARGUMENT...]\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].what);
	fprintf(f, "\n\"lifezone COMMAND --help\" tells more; so does lifezone(8).\n");
}

/*
 * Or a drive opened in the place of one that is closed would get what we print. What is
 * printed there fails as it did.
 */
static bool hold_standard_files(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return false;
	return true;
}

static int not_written = EXIT_FAIL;

/* However it ends, with @status: what could not be printed is told. */
static void close_output(int status, void *unused)
{
	(void)unused;
	out_close();
	if (!fflush(stdout) && !ferror(stdout))
		return;
	complain("standard output", "cannot be written");
	_exit(status ? status : not_written);
}

int main(int argc, char **argv)
{
	size_t i;

	if (!hold_standard_files()) {
		complain("/dev/null", "cannot be opened: %s", strerror(errno));
		return EXIT_FAIL;
	}
	on_exit(close_output, NULL);
	argp_err_exit_status = EXIT_USAGE_;
	if (argc < 2) {
		print_commands(stderr);
		return EXIT_USAGE_;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
		print_commands(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("lifezone %s, on-disk format %u\n", TOOL_VERSION, LZ_FORMAT_VERSION);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		/* 1 means something else there. */
		if (commands[i].fn == cmd_check || commands[i].fn == cmd_repair)
			not_written = EXIT_OPERATION;
		return commands[i].fn(argc - 1, argv + 1);
	}
	complain(argv[1], "no such command (\"lifezone --help\" lists them)");
	return EXIT_USAGE_;
}
