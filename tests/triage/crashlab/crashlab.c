// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module that causes each kind of kernel crash on request: echo NAME > /proc/crashlab.
 * Load the module in guests only.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/proc_fs.h>
#include <linux/reboot.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <asm/msr.h>
#include <linux/timer.h>
#include <linux/delay.h>

struct thing {
	struct list_head list;
	struct thing *next;

	char name[32];
	int (*call)(struct thing *t);
	int value;
};

static noinline void lab_null_read(void)
{
	struct thing *t = NULL;

	OPTIMIZER_HIDE_VAR(t);
	pr_info("%d\n", READ_ONCE(t->value));
}

static noinline void lab_null_write(void)
{
	struct thing *t = NULL;

	OPTIMIZER_HIDE_VAR(t);
	WRITE_ONCE(t->value, 7);
}

static noinline void lab_null_far(void)
{
	char *t = NULL;

	OPTIMIZER_HIDE_VAR(t);
	pr_info("%d\n", READ_ONCE(t[0x5000]));
}

static noinline void lab_null_call(void)
{
	struct thing t = {};
	struct thing *p = &t;

	OPTIMIZER_HIDE_VAR(p);
	p->call(p);
}

static noinline void lab_err_ptr(void)
{
	struct thing *t = ERR_PTR(-ENOENT);

	OPTIMIZER_HIDE_VAR(t);
	pr_info("%d\n", READ_ONCE(t->value));
}

static noinline void lab_list_twice(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);
	LIST_HEAD(h);
	list_add(&t->list, &h);
	list_del(&t->list);
	list_del(&t->list);
}

static noinline void lab_list_poison(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);
	LIST_HEAD(h);
	struct thing *n;

	list_add(&t->list, &h);
	list_del(&t->list);
	n = list_entry(t->list.next, struct thing, list);
	pr_info("%d\n", READ_ONCE(n->value));
}

static noinline void lab_uaf(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL), *n;

	kfree(t);
	OPTIMIZER_HIDE_VAR(t);
	n = READ_ONCE(t->next);
	pr_info("%d\n", READ_ONCE(n->value));
}

static noinline void lab_ro_write(void)
{
	static const unsigned long ro[64] = {1};
	unsigned long *p = (unsigned long *)&ro;

	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, 2);
}

static noinline void lab_nx(void)
{
	static char data[64] = {0xc3};
	void (*f)(void) = (void *)data;
	OPTIMIZER_HIDE_VAR(f);
	f();
}

static noinline void lab_smap(void __user *u)
{
	int *p = (__force int *)u;

	OPTIMIZER_HIDE_VAR(p);
	pr_info("%d\n", READ_ONCE(*p));
}

static noinline void lab_smep(void __user *u)
{
	void (*f)(void) = (__force void *)u;
	OPTIMIZER_HIDE_VAR(f);
	f();
}

static noinline void lab_non_canonical(void)
{
	unsigned long *p = (void *)0x1234567812345678UL;

	OPTIMIZER_HIDE_VAR(p);
	pr_info("%lx\n", READ_ONCE(*p));
}

static noinline void lab_string(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);

	memcpy(&t->next, "eth0.net", 8);
	OPTIMIZER_HIDE_VAR(t);
	pr_info("%d\n", READ_ONCE(t->next->value));
}

static noinline void lab_int_pointer(void)
{
	int *p = (void *)0x12345678UL;

	OPTIMIZER_HIDE_VAR(p);
	pr_info("%d\n", READ_ONCE(*p));
}

static noinline void lab_vmalloc_past(void)
{
	char *p = vmalloc(PAGE_SIZE * 2);
	memset(p, 0, PAGE_SIZE * 2 + 64);
}

static noinline void lab_vmalloc_freed(void)
{
	int *p = vmalloc(PAGE_SIZE * 2);

	p[300] = 1;
	vfree(p);
	vm_unmap_aliases();
	OPTIMIZER_HIDE_VAR(p);
	pr_info("%d\n", READ_ONCE(p[300]));
}

static noinline void lab_mmio_freed(void)
{
	void __iomem *p = ioremap(0xfed00000, 0x400);
	readl(p);
	iounmap(p);
	vm_unmap_aliases();
	pr_info("%x\n", ioread32(p + 0x10));
}

static noinline void lab_bit_flip(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL),
		     *p = (void *)((unsigned long)t ^ (1UL << 43));
	OPTIMIZER_HIDE_VAR(t);
	OPTIMIZER_HIDE_VAR(p);
	pr_info("%d %d\n", READ_ONCE(p->value), READ_ONCE(t->value));
}

