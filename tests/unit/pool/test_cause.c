/* test_cause.c - why a server does not work: words of runtimes and of curl, and what to type. */
#include "test.h"

#include "base/limits.h"
#include "pool/cause.h"

static bool cause_of(const char *message, const char *tail, struct mp_arena *arena,
		     struct mp_cause *ret)
{
	struct mp_symptoms s = {.server = "s", .is_ours = true, .message = message, .tail = tail};

	return mp_cause_find(&s, arena, ret);
}

#define NODE_END "\n    at Server.x (node:net:1)\n{\n  errno: -98\n}\n\nNode.js v18.1.0\n"

TEST(words_of_runtimes_are_known)
{
	static const struct {
		const char *message, *tail, *what, *fix;
	} rows[] = {
		{"start: the command 'npx' was not found in PATH", "", "'npx' is not installed",
		 "mcpool edit s command=/path/of/npx # "},
		{"start: '/x/y' is not executable (chmod +x?)", "", "/x/y may not",
		 "chmod +x /x/y"},
		{"start: the folder '/no where' does not exist", "", "the folder /no where",
		 "mkdir -p '/no where'"},
		{"Unresolved variable ${DATABASE_URL} for mcp 's' at x", "",
		 "the variable DATABASE_URL is not set", "mcpool edit s --env DATABASE_URL=VALUE"},
		{"there is no secret 'a.B'. Save it", "", "the secret a.B",
		 "mcpool secret set a.B"},
		{"handshake: exited with code 1",
		 "node:events:497\n      throw er;\n\nError: listen EADDRINUSE: address already in "
		 "use 127.0.0.1:8080" NODE_END,
		 "port 8080 is in use by another process", "ss -ltnp sport = :8080"},
		{"exited with code 1", "Error: listen EADDRINUSE: address already in use :::3000\n",
		 "port 3000 is in use", ":3000"},
		{"exited with code 1",
		 "[Errno 98] error while attempting to bind on address ('127.0.0.1', 9001): "
		 "address "
		 "already in use\n",
		 "port 9001 is in use", ":9001"},
		{"exited with code 1", "OSError: [Errno 98] Address already in use\n",
		 "a port that it listens at is in use", "ss -ltnp"},
		{"handshake: exited with code 1",
		 "Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: "
		 "node:sqlite" NODE_END,
		 "it needs a newer Node.js than v18.1.0", "nvm install --lts"},
		{"handshake: exited with code 1", "npm warn EBADENGINE Unsupported engine {\n",
		 "it needs a newer Node.js than the one", "nvm install --lts"},
		{"handshake: exited with code 3",
		 "Error: DATABASE_URL environment variable is required\n",
		 "the variable DATABASE_URL, which it needs, is not set",
		 "mcpool edit s --env DATABASE_URL=VALUE"},
		{"handshake: exited with code 1", "  os.environ[x]\nKeyError: 'API_KEY'\n",
		 "the variable API_KEY", "--env API_KEY=VALUE"},
		{"handshake: exited with code 1", "Error: Cannot find module 'a;rm -rf ~'" NODE_END,
		 "a;rm -rf ~, which it needs", "npm install"},
		{"handshake: exited with code 1", "ModuleNotFoundError: No module named '$(x)'\n",
		 "the Python module $(x)", "pip install '$(x)'"},
		{"handshake: exited with code 1", "", "it ends while it starts", "mcpool test s"},
		{"exited with code 7", "", "again and again", "mcpool logs s"},
		{"handshake: no answer within 0.7 s", "", "hangs, or needs longer",
		 "mcpool test s --timeout 2m"},
	};
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_KIB(64));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_cause c;

		CHECK(cause_of(rows[i].message, rows[i].tail, &arena, &c));
		CHECK(strstr(c.what, rows[i].what));
		CHECK(strstr(c.fix, rows[i].fix));
	}
}

TEST(words_about_remote_servers_are_known)
{
	static const struct {
		const char *message, *what, *fix;
	} rows[] = {
		{"no address is known for https://api.x.test:8443",
		 "the name api.x.test is not known", "getent hosts api.x.test"},
		{"no address is known for https://a.test: not for its proxy", "name of its proxy",
		 "_proxy"},
		{"its proxy was not reached for http://a.test: Connection refused",
		 "names for a.test does not answer", "_proxy"},
		{"no secure connection to https://a.test: SSL certificate problem: self-signed "
		 "certificate",
		 "the certificate of a.test (TLS) is signed by itself", "tls:="},
		{"no secure connection to https://a.test: certificate has expired", "expired",
		 "date"},
		{"could not connect to http://127.0.0.1:9: Connection refused",
		 "nothing listens there", "--url URL"},
		{"log in: mcpool login s (http://a.test answered HTTP 401 (not logged in))",
		 "a.test wants a login", "mcpool login s"},
	};
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_KIB(64));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_cause c;

		CHECK(cause_of(rows[i].message, "", &arena, &c));
		CHECK(strstr(c.what, rows[i].what));
		CHECK(strstr(c.fix, rows[i].fix));
	}
}

/* The file of another tool is never changed; what is missing is not invented. */
TEST(an_entry_of_another_tool_is_imported_first)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_symptoms s = {
		.server = "a b", .message = "Unresolved variable ${X_Y} for", .tail = ""};
	struct mp_cause c;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK(mp_cause_find(&s, &arena, &c));
	CHECK(strstr(c.fix, "mcpool import 'a b'; mcpool edit 'a b' --env X_Y=VALUE"));
	CHECK_TEXT(c.variable, "X_Y");
	s.message = "something else";
	CHECK(!mp_cause_find(&s, &arena, &c));
	s.message = "";
	CHECK(!mp_cause_find(&s, &arena, &c));
}

TEST(the_line_that_says_most)
{
	CHECK_STR(mp_cause_get_line(MP_STR("Error: a\n    at b\n\nNode.js v20.1.0\n")), "Error: a");
	CHECK_STR(mp_cause_get_line(MP_STR("TypeError: x\n  code: 'y'\n}\n")), "TypeError: x");
	CHECK_STR(mp_cause_get_line(MP_STR("Error [ERR_X]: y\nNode.js v20\n")), "Error [ERR_X]: y");
	CHECK_STR(mp_cause_get_line(MP_STR("Error: a\nlast words\n")), "last words");
	CHECK_STR(mp_cause_get_line(MP_STR(
			  "npm error code E404\nnpm error 404 Not Found - GET x\nnpm error 404\n"
			  "npm error A complete log of this run can be found in: y\n")),
		  "npm error 404 Not Found - GET x");
	CHECK_STR(mp_cause_get_line(
			  MP_STR("npm error A complete log of this run can be found in: y\n")),
		  "npm error A complete log of this run can be found in: y");
	CHECK_STR(mp_cause_get_line(MP_STR("starting\nNode.js v20.1.0\n")), "Node.js v20.1.0");
	CHECK_STR(mp_cause_get_line(MP_STR("")), "");
}
