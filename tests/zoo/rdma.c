/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of RDMA memory regions. The adapter is real for the kernel: soft-RoCE (rdma_rxe), on
 * the loopback interface. The write to the device is one that ibv_reg_mr() of libibverbs makes.
 */
#include "zoo.h"

#include <linux/capability.h>
#include <linux/netlink.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#define DEVICE	     "/dev/infiniband/uverbs0"
#define LOCAL_WRITE  1 /* IB_ACCESS_LOCAL_WRITE */
#define REGION_BYTES MIB
#define WAIT_US	     10000
#define WAITS	     300

struct attribute {
	struct nlattr head;
	char text[8]; /* NUL bytes at the end belong to the text */
};

/* Asks the kernel to make the adapter rxe0, as `rdma link add rxe0 type rxe netdev lo` does. */
static void make_adapter(void)
{
	struct {
		struct nlmsghdr head;
		struct attribute name, type, below;
	} request = {
		.head = { .nlmsg_len = sizeof(request), .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
			  .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK) },
		.name = { { sizeof(struct attribute), RDMA_NLDEV_ATTR_DEV_NAME }, "rxe0" },
		.type = { { sizeof(struct attribute), RDMA_NLDEV_ATTR_LINK_TYPE }, "rxe" },
		.below = { { sizeof(struct attribute), RDMA_NLDEV_ATTR_NDEV_NAME }, "lo" },
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char room[256];
	} answer = {};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (fd < 0)
		skip("NETLINK_RDMA: %s", strerror(errno));
	if (send(fd, &request, sizeof(request), 0) < 0 || recv(fd, &answer, sizeof(answer), 0) < 0)
		skip("RDMA_NLDEV_CMD_NEWLINK: %s", strerror(errno));
	close(fd);
	if (answer.error.error && answer.error.error != -EEXIST)
		skip("rdma_rxe: %s", strerror(-answer.error.error));
}

static int device;

/* Makes a call of the verbs interface: a header, a command, and room for a response. */
static void command(__u32 number, void *request, size_t bytes, size_t response_bytes)
{
	struct ib_uverbs_cmd_hdr *head = request;

	*head = (struct ib_uverbs_cmd_hdr){ number, bytes / 4, response_bytes / 4 };
	if (write(device, request, bytes) != (ssize_t)bytes)
		skip("command %u of " DEVICE ": %s", number, strerror(errno));
}

static struct {
	struct ib_uverbs_cmd_hdr head;
	struct ib_uverbs_reg_mr body;
} region;
static struct ib_uverbs_reg_mr_resp region_made;

/* Prepares to register memory, without the right to lock any number of pages. */
static void register_memory(void)
{
	static struct ib_uverbs_get_context_resp context;
	static struct ib_uverbs_alloc_pd_resp domain;
	struct {
		struct ib_uverbs_cmd_hdr head;
		struct ib_uverbs_get_context body;
	} get_context = { .body.response = P(&context) };
	struct {
		struct ib_uverbs_cmd_hdr head;
		struct ib_uverbs_alloc_pd body;
	} alloc_domain = { .body.response = P(&domain) };

	make_adapter();
	/* the interface refuses programs that change their credentials after open() */
	drop_capability(CAP_IPC_LOCK);
	for (int i = 0; i < WAITS; i++) {
		device = open(DEVICE, O_RDWR | O_CLOEXEC);
		if (device >= 0)
			break;
		usleep(WAIT_US);
	}
	if (device < 0)
		skip(DEVICE ": %s", strerror(errno));
	command(IB_USER_VERBS_CMD_GET_CONTEXT, &get_context, sizeof(get_context), sizeof(context));
	command(IB_USER_VERBS_CMD_ALLOC_PD, &alloc_domain, sizeof(alloc_domain), sizeof(domain));
	region.head = (struct ib_uverbs_cmd_hdr){ IB_USER_VERBS_CMD_REG_MR, sizeof(region) / 4,
						  sizeof(region_made) / 4 };
	region.body = (struct ib_uverbs_reg_mr){
		.response = P(&region_made), .length = REGION_BYTES, .pd_handle = domain.pd_handle,
		.access_flags = LOCAL_WRITE,
	};
	region.body.start = region.body.hca_va = P(map_anon(REGION_BYTES, RW, 0));
	ASK(write, device, P(&region), sizeof(region));
}

static void exceeds_memlock(void)
{
	register_memory();
	soft_limit(RLIMIT_MEMLOCK, REGION_BYTES - PAGE_BYTES);
}

/* A first region uses up the limit. */
static void has_no_memlock_left(void)
{
	register_memory();
	command(IB_USER_VERBS_CMD_REG_MR, &region, sizeof(region), sizeof(region_made));
	soft_limit(RLIMIT_MEMLOCK, REGION_BYTES);
}

static void restore_memlock(void)
{
	struct rlimit more = { 64 * MIB, 64 * MIB };

	if (setrlimit(RLIMIT_MEMLOCK, &more))
		die("RLIMIT_MEMLOCK");
}

#define MEMLOCK(prepare) { "write", ENOMEM, "rlimit_memlock" }, prepare, NULL, restore_memlock, \
	.guest = true

const struct zoo_case rdma_cases[] = {
	{ "rdma-memlock", MEMLOCK(exceeds_memlock) },
	{ "rdma-memlock-used-up", MEMLOCK(has_no_memlock_left) },
	{ 0 },
};
