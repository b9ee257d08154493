/* test_port_process.c - which process listens at a port: the kernel's table, and this process. */
#include "test.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/doctor/port_process.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define ROW(port, state, inode)                        \
	"   0: 0100007F:" port " 00000000:0000 " state \
	" 00000000:00000000 00:00000000 00000000     0        0 " inode " 1 0000 100 0 0 10 0\n"

TEST(a_listener_is_read_from_the_table)
{
	struct mp_str text = MP_STR(HEAD ROW("1F90", "01", "11") ROW("1F90", "0A", "22")
					    ROW("1F91", "0A", "33") "nonsense\n");

	CHECK_EQ(mp_port_process_read(text, 8080), 22);
	CHECK_EQ(mp_port_process_read(text, 8081), 33);
	CHECK_EQ(mp_port_process_read(text, 8082), 0);
	CHECK_EQ(mp_port_process_read(MP_STR(""), 8080), 0);
}

TEST(this_process_is_found)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t owner;

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&a, n) == 0 && listen(fd, 1) == 0 &&
	      getsockname(fd, (struct sockaddr *)&a, &n) == 0);
	owner = mp_port_process_find(ntohs(a.sin_port));
	close(fd);
	CHECK(owner == getpid() || owner == 0); /* 0: without memory for the table */
}
