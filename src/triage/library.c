// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/library.h"

/* Names by class, parted by blanks; '*' stands for anything. */
static const struct {
	enum library library;
	const char *names;
} rows[] = {
	{LIBRARY_REPORT,
	 "dump_stack* __dump_stack show_stack* show_trace* show_regs* show_registers "
	 "dump_backtrace* unwind_backtrace* arch_stack_walk* stack_trace_* save_stack* "
	 "__save_stack* save_trace* stack_depot* __stack_depot* depot_* unwind_* __unwind_* "
	 "walk_stackframe panic vpanic nmi_panic panic_* check_panic_on_warn __warn __warn_* "
	 "warn_slowpath* warn_alloc* warn_bogus* __report_bug report_bug* report_cfi* "
	 "fixup_bug* handle_bug* handle_cfi* die __die* die_* oops_* arm64_notify_die "
	 "bug_handler no_context* __bad_area* bad_area* mm_fault_error page_fault_oops "
	 "kernelmode_fixup_or_oops fixup_exception* search_exception* spurious_kernel_fault* "
	 "do_page_fault __do_page_fault do_user_addr_fault do_kern_addr_fault "
	 "__do_kernel_fault* page_fault async_page_fault error_code error_entry error_exit "
	 "common_exception* exc_* asm_exc_* trace_do_page_fault general_protection "
	 "do_general_protection invalid_op do_invalid_op do_error_trap do_trap* do_error* "
	 "double_fault* do_double_fault* df_debug divide_error do_divide_error do_undefinstr "
	 "do_mem_abort do_tag_check_fault do_alignment_fault do_sp_pc_abort "
	 "do_translation_fault do_bad_area do_DataAbort do_PrefetchAbort do_alignment* "
	 "do_el1_* do_sea __dabt_svc __pabt_svc __und_svc* el1_sync* el1_da el1_ia el1_abort "
	 "el1_pc el1_dbg el1_bti el1_undef el1_sp_pc el1_fpac el1h_64_sync* el1t_64_sync* "
	 "el1_error* el1h_64_error* brk_handler do_debug_exception call_break_hook "
	 "handle_page_fault* do_page_fault_* ret_from_exception program_check_exception "
	 "printk* dev_err dev_warn dev_info netdev_err netdev_warn __netdev_printk kcov_* "
	 "_printk* vprintk* _dev_* console_unlock console_flush_all rust_helper_BUG "
	 "rust_begin_unwind *core9panicking* *core::panicking* *core6option* *rust_panic* "
	 "*rust_begin_unwind* *panic_fmt* *panic_const* nmi_cpu_backtrace* nmi_trigger* "
	 "nmi_handle* nmi_raise* end_repeat_nmi do_nmi default_do_nmi arch_trigger*backtrace* "
	 "trigger_*backtrace* rcu_dump_cpu_stacks* rcu_check_callbacks* rcu_sched_clock_irq* "
	 "rcu_pending* print_cpu_stall* print_other_cpu_stall* check_cpu_stall* check_hung_* "
	 "watchdog watchdog_timer_fn watchdog_overflow_callback sched_show_task* dump_cpu_task "
	 "print_report* print_address_desc* print_trailer* print_usage_bug* "
	 "print_circular_bug* print_deadlock_bug* print_*_bug* print_bad_irq* object_err* "
	 "slab_err* slab_bug* bad_page* print_bad_pte* free_pages_check* free_page_is_bad* "
	 "report_usercopy usercopy_abort usercopy_warn fortify_panic __fortify_* "
	 "__stack_chk_fail *_panic assertfail assfail btrfs_assertfail __bad_stack "
	 "handle_bad_stack ___might_sleep* __might_sleep* __might_resched* __schedule_bug "
	 "check_preemption_disabled* debug_smp_processor_id __this_cpu_preempt_check spin_bug* "
	 "spin_dump* rwlock_bug*"},
	{LIBRARY_CHECK,
	 "*kasan* __asan* __hwasan* *kmsan* __msan* *kcsan* __tsan* *kfence* *ubsan* "
	 "*__sanitizer* write_comp_data* check_memory_region* check_region_inline* "
	 "memory_is_poisoned* bytes_is_nonzero* *instrument_* val_to_string* "
	 "check_heap_object* __check_heap_object* __check_object_size* check_object_size* "
	 "__copy_overflow copy_overflow read_word_at_a_time __read_once_size* "
	 "__write_once_size* lockdep_* __lockdep* lock_acquire* __lock_acquire* lock_release* "
	 "__lock_release* lock_is_held* lock_downgrade lock_set_class validate_chain* "
	 "check_prev* check_noncircular* check_deadlock* check_wait_context* check_irq_usage* "
	 "mark_lock* mark_held_locks* mark_usage* valid_state* register_lock_class* "
	 "assign_lock_key* reacquire_held_locks* trace_hardirqs_* trace_softirqs_* "
	 "debug_check_no_* debug_print_object* debug_object* __debug_object* "
	 "__debug_check_no_obj* debug_work_* debug_timer_* debug_mutex_* debug_spin_* "
	 "work_is_static_object perf_trace_* trace_event_raw* __might_fault might_fault "
	 "__list_add_valid* __list_del_entry_valid* refcount_warn_saturate "
	 "__x86_indirect_thunk* __x86_return_thunk __ubsan* context_tracking* "
	 "handle_overflow handle_null_ptr_deref handle_misaligned_access "
	 "handle_missaligned_access handle_object_size_mismatch"},
	{LIBRARY_MEMORY,
	 "memcpy* __memcpy* __pi_mem* __pi_str* memmove* __memmove* memset* __memset* memcmp* "
	 "memchr* memscan* bcmp rep_movs* rep_stos* strcmp* strncmp* strcasecmp* strncasecmp* "
	 "strlen* strnlen* strcpy* strncpy* strlcpy* strscpy* sized_strscpy* strcat* strlcat* "
	 "strchr* strrchr* strstr* strnstr* strsep* strspn* strpbrk* sscanf vsscanf* "
	 "vsnprintf* snprintf* vscnprintf* scnprintf* sprintf* string*nocheck format_decode* "
	 "string pointer number kstrdup* kmemdup* kvasprintf* kasprintf* memdup_user* "
	 "copy_to_user* copy_from_user* _copy_to_user* *_copy_to_user *_copy_from_user "
	 "_copy_from_user* __copy_to_user* __copy_from_user* __copy_user* copy_user_* "
	 "__arch_copy_* arch_copy_* raw_copy_* __get_user* __put_user* _copy_to_iter* "
	 "_copy_from_iter* copy_to_iter* copy_from_iter* copyin* copyout* iov_iter_* "
	 "clear_user* __clear_user* copy_page copy_page_to_iter* copy_page_from_iter* "
	 "copy_folio* copy_user_highpage* copy_mc_* clear_page* csum_partial* crc32* "
	 "find_next_*bit* _find_next_*bit* find_first_*bit* _find_first_*bit* test_bit set_bit "
	 "clear_bit atomic_* atomic64_* arch_atomic* __ll_sc_*"},
	{LIBRARY_LOCK,
	 "*spin_lock* *spin_unlock* *spin_trylock* *spin_rq_lock* *spin_rq_unlock* *rt_mutex* "
	 "*spin_on_owner* *queued_spin* *queued_read* *queued_write* *qspinlock* *read_lock* "
	 "*write_lock* *read_unlock* *write_unlock* *read_trylock* *write_trylock* rt_spin_* "
	 "rt_mutex* rtlock_* __rt_mutex* kvm_wait pv_wait* mutex_* __mutex_* ww_mutex_* "
	 "__ww_mutex* osq_* down __down* down_read* down_write* down_inter* down_kill* "
	 "down_timeout down_trylock up __up* up_read* up_write* rwsem_* call_rwsem* "
	 "console_lock console_trylock* percpu_down* __percpu_down* percpu_up* percpu_rwsem* "
	 "rtnl_lock* rtnl_unlock __rtnl_unlock rtnl_trylock genl_lock* lock_sock* __lock_sock* "
	 "release_sock* bh_lock_sock* lock_page* __lock_page* folio_lock* __folio_lock* "
	 "folio_wait* unlock_page* folio_unlock* lock_mount* lock_buffer* __lock_buffer* "
	 "lock_two_* lock_device_hotplug* cpus_read_lock cpus_write_lock get_online_cpus "
	 "inode_lock* mmap_read_lock* mmap_write_lock* __mmap_lock* tomoyo_read_lock "
	 "srcu_read_* __srcu_read_* rcu_read_* rcu_lock_* rcu_is_watching schedule __schedule* "
	 "schedule_* preempt_schedule* _cond_resched __cond_resched* ___preempt_schedule "
	 "context_switch* __switch_to* io_schedule* bit_wait* __wait_on_* out_of_line_wait* "
	 "wait_on_* wait_for_completion* __wait_for_common wait_for_common* "
	 "do_wait_for_common* do_wait_intr* wait_woken prepare_to_wait* finish_wait __wake_up* "
	 "swait_* __swait_* wait_event* wake_up_*bit* wake_up_process wake_up_q "
	 "complete complete_all swake_up* __sched_text_start msleep* usleep* __delay "
	 "delay_tsc* __const_udelay __udelay cpu_relax* rep_nop __local_bh_* local_bh_* "
	 "_local_bh_enable* __task_rq_lock task_rq_lock"},
	{LIBRARY_ALLOC,
	 "kmalloc sock_kmalloc kmalloc_array* kmalloc_node* kmalloc_trace* kmalloc_order* "
	 "kmalloc_large* kmalloc_slab kmalloc_reserve* kmalloc_noprof kmalloc_cache* "
	 "__kmalloc* ___kmalloc* __do_kmalloc* kvmalloc* *kzalloc* *kcalloc* *vmalloc* "
	 "*vzalloc* *krealloc* *kvcalloc* kvrealloc* *kmem_cache_* kmem_alloc* *slab_alloc* "
	 "*slab_free* *slab_post_alloc* *slab_pre_alloc* allocate_slab* new_slab* cache_alloc* "
	 "cache_grow* cache_free* __cache_free* free_block* slob_* free_debug_processing* "
	 "alloc_debug_processing* get_partial* free_to_partial_list *unfreeze_partials* "
	 "put_cpu_partial* deactivate_slab* free_consistency_checks* setup_object* "
	 "get_freelist* check_slab check_object check_bytes_and_report* on_freelist kfree* "
	 "__kfree kvfree* vfree* __vfree* __vunmap* kzfree* kmemleak_* alloc_pages* "
	 "__alloc_pages* __alloc_frozen_pages* alloc_frozen_pages* alloc_page_* "
	 "__get_free_page* get_free_pages* get_page_from_freelist* get_zeroed_page* "
	 "prep_new_page* rmqueue* __free_pages* free_pages* free_page __free_one_page* "
	 "free_unref_* free_pcppages* free_hot_cold* free_the_page free_large_kmalloc* "
	 "___free_* __put_page page_frag_* __page_frag* folio_alloc* __folio_alloc* "
	 "filemap_alloc_folio* vma_alloc_folio* mempool_* pcpu_* __alloc_percpu* free_percpu* "
	 "devm_k* dma_alloc_* dma_free_* dma_pool_* dma_map_* dma_unmap_* skb_put skb_push "
	 "skb_over_panic skb_under_panic skb_panic* __alloc_skb* alloc_skb* __napi_alloc_skb "
	 "sk_skb_reason_drop* __sk_skb_reason_drop* consume_skb* "
	 "__netdev_alloc_skb kfree_skb* __kfree_skb skb_release_* skb_free_head* rcu_do_batch* "
	 "should_fail* __should_fail* fail_dump"},
	{LIBRARY_CONTAINER,
	 "list_* __list_* hlist_* __hlist_* plist_* klist_* llist_* rb_* __rb_* rht_* "
	 "rhashtable_* __rhashtable_* radix_tree_* __radix_tree_* xas_* xa_* __xa_* idr_alloc* "
	 "idr_remove* idr_find* ida_* __kfifo* refcount_* __refcount_* kref_* percpu_ref_* "
	 "percpu_counter_* __percpu_counter* kobject_* sysfs_warn_dup sysfs_create_dir_ns "
	 "sysfs_create_file* sysfs_add_file* sysfs_do_create_link* sysfs_create_group* "
	 "internal_create_group* usb_hcd_* usb_unlink_urb usb_poison_urb bitmap_* __bitmap_* "
	 "__kobject_* rollback_registered* unregister_netdev* __phys_addr* __virt_addr_valid "
	 "__virt_to_phys* _compound_head compound_head init_timer_key cleanup_srcu_struct dput "
	 "fast_dput kset_* get_device put_device device_add* device_del device_register "
	 "device_unregister device_create* device_destroy* device_release* device_remove_* "
	 "__device_release_driver bus_remove_device devres_* devm_* skb_queue_* skb_unlink "
	 "skb_dequeue* add_timer* mod_timer* __mod_timer* del_timer* timer_delete* "
	 "__timer_delete* try_to_del_timer* timer_is_static* lock_timer_base* "
	 "internal_add_timer detach_if_pending hrtimer_* __hrtimer_start* queue_work* "
	 "__queue_work* queue_delayed_work* __queue_delayed* mod_delayed_work* flush_work* "
	 "__flush_work* flush_workqueue* __flush_workqueue* flush_delayed_work "
	 "start_flush_work* cancel_work* cancel_delayed* __cancel_work* drain_workqueue "
	 "destroy_workqueue try_to_grab_pending insert_work tasklet_kill kthread_stop* "
	 "call_rcu* __call_rcu* call_srcu* __synchronize_* synchronize_srcu* rcu_barrier* "
	 "_rcu_barrier* wait_rcu_gp __wait_rcu_gp on_each_cpu* generic_exec_single "
	 "usb_control_msg* usb_bulk_msg usb_start_wait_urb usb_submit_urb usb_kill_urb*"},
	{LIBRARY_PLUMBING,
	 "notifier_call_chain* raw_notifier_call* __raw_notifier_call* blocking_notifier_call* "
	 "__blocking_notifier* atomic_notifier_call* srcu_notifier_call* process_one_work* "
	 "process_scheduled_works* worker_thread* call_timer_fn* expire_timers* __run_timers* "
	 "__run_timer_base* run_timer_softirq run_timer_base __run_hrtimer* "
	 "__hrtimer_run_queues* tasklet_action* tasklet_hi_action* handle_irq_event* "
	 "__handle_irq_event* handle_*_irq generic_handle_irq* rcu_core* "
	 "rcu_process_callbacks* invoke_rcu_callbacks task_work_run"},
	{LIBRARY_IO,
	 "ioread* iowrite* readb* readw* readl* readq* writeb* writew* writel* writeq* mmio_*"},
	{LIBRARY_DISPATCH,
	 "vfs_* do_vfs_ioctl do_iter_* call_read_iter call_write_iter call_mmap mmap_region "
	 "__mmap_region __mmap_new_vma do_mmap* vm_mmap* chrdev_open do_dentry_open do_open "
	 "path_openat lookup_open* __fput ____fput fput do_exit do_group_exit exit_mmap mmput "
	 "get_signal sock_sendmsg* sock_recvmsg* __sock_* sock_write_iter sock_read_iter "
	 "sock_ioctl sock_do_ioctl sock_common_* inet_sendmsg inet_recvmsg inet_ioctl "
	 "netlink_sendmsg netlink_rcv_skb genl_rcv* genl_family_rcv* rtnetlink_rcv* "
	 "nfnetlink_rcv* __netif_receive_skb* netif_receive_skb* process_backlog net_rx_action "
	 "__napi_poll* napi_poll* do_splice* splice_* io_submit_sqe* io_issue_sqe io_wq_* "
	 "do_one_initcall do_init_module load_module platform_probe really_probe* "
	 "driver_probe_device __driver_attach usb_probe_interface hub_event handle_mm_fault "
	 "__handle_mm_fault do_anonymous_page"},
	{LIBRARY_ENTRY,
	 "entry_SYSCALL* entry_SYSENTER* entry_INT80* do_syscall_* do_fast_syscall* "
	 "__do_fast_syscall* do_int80* do_SYSENTER* x64_sys_call ia32_sys_call system_call* "
	 "sysenter_* syscall_call syscall_exit* syscall_return* ia32_*call* tracesys* cstar_* "
	 "ret_fast_syscall ret_from_* ret_to_user* el0_* el0t_* do_el0_svc* invoke_syscall* "
	 "__invoke_syscall* kthread kernel_thread* child_rip exit_to_user* "
	 "prepare_exit_to_user* do_notify_resume* retint_* apic_timer_interrupt "
	 "smp_apic_timer* __sysvec* sysvec_* asm_sysvec* asm_call_* asm_common_interrupt "
	 "common_interrupt do_IRQ handle_IRQ* gic_handle* el1_irq* el1_interrupt* el1h_64_irq* "
	 "__el1_irq __handle_domain_irq* handle_domain_irq* __irq_svc __irq_usr irq_exit* "
	 "__irq_exit* irq_enter* invoke_softirq* __do_softirq* do_softirq* handle_softirqs* "
	 "run_ksoftirqd smpboot_thread_fn* call_softirq do_softirq_own_stack call_on_irq_stack "
	 "update_process_times tick_sched_* tick_nohz_handler tick_periodic local_apic_timer* "
	 "hrtimer_interrupt *syscall_64_after* start_secondary secondary_startup* "
	 "cpu_startup_entry do_idle cpu_idle* cpuidle_* default_idle* *safe_halt* "
	 "arch_cpu_idle acpi_safe_halt* acpi_idle_* mwait_idle* intel_idle* rest_init "
	 "start_kernel x86_64_start_* i386_start_kernel kernel_init* common_startup_64 "
	 "__entry_text_start __primary_switched __end_entry_SYSENTER*"},
};

