// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output. A command collects facts in a JSON object once; here they become
 * JSON for programs or aligned text for people, so the two cannot differ.
 *
 * Lists may be long (every extent of a drive), so their rows are printed as
 * they come: as elements of one JSON array, or under column heads made of the
 * first row's keys, as wide as that row wants them.
 */
#include <stdlib.h>
#include "lifezone.h"
#include "text.h"

#define KEY_WIDTH	22
#define COLUMN_MIN	7

static const char *text_of(struct json_object *v)
{
	char *clean;

	if (!v)
		return "-";
	if (json_object_is_type(v, json_type_boolean))
		return json_object_get_boolean(v) ? "yes" : "no";
	if (json_object_is_type(v, json_type_string)) {
		clean = strdup(json_object_get_string(v));
		if (!clean)
			return "?";
		clean_text(clean);
		json_object_set_string(v, clean);
		free(clean);
	}
	return json_object_get_string(v);
}

static void print_object(struct json_object *o, int indent)
{
	json_object_object_foreach(o, key, v) {
		int pad = KEY_WIDTH - indent;

		if (json_object_is_type(v, json_type_object)) {
			printf("%*s%s:\n", indent, "", key);
			print_object(v, indent + 2);
		} else if (json_object_is_type(v, json_type_array)) {
			size_t i, n = json_object_array_length(v);

			for (i = 0; i < n; i++)
				printf("%*s%-*s %s\n", indent, "", pad, i ? "" : key,
				       text_of(json_object_array_get_idx(v, i)));
		} else {
			printf("%*s%-*s %s\n", indent, "", pad, key, text_of(v));
		}
	}
}

void out_object(struct out *out, struct json_object *o)
{
	if (out->json)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
						    JSON_C_TO_STRING_SPACED |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		print_object(o, 0);
	json_object_put(o);
}

/* A JSON array has been begun; the command that did may be gone. */
static bool unended;

void out_rows_begin(struct out *out, const char *title)
{
	out->rows = false;
	out->title = title;
	out->fields = 0;
}

/* Wide enough for its head and its first value, which others are likely to be like. */
static int column_width(const char *key, struct json_object *v)
{
	size_t n = max(strlen(key), strlen(text_of(v)));

	return max_t(size_t, n, COLUMN_MIN);
}

void out_row(struct out *out, struct json_object *o)
{
	unsigned int n = json_object_object_length(o);
	unsigned int i = 0;

	if (out->json) {
		printf("%s\n  %s", out->rows ? "," : "[",
		       json_object_to_json_string_ext(o, JSON_C_TO_STRING_SPACED |
						      JSON_C_TO_STRING_NOSLASHESCAPE));
		out->rows = true;
		unended = true;
		json_object_put(o);
		return;
	}
	/* A row of another shape gets heads of its own. */
	if (n != out->fields) {
		json_object_object_foreach(o, key, v) {
			out->width[i] = column_width(key, v);
			printf("%s%*s", i ? "  " : "", out->width[i], key);
			i += i < OUT_COLUMNS - 1;
		}
		putchar('\n');
		out->fields = n;
	}
	i = 0;
	json_object_object_foreach(o, key, v) {
		(void)key;
		printf("%s%*s", i ? "  " : "", out->width[i], text_of(v));
		i += i < OUT_COLUMNS - 1;
	}
	putchar('\n');
	out->rows = true;
	json_object_put(o);
}

void out_close(void)
{
	if (unended)
		printf("\n]\n");
	unended = false;
}

void out_rows_end(struct out *out)
{
	if (out->json) {
		printf("%s]\n", out->rows ? "\n" : "[");
		unended = false;
	} else if (!out->rows) {
		printf("no %s\n", out->title);
	}
}

/* Bytes of the character at @s (RFC 3629); 0: it is none. */
static int utf8_length(const unsigned char *s)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	u32 c = n > 1 ? *s & (0x7f >> n) : *s;
	int i;

	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return n > 1 && (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) ? 0 : n;
}

void put_str(struct json_object *o, const char *key, const char *value)
{
	char *clean = strdup(value), *s = clean;
	int n;

	for (; s && *s; s += n ? n : 1) {
		n = utf8_length((unsigned char *)s);
		if (!n)
			*s = '?';
	}
	json_object_object_add(o, key, json_object_new_string(clean ? clean : "?"));
	free(clean);
}

void put_addr(struct json_object *o, const char *key, u64 addr)
{
	if (addr == LZ_NOWHERE || addr == LZ_NO_ADDR)
		json_object_object_add(o, key, NULL);
	else
		put_u64(o, key, addr);
}
