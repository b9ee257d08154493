/*
 * test_clients.c - what real agents need.
 */
#include "test.h"

#include "session/clients.h"

TEST(agents_are_known_by_how_their_names_begin)
{
	CHECK(mp_client_find_habit(MP_STR("codex-mcp-client"))->ignores_changes);
	CHECK(mp_client_find_habit(MP_STR("Codex"))->ignores_changes);
	CHECK(!mp_client_find_habit(MP_STR("claude-code"))->ignores_changes);
	CHECK_EQ(mp_client_find_habit(MP_STR("Visual Studio Code - Insiders"))->tools, 128);
	CHECK_EQ(mp_client_find_habit(MP_STR(""))->tools, 0);
	CHECK_EQ(mp_client_find_habit(MP_STR("cod"))->ignores_changes, false);
}
