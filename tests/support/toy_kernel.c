/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-3-Clause
 *
 * A kernel of a few structures: what attribution reads of a Linux kernel, and nothing else. It never runs; the test lays its
 * image and its objects out in a made-up memory. OLD gives the layout of 2.6.35, else that of 6.1, as far as they differ.
 */
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { unsigned slock; } spinlock_t;
typedef struct { unsigned long pgd; } pgd_t;

#ifdef OLD
enum pageflags { PG_locked, PG_error, PG_reserved, PG_slab, PG_tail };
#else
enum pageflags { PG_locked, PG_error, PG_slab, PG_reserved };
#endif

struct kmem_cache {
    unsigned long flags;
    int size;
#ifdef OLD
    int objsize;
#else
    unsigned object_size;
#endif
    const char *name;
};

struct page {
    unsigned long flags;
#ifdef OLD
    atomic_t _count;
    atomic_t _mapcount;
    union {
        struct { unsigned long private; struct address_space *mapping; };
        struct kmem_cache *slab;
        struct page *first_page;
    };
    unsigned long index;
    struct list_head lru;
    unsigned long padding;
#else
    union {
        struct { struct list_head lru; struct address_space *mapping; unsigned long index; };
        unsigned long compound_head;
    };
    unsigned long private;
    int _mapcount;
    atomic_t _refcount;
    unsigned long memcg_data;
#endif
};

#ifndef OLD
struct slab { unsigned long __page_flags; struct list_head slab_list; struct kmem_cache *slab_cache; };
#endif

enum zone_stat_item { NR_FREE_PAGES, NR_MLOCK, NR_VM_ZONE_STAT_ITEMS };
enum zone_watermarks { WMARK_MIN, WMARK_LOW, WMARK_HIGH, NR_WMARK };
#ifdef OLD
struct zone { unsigned long watermark[NR_WMARK]; atomic_long_t vm_stat[NR_VM_ZONE_STAT_ITEMS]; unsigned long present_pages; };
#else
struct zone { unsigned long _watermark[NR_WMARK]; unsigned long present_pages; atomic_long_t vm_stat[NR_VM_ZONE_STAT_ITEMS]; };
#endif
struct pglist_data { struct zone node_zones[2]; unsigned long node_start_pfn, node_spanned_pages; };

struct lockref { union { unsigned long lock_count; struct { spinlock_t lock; int count; }; }; };
struct qstr { unsigned hash, len; const char *name; };
struct dentry { unsigned d_flags; struct qstr d_name; struct lockref d_lockref; struct inode *d_inode; struct hlist_node d_alias; char d_iname[32]; };
struct file_system_type { const char *name; };
struct super_block { struct list_head s_list; struct file_system_type *s_type; void *s_fs_info; };
struct shmem_sb_info { unsigned long used_blocks; spinlock_t stat_lock; };
struct eventpoll { spinlock_t lock; int waiters; };
struct file_operations { int owner; };
struct file { const struct file_operations *f_op; void *private_data; };
#ifdef OLD
struct device_private { void *driver_data; };
#endif
struct device_driver { const char *name; };
struct kobject { struct list_head entry; };
struct device {
    struct kobject kobj;
    struct device_driver *driver;
#ifdef OLD
    struct device_private *p;
#else
    void *driver_data;
#endif
};
struct scsi_disk { int openers; };
struct kset { struct list_head list; };
struct address_space { struct inode *host; unsigned long nrpages; };
struct inode { unsigned i_mode; unsigned i_a : 3, i_b : 5; spinlock_t i_lock; unsigned long i_ino; struct super_block *i_sb; struct hlist_head i_dentry; struct address_space i_data; };
struct shmem_inode_info { unsigned long seals; struct list_head shrinklist; struct inode vfs_inode; };
struct mystery { unsigned long head; atomic_t users; };
struct sk_buff { struct sk_buff *next; unsigned char *head, *data; };
struct skb_shared_info { atomic_t dataref; unsigned flags; };
struct mm_struct { pgd_t *pgd; };
struct net_device_ops { int owner; };
struct net_device { struct list_head dev_list; const struct net_device_ops *netdev_ops; char name[16]; };
struct net { struct list_head dev_base_head; };
union ixgbe_adv_rx_desc { struct { unsigned long pkt_addr, hdr_addr; } read; struct { unsigned data[2], status_error, length; } wb; };
union ixgbe_adv_tx_desc { struct { unsigned long buffer_addr; unsigned cmd_type_len, olinfo_status; } read; };
struct ixgbe_rx_buffer { struct sk_buff *skb; struct page *page; };
struct ixgbe_tx_buffer { struct sk_buff *skb; };
struct ixgbe_ring { void *desc; union { struct ixgbe_tx_buffer *tx_buffer_info; struct ixgbe_rx_buffer *rx_buffer_info; }; unsigned short count; } __attribute__((aligned(32)));
#ifdef OLD
struct ixgbe_q_vector { unsigned eitr; };
#else
struct ixgbe_q_vector { unsigned itr; struct ixgbe_ring ring[] __attribute__((aligned(32))); };
#endif
struct ixgbe_adapter { struct ixgbe_q_vector *q_vector[2]; struct ixgbe_ring *tx_ring[2]; int num_tx_queues; struct ixgbe_ring *rx_ring[2]; int num_rx_queues; };
struct task_struct { int pid; char comm[16]; void *stack; struct mm_struct *mm; struct mystery *secret; struct list_head tasks, thread_group; };
struct rq { spinlock_t lock; struct task_struct *idle; unsigned long nr_running; };
struct vm_struct { void *addr; unsigned long size; const void *caller; struct vm_struct *next; };
#ifdef OLD
struct vmap_area { struct list_head list; void *private; };
#else
struct vmap_area { struct list_head list; struct vm_struct *vm; };
#endif
struct pcpu_chunk { struct list_head list; void *base_addr; };
union thread_union { char stack[8192]; };