static noinline void lab_double_free(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);

	kfree(t);
	OPTIMIZER_HIDE_VAR(t);
	kfree(t);
}

static noinline void lab_refcount(void)
{
	refcount_t r = REFCOUNT_INIT(1);
	refcount_dec(&r);
	refcount_inc(&r);
}

static noinline void lab_usercopy(void __user *u)
{
	char *p = kmalloc(32, GFP_KERNEL);
	size_t n = 4096;
	OPTIMIZER_HIDE_VAR(n);
	if (copy_to_user(u, p, n))
		pr_info("fault\n");
}

static noinline void lab_bug(void)
{
	BUG();
}

static noinline void lab_warn(void)
{
	WARN(1, "lab warning %d\n", 7);
}

static noinline void lab_stack_smash(void)
{
	volatile char small[16];
	volatile char *p = small;
	OPTIMIZER_HIDE_VAR(p);
	for (int i = 0; i < 96; i++)
		p[i] = 'A';
}

static noinline void lab_atomic(void)
{
	static DEFINE_SPINLOCK(l);
	spin_lock(&l);
	msleep(10);
	spin_unlock(&l);
}

static noinline void lab_soft_lockup(void)
{
	preempt_disable();
	for (;;)
		cpu_relax();
}

static noinline void lab_panic(void)
{
	panic("lab asked for it");
}

static struct mutex lab_lock;
static int lab_holder(void *unused)
{
	mutex_lock(&lab_lock);
	msleep(1000000);
	return 0;
}

static noinline void lab_hung(void)
{
	mutex_init(&lab_lock);
	kthread_run(lab_holder, NULL, "lab_holder");
	msleep(100);
	mutex_lock(&lab_lock);
}

static void lab_work_fn(struct work_struct *w)
{
	lab_null_write();
}

static DECLARE_WORK(lab_work, lab_work_fn);
static void lab_timer_fn(struct timer_list *t)
{
	lab_null_read();
}

static struct timer_list lab_timer;
static int lab_nb_fn(struct notifier_block *nb, unsigned long a, void *d)
{
	return 0;
}

static struct notifier_block lab_nb = {.notifier_call = lab_nb_fn};

static void lab_schedule(void)
{
	schedule_work(&lab_work);
	msleep(500);
}

static void lab_start_timer(void)
{
	timer_setup(&lab_timer, lab_timer_fn, 0);
	mod_timer(&lab_timer, jiffies + 5);
	msleep(500);
}

static void lab_leave_timer(void)
{
	timer_setup(&lab_timer, lab_timer_fn, 0);
	mod_timer(&lab_timer, jiffies + 2 * HZ);
}

static void lab_leave_notifier(void)
{
	register_reboot_notifier(&lab_nb);
}

/* Faults for tests of the flight recorder */

static void lab_left_fn(struct work_struct *w)
{
}

static DECLARE_DELAYED_WORK(lab_left, lab_left_fn);
static void lab_leave_work(void)
{
	schedule_delayed_work(&lab_left, 2 * HZ);
}

static noinline int lab_deeper(int n)
{
	volatile char frame[512];

	frame[n & 511] = n;
	return n ? lab_deeper(n + 1) + frame[n & 511] : 0;
}

static noinline void lab_recursion(void)
{
	pr_info("%d\n", lab_deeper(1));
}

static void lab_irq_fn(struct irq_work *w)
{
	lab_null_write();
}

static struct irq_work lab_irq_work;
static noinline void lab_in_irq(void)
{
	init_irq_work(&lab_irq_work, lab_irq_fn);
	irq_work_queue(&lab_irq_work);
	msleep(500);
}

static noinline void lab_holding_lock(void)
{
	static DEFINE_MUTEX(l);

	mutex_lock(&l);
	lab_null_write();
	mutex_unlock(&l);
}

static noinline void lab_warn_first(void)
{
	lab_warn();
	msleep(1500);
	lab_null_read();
}

static noinline void lab_alloc_failed(void)
{
	struct thing *t = kmalloc(8UL << 20, GFP_NOWAIT);

	OPTIMIZER_HIDE_VAR(t);
	msleep(300);
	kfree(t);
	t = alloc_pages_exact(64UL << 20, GFP_KERNEL);
	OPTIMIZER_HIDE_VAR(t);
	WRITE_ONCE(t->value, 1);
}

/*
 * Makes bad memory accesses from which the kernel recovers. The kernel's exception table has an
 * entry for each of these accesses. Therefore the kernel neither crashes nor prints a message.
 */
