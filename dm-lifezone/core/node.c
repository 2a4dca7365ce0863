// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing nodes of the trees to the metadata log.
 *
 * Nodes are gathered in a buffer and get their addresses when a piece of it is
 * sent; only then do their parents know where they are. A leaf stays busy until
 * it is on the drive, so that it is not read back too early. A node superseded
 * is counted off its zone once the root is durable.
 */
#include "lz.h"

static void *nblock(struct lz_nbuf *b, u32 i)
{
	return b->buf + (size_t)i * LZ_BLOCK_SIZE;
}

/* lz_node_put - room for one node and its reference; NULL: wait. */
struct lz_node_ref *lz_node_put(struct lz *lz, void **block)
{
	struct lz_nbuf *b = NULL;
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		if (lz->nbuf[i].state == LZ_NB_FILL)
			b = &lz->nbuf[i];
	}
	for (i = 0; !b && i < LZ_NODE_BUFS; i++) {
		if (lz->nbuf[i].state == LZ_NB_FREE)
			b = &lz->nbuf[i];
	}
	if (!b)
		return NULL;
	b->state = LZ_NB_FILL;
	*block = nblock(b, b->n);
	b->ref[b->n] = (struct lz_node_ref){};
	if (b->n + 1 == LZ_LOG_BLOCKS)
		b->state = LZ_NB_WRITE;
	return &b->ref[b->n++];
}

/* lz_node_unput - the node just put is not needed after all. */
void lz_node_unput(struct lz *lz, struct lz_node_ref *r)
{
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		struct lz_nbuf *b = &lz->nbuf[i];

		if (b->n && r == &b->ref[b->n - 1]) {
			b->n--;
			b->state = b->n ? LZ_NB_FILL : LZ_NB_FREE;
		}
	}
}

/* lz_nodes_flush - send also what does not fill a buffer. */
void lz_nodes_flush(struct lz *lz)
{
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		if (lz->nbuf[i].state == LZ_NB_FILL)
			lz->nbuf[i].state = LZ_NB_WRITE;
	}
	lz_nodes_step(lz);
}

bool lz_nodes_addressed(const struct lz *lz)
{
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		if (lz->nbuf[i].sent + (lz->nbuf[i].busy ? lz->nbuf[i].piece : 0) <
		    lz->nbuf[i].n)
			return false;
	}
	return true;
}

bool lz_nodes_written(const struct lz *lz)
{
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		if (lz->nbuf[i].state != LZ_NB_FREE)
			return false;
	}
	return true;
}

/* lz_node_dead - the node at @addr will not be needed once the root is durable. */
void lz_node_dead(struct lz *lz, u64 addr)
{
	if (addr != LZ_NOWHERE)
		lz->zone[lz_addr_zone(lz, addr)].dying++;
}

static void write_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_nbuf *b = cmd->priv;
	u32 i;

	lz_stream_ended(lz, lz->ns, cmd);
	b->busy = false;
	if (b->link) {
		u32 at = b->sent + b->piece;

		/* The link stood where the next node's image was moved from. */
		memmove(nblock(b, at), nblock(b, at + 1), (size_t)(b->n - at) * LZ_BLOCK_SIZE);
		b->link = false;
	}
	lz->progress = true;
	if (cmd->error) {
		/* The piece is sent again; parents may know its nodes where they are not. */
		lz->ckpt.redo = true;
		return;
	}
	for (i = b->sent; i < b->sent + b->piece; i++) {
		if (b->ref[i].c)
			b->ref[i].c->busy = false;
	}
	b->sent += b->piece;
	lz_count(lz, LZ_ST_NODE_BLOCKS, cmd->nblocks);
	if (b->sent == b->n) {
		b->state = LZ_NB_FREE;
		b->n = 0;
		b->sent = 0;
	}
}

static void send(struct lz *lz, struct lz_nbuf *b)
{
	u32 want = min(b->n - b->sent, max_t(u32, lz->g.max_append - 1, 1)), n, i;
	u64 addr;
	bool link;

	n = lz_stream_take(lz, lz->ns, want, &addr, &link);
	if (!n)
		return;
	for (i = 0; i < n; i++) {
		struct lz_node_ref *r = &b->ref[b->sent + i];
		struct lz_hdr *h = nblock(b, b->sent + i);
		struct lz_want w = {
			.uuid = lz->si.uuid, .type = r->tree->type,
			.level = r->level, .addr = addr + i, .index = r->idx,
			.epoch = lz->epoch, .seq = lz->ckpt.number + 1,
		};

		lz_seal(h, &w, le32_to_cpu(h->count));
		lz_node_dead(lz, r->tree->addr[r->level][r->idx]);
		lz_tree_set(r->tree, r->level, r->idx, addr + i);
	}
	lz->zone[lz_addr_zone(lz, addr)].live += n;
	b->piece = n;
	b->link = link;
	b->busy = true;
	b->cmd = (struct lz_cmd){
		.op = LZ_OP_WRITE, .addr = addr, .nblocks = n + link, .meta = true,
		.buf = nblock(b, b->sent), .done = write_done, .priv = b,
	};
	if (link) {
		memmove(nblock(b, b->sent + n + 1), nblock(b, b->sent + n),
			(size_t)(b->n - b->sent - n) * LZ_BLOCK_SIZE);
		lz_stream_link(lz, lz->ns, nblock(b, b->sent + n), addr + n);
	}
	lz->ckpt.nodes += n;
	lz->progress = true;
	lz_submit(lz, &b->cmd);
}

/* lz_nodes_step - send pieces of full buffers, in the order they were filled. */
void lz_nodes_step(struct lz *lz)
{
	u32 i;

	/* A commit must not wait for node after node. */
	if (lz->commit.waits)
		return;
	for (i = 0; i < LZ_NODE_BUFS; i++) {
		struct lz_nbuf *b = &lz->nbuf[i];

		if (b->state == LZ_NB_WRITE && !b->busy)
			send(lz, b);
	}
}

int lz_nodes_init(struct lz *lz)
{
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		lz->nbuf[i].buf = lz_alloc_blocks(LZ_LOG_BLOCKS + 1);
		lz->nbuf[i].ref = lz_zalloc_array(LZ_LOG_BLOCKS, sizeof(*lz->nbuf[i].ref));
		if (!lz->nbuf[i].buf || !lz->nbuf[i].ref)
			return -ENOMEM;
	}
	return 0;
}

void lz_nodes_exit(struct lz *lz)
{
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		lz_free_blocks(lz->nbuf[i].buf);
		lz_free(lz->nbuf[i].ref);
	}
}