const char linux_banner[] = "Linux version 0.0-toy";
unsigned long init_top_pgt[512] __attribute__((aligned(4096))) = { 1 };
struct task_struct init_task = { .comm = "swapper", .tasks = { &init_task.tasks, &init_task.tasks }, .thread_group = { &init_task.thread_group, &init_task.thread_group } };
unsigned long __per_cpu_offset[2];
unsigned nr_cpu_ids = 2;
int pcpu_unit_size = 32768;
unsigned long pcpu_unit_offsets[2] = { 0, 32768 };
int pcpu_nr_slots = 0;
struct list_head vmap_area_list = { &vmap_area_list, &vmap_area_list };
#ifdef OLD
struct vm_struct *vmlist;
struct list_head *pcpu_slot;
#else
struct vm_struct *vmlist = (struct vm_struct *)0xdead0000; /* of boot; its memory has been freed */
struct list_head *pcpu_chunk_lists;
#endif
struct list_head super_blocks = { &super_blocks, &super_blocks };
const struct file_operations eventpoll_fops = { 1 }, other_fops = { 2 };
struct kset devices = { { &devices.list, &devices.list } };
struct kset *devices_kset = &devices;
const struct net_device_ops ixgbe_netdev_ops = { 1 }, loopback_ops = { 2 };
struct net init_net = { { &init_net.dev_base_head, &init_net.dev_base_head } };
struct rq runqueues __attribute__((section(".data..percpu"))) = { { 1 } };
struct hlist_head *inode_hashtable;
/* A node of two zones, the second without pages, and one that has the second only. */
struct pglist_data first_node = { { { { 10, 20, 30 }, .present_pages = 1000, .vm_stat = { { 31 } } } }, 0, 1000 };
struct pglist_data second_node = { { {}, { { 10, 20, 30 }, .present_pages = 1000, .vm_stat = { { 500 } } } }, 1000, 1 << 20 };
struct pglist_data *node_data[4] = { &first_node, &second_node };
unsigned i_hash_shift = 4;
struct { spinlock_t lock; int waiters[4]; } futexes[8] = { { { 1 }, { 1 } } };

static inline __attribute__((always_inline)) void lock(spinlock_t *l) { __atomic_fetch_add(&l->slock, 1, __ATOMIC_SEQ_CST); }
void dput(struct dentry *dentry) { lock(&dentry->d_lockref.lock); }
static volatile struct { long first; int of_the_kernel; } hidden = { 1, 2 };
struct { const volatile void *address; } kernel_hidden = { &hidden };