static noinline void lab_near_misses(void)
{
	unsigned long *p = vmalloc(PAGE_SIZE), value;

	vfree(p);
	vm_unmap_aliases();
	for (int i = 0; i < 65; i++) {
		__get_kernel_nofault(&value, p, unsigned long, bad);
		continue;
	bad:
		msleep(20);
	}
}

/* Reads an MSR that exists only with x2APIC. The exception table handles the fault. */
static noinline void lab_msr(void)
{
	u32 low, high;

	pr_info("crashlab: an MSR that is not there: %d\n", rdmsr_safe(0x802, &low, &high));
}

static noinline void lab_near_then_fatal(void)
{
	lab_near_misses();
	lab_null_write();
}

/* Memory that is freed 1.2 s before its use: only the flight recorder's journal still has it. */
static int *lab_old_area;
static void __iomem *lab_old_mmio;
static noinline void lab_vmalloc_late(void)
{
	lab_old_area = vmalloc(PAGE_SIZE * 4);
	lab_old_area[0] = 1;
	vfree(lab_old_area);
	vm_unmap_aliases();
	msleep(1200);
	WRITE_ONCE(lab_old_area[2000], 3);
}

static noinline void lab_mmio_late(void)
{
	lab_old_mmio = ioremap(0xfed00000, 0x400);
	iounmap(lab_old_mmio);
	vm_unmap_aliases();
	msleep(1200);
	writel(1, lab_old_mmio + 0x20);
}

static const struct {
	const char *name;
	void (*fault)(void);
} faults[] = {
	{"null_read", lab_null_read},
	{"null_write", lab_null_write},
	{"null_far", lab_null_far},
	{"null_call", lab_null_call},
	{"err_ptr", lab_err_ptr},
	{"list_twice", lab_list_twice},
	{"list_poison", lab_list_poison},
	{"uaf", lab_uaf},
	{"ro_write", lab_ro_write},
	{"nx", lab_nx},
	{"non_canonical", lab_non_canonical},
	{"string", lab_string},
	{"int_pointer", lab_int_pointer},
	{"vmalloc_past", lab_vmalloc_past},
	{"vmalloc_freed", lab_vmalloc_freed},
	{"mmio_freed", lab_mmio_freed},
	{"bit_flip", lab_bit_flip},
	{"double_free", lab_double_free},
	{"refcount", lab_refcount},
	{"bug", lab_bug},
	{"warn", lab_warn},
	{"stack_smash", lab_stack_smash},
	{"atomic", lab_atomic},
	{"soft_lockup", lab_soft_lockup},
	{"panic", lab_panic},
	{"hung", lab_hung},
	{"work", lab_schedule},
	{"timer", lab_start_timer},
	{"left_timer", lab_leave_timer},
	{"left_notifier", lab_leave_notifier},
	{"left_work", lab_leave_work},
	{"recursion", lab_recursion},
	{"in_irq", lab_in_irq},
	{"holding_lock", lab_holding_lock},
	{"warn_first", lab_warn_first},
	{"alloc_failed", lab_alloc_failed},
	{"near_misses", lab_near_misses},
	{"msr", lab_msr},
	{"near_then_fatal", lab_near_then_fatal},
	{"vmalloc_late", lab_vmalloc_late},
	{"mmio_late", lab_mmio_late},
};

static const struct {
	const char *name;
	void (*fault)(void __user *u);
} user_faults[] = {
	{"smap", lab_smap},
	{"smep", lab_smep},
	{"usercopy", lab_usercopy},
};

static ssize_t lab_write(struct file *f, const char __user *u, size_t n, loff_t *pos)
{
	char name[32] = {};

	if (n >= sizeof(name) || copy_from_user(name, u, n))
		return -EINVAL;
	strim(name);
	for (int i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(name, faults[i].name))
			faults[i].fault();
	for (int i = 0; i < ARRAY_SIZE(user_faults); i++)
		if (!strcmp(name, user_faults[i].name))
			user_faults[i].fault((void __user *)u);
	return n;
}

static const struct proc_ops lab_ops = {.proc_write = lab_write};
static int __init lab_init(void)
{
	return proc_create("crashlab", 0600, NULL, &lab_ops) ? 0 : -ENOMEM;
}

static void __exit lab_exit(void)
{
	remove_proc_entry("crashlab", NULL);
}

module_init(lab_init);
module_exit(lab_exit);
MODULE_LICENSE("Dual BSD/GPL");
