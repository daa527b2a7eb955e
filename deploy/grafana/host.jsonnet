// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One host, by workload: faults and their latency, mappings, descriptors, swap; who it is that runs.
local p = import 'panels.libsonnet';

local here = '{instance="$instance", workload=~"$workload"}';
local host = '{instance="$instance"}';
local each = '{{workload}}';

p.dashboard(
  'host',
  'host',
  'One host: what each workload holds of its limits, and what its faults cost.',
  [
    p.choice('instance', 'faultscope_build_info', 'instance'),
    p.choice('workload',
             'faultscope_worst_process_mappings{instance="$instance"}',
             'workload',
             many=true),
  ],
  p.rows([
    [4, [
      p.number('vm.max_map_count',
               'The limit of mappings of each process.',
               'short',
               'faultscope_mappings_limit' + host),
      p.number('Mappings used',
               'The worst process of all.',
               'percentunit',
               'max(instance_workload:faultscope_worst_process_mappings:ratio%s)' % here,
               [0.8, 0.95]),
      p.number('Descriptors used',
               'The process nearest to its own limit.',
               'percentunit',
               'max(instance_workload:faultscope_worst_process_fds:ratio%s)' % here,
               [0.8, 0.95]),
      p.number('Waiting',
               'Thread-seconds a second in major faults.',
               's',
               'sum(instance_workload:faultscope_major_fault_stall_seconds:rate5m%s)' % here,
               [0.2, 1]),
      p.number('Collectors missing',
               'Refused by this kernel, or for want of capabilities.',
               'none',
               'count(faultscope_collector_enabled%s == 0) or vector(0)' % host,
               [1]),
    ]],
    [9, [
      p.lines('Mappings, worst process',
              'Share of vm.max_map_count.',
              'percentunit',
              [{
                expr: 'instance_workload:faultscope_worst_process_mappings:ratio' + here,
                legend: each,
              }],
              [0.8, 0.95]),
      p.lines('Descriptors, worst process',
              'Share of its own soft RLIMIT_NOFILE.',
              'percentunit',
              [{
                expr: 'instance_workload:faultscope_worst_process_fds:ratio' + here,
                legend: each,
              }],
              [0.8, 0.95]),
    ]],
    [8, [
      p.lines('Mappings held',
              'Of all processes of a workload.',
              'short',
              [{ expr: 'faultscope_mappings' + here, legend: each }]),
      p.lines('Descriptors open',
              'Of all processes of a workload.',
              'short',
              [{ expr: 'faultscope_open_fds' + here, legend: each }]),
      p.lines('Refused', 'Calls refused, by what refused them.', 'short', [
        {
          expr: 'sum by (workload, reason) '
                + '(increase(faultscope_mapping_failures_total%s[$__rate_interval])) > 0' % here,
          legend: '{{workload}}: {{reason}}',
          exemplar: true,
        },
        {
          expr: 'sum by (workload, errno) '
                + '(increase(faultscope_fd_failures_total%s[$__rate_interval])) > 0' % here,
          legend: '{{workload}}: {{errno}}',
          exemplar: true,
        },
        {
          expr: 'increase(faultscope_commit_failures_total%s[$__rate_interval]) > 0' % here,
          legend: '{{workload}}: commit',
        },
      ]),
    ]],
    [8, [
      p.lines('Page faults',
              'Minor and major.',
              'ops',
              [{
                expr: 'instance_workload:faultscope_page_faults:rate5m' + here,
                legend: each,
              }]),
      p.lines('Major faults',
              'Those that had to wait for a page.',
              'ops',
              [{
                expr: 'rate(faultscope_page_faults_total%s[$__rate_interval])'
                      % '{instance="$instance", workload=~"$workload", type="major"}',
                legend: each,
              }]),
      p.lines('Waiting for pages',
              'Thread-seconds a second in major faults.',
              's',
              [{
                expr: 'instance_workload:faultscope_major_fault_stall_seconds:rate5m' + here,
                legend: each,
              }],
              [0.2]),
    ]],
    [8, [
      p.heatmap('Latency of minor faults',
                'Of the whole host.',
                's',
                'sum by (le) (increase(faultscope_page_fault_duration_seconds_bucket%s'
                % '{instance="$instance", type="minor"}[$__rate_interval]))'),
      p.heatmap('Latency of major faults',
                'Of the whole host.',
                's',
                'sum by (le) (increase(faultscope_page_fault_duration_seconds_bucket%s'
                % '{instance="$instance", type="major"}[$__rate_interval]))'),
      p.lines('Faults by access, begun',
              'Of the whole host.',
              'ops',
              [{
                expr: 'sum by (access, page) '
                      + '(rate(faultscope_page_faults_by_access_total%s[$__rate_interval]))'
                        % host,
                legend: '{{access}}, {{page}}',
              }],
              stacked=true),
    ]],
    [8, [
      p.lines('Swap held',
              'By workload.',
              'bytes',
              [{ expr: 'faultscope_swap_bytes' + here, legend: each }],
              stacked=true),
      p.lines('Swapping in',
              'Faults that read a page from swap.',
              'ops',
              [{
                expr: 'rate(faultscope_swap_in_faults_total%s[$__rate_interval])' % here,
                legend: each,
              }]),
      p.lines('Direct reclaim',
              'Thread-seconds a second in freeing memory for themselves.',
              's',
              [{
                expr: 'rate(faultscope_direct_reclaim_seconds_total%s[$__rate_interval])' % here,
                legend: each,
              }]),
      p.lines('Killed', 'Fault signals, and kills for want of memory.', 'short', [
        {
          expr: 'sum by (workload, signal) '
                + '(increase(faultscope_fatal_signals_total%s[$__rate_interval])) > 0' % here,
          legend: '{{workload}}: {{signal}}',
          exemplar: true,
        },
        {
          expr: 'increase(faultscope_oom_kills_total%s[$__rate_interval]) > 0' % here,
          legend: '{{workload}}: OOM, {{scope}}',
        },
      ]),
    ]],
    [8, [
      p.table('Workloads',
              'Who they are. CGROUP of the runbooks is cgroup here.',
              'none',
              'faultscope_workload_info' + here,
              ['workload', 'kind', 'namespace', 'pod', 'container', 'cgroup'],
              'is'),
    ]],
    [7, [
      p.table('Probes',
              'The mechanism that each uses on this kernel.',
              'none',
              'faultscope_probe_info' + host,
              ['probe', 'attach_type'],
              'is'),
      p.lines("The exporter's own cost",
              'CPU seconds a second.',
              'percentunit',
              [{
                expr: 'rate(process_cpu_seconds_total%s[$__rate_interval])'
                      % '{instance="$instance", job="faultscope"}',
                legend: 'CPU',
              }]),
      p.lines("The exporter's memory",
              'Resident.',
              'bytes',
              [{
                expr: 'process_resident_memory_bytes{instance="$instance", job="faultscope"}',
                legend: 'resident',
              }]),
      p.lines('Series', 'Samples a scrape, and workloads folded into ~other.', 'short', [
        {
          expr: 'scrape_samples_scraped{instance="$instance", job="faultscope"}',
          legend: 'samples',
        },
        { expr: 'faultscope_workloads' + host, legend: 'workloads' },
        { expr: 'faultscope_workloads_aggregated' + host, legend: 'folded' },
      ]),
    ]],
  ])
)