/* The pattern ends at a blank. */
static bool fits(const char *pattern, struct str s)
{
	for (; *pattern && *pattern != ' ' && *pattern != '*'; pattern++, s = str_from(s, 1))
		if (str_at(s, 0) != *pattern || !s.n)
			return false;
	if (*pattern != '*')
		return !s.n;
	while (*pattern == '*')
		pattern++;
	if (!*pattern || *pattern == ' ')
		return true;
	for (size_t at = 0; at <= s.n; at++)
		if (fits(pattern, str_from(s, at)))
			return true;
	return false;
}

struct str function_plain(struct str function)
{
	/* of gcc; of clang: ThinLTO's, CFI's jump tables, and '$' with a hash */
	static const char *const tails[] = {".isra", ".constprop", ".part", ".cold",
					    ".llvm", ".lto_priv",  ".cfi",  "$"};

	/* the padding before a function (6.4): a pointer to it was left on the stack */
	if (str_starts(function, "__pfx_"))
		function = str_from(function, 6);
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		long at = str_find(function, tails[i]);

		if (at > 0)
			function = str_first(function, at);
	}
	return function;
}

enum library library_of(struct str function)
{
	function = function_plain(function);
	for (size_t i = 0; function.n && i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = rows[i].names;

		for (; name; name = strchr(name, ' ')) {
			name += *name == ' ';
			if (fits(name, function))
				return rows[i].library;
		}
	}
	return LIBRARY_NONE;
}
