// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Dashboard of one host by workload: page faults and their latency, mappings, file descriptors, swap.
local p = import 'panels.libsonnet';

local here = '{cluster=~"$cluster", job=~"$job", instance="$instance", workload=~"$workload"}';
local host = '{cluster=~"$cluster", job=~"$job", instance="$instance"}';
local each = '{{workload}}';

// Buckets of a classic histogram, or the native histogram where Prometheus stores only that.
local latency(type) =
  local of = '{cluster=~"$cluster", job=~"$job", instance="$instance", type="%s"}' % type;
  ('sum by (le) (increase(faultscope_page_fault_duration_seconds_bucket%s[$__rate_interval])) '
   + 'or sum(increase(faultscope_page_fault_duration_seconds%s[$__rate_interval]))') % [of, of];

p.dashboard(
  'host',
  'host',
  'One host: how close each workload is to its limits, and how long it waits in page faults.',
  [
    p.choice('cluster', 'faultscope_build_info', 'cluster', many=true),
    p.choice('job', 'faultscope_build_info{cluster=~"$cluster"}', 'job', many=true),
    p.choice('instance', 'faultscope_build_info{cluster=~"$cluster", job=~"$job"}', 'instance'),
    p.choice('workload',
             'faultscope_worst_process_mappings{cluster=~"$cluster", job=~"$job", instance="$instance"}',
             'workload',
             many=true),
  ],
  p.rows([
    [4, [
      p.number('vm.max_map_count',
               'The limit on the number of mappings of each process.',
               'short',
               'faultscope_mappings_limit' + host),
      p.number('Mappings used',
               'Share of vm.max_map_count that the process with the most mappings uses.',
               'percentunit',
               'max(instance_workload:faultscope_worst_process_mappings:ratio%s)' % here,
               [0.8, 0.95]),
      p.number('File descriptors used',
               'Share of RLIMIT_NOFILE (soft limit) that the process nearest to this limit uses.',
               'percentunit',
               'max(instance_workload:faultscope_worst_process_fds:ratio%s)' % here,
               [0.8, 0.95]),
      p.number('Waiting',
               'Seconds per second that threads wait in major page faults.',
               's',
               'sum(instance_workload:faultscope_major_fault_stall_seconds:rate5m%s)' % here,
               [0.2, 1]),
      p.number('Collectors missing',
               'Number of collectors that the kernel or the capabilities of the exporter do not allow.',
               'none',
               'count(faultscope_collector_enabled%s == 0) or vector(0)' % host,
               [1]),
    ]],
    [9, [
      p.lines('Mappings, worst process',
              'Share of vm.max_map_count that the process with the most mappings uses.',
              'percentunit',
              [{
                expr: 'instance_workload:faultscope_worst_process_mappings:ratio' + here,
                legend: each,
              }],
              [0.8, 0.95]),
      p.lines('File descriptors, worst process',
              'Share of its soft RLIMIT_NOFILE that the process nearest to this limit uses.',
              'percentunit',
              [{
                expr: 'instance_workload:faultscope_worst_process_fds:ratio' + here,
                legend: each,
              }],
              [0.8, 0.95]),
    ]],
    [8, [
      p.lines('Mappings',
              'Number of mappings of all processes of a workload.',
              'short',
              [{ expr: 'faultscope_mappings' + here, legend: each }]),
      p.lines('Open file descriptors',
              'Number of open file descriptors of all processes of a workload.',
              'short',
              [{ expr: 'faultscope_open_fds' + here, legend: each }]),
      p.lines('Failed calls', 'Calls that failed, by the limit that was reached.', 'short', [
        {
          expr: 'instance_workload:faultscope_mapping_failures:increase10m' + here,
          legend: '{{workload}}: {{reason}}',
          exemplar: true,
        },
        {
          expr: 'instance_workload:faultscope_fd_failures:increase5m' + here,
          legend: '{{workload}}: EMFILE or ENFILE',
          exemplar: true,
        },
        {
          expr: 'instance_workload:faultscope_commit_failures:increase10m' + here,
          legend: '{{workload}}: commit',
        },
      ]),
    ]],
    [8, [
      p.lines('Page faults',
              'Minor and major page faults per second.',
              'ops',
              [{
                expr: 'instance_workload:faultscope_page_faults:rate5m' + here,
                legend: each,
              }]),
      p.lines('Major faults',
              'Page faults per second that waited for a disk or for swap.',
              'ops',
              [{
                expr: 'rate(faultscope_page_faults_total%s[$__rate_interval])'
                      % '{cluster=~"$cluster", job=~"$job", instance="$instance", workload=~"$workload", type="major"}',
                legend: each,
              }]),
      p.lines('Waiting for pages',
              'Seconds per second that threads wait in major page faults.',
              's',
              [{
                expr: 'instance_workload:faultscope_major_fault_stall_seconds:rate5m' + here,
                legend: each,
              }],
              [0.2]),
    ]],
    [8, [
      p.heatmap('Latency of minor faults',
                'Duration of minor page faults on the whole host.',
                's',
                latency('minor')),
      p.heatmap('Latency of major faults',
                'Duration of major page faults on the whole host.',
                's',
                latency('major')),
      p.lines('Faults by access',
              'User-mode page faults per second on the whole host, counted when a fault starts.',
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
      p.lines('Swap used',
              'Bytes of swap that each workload uses.',
              'bytes',
              [{ expr: 'faultscope_swap_bytes' + here, legend: each }],
              stacked=true),
      p.lines('Swapping in',
              'Page faults per second that read from swap.',
              'ops',
              [{
                expr: 'rate(faultscope_swap_in_faults_total%s[$__rate_interval])' % here,
                legend: each,
              }]),
      p.lines('Direct reclaim',
              'Seconds per second that threads spend in direct reclaim.',
              's',
              [{
                expr: 'rate(faultscope_direct_reclaim_seconds_total%s[$__rate_interval])' % here,
                legend: each,
              }]),
      p.lines('Killed', 'SIGSEGV, SIGBUS and SIGABRT signals, and OOM kills.', 'short', [
        {
          expr: 'instance_workload:faultscope_fatal_signals:increase15m' + here,
          legend: '{{workload}}: {{signal}}',
          exemplar: true,
        },
        {
          expr: 'instance_workload:faultscope_oom_kill_causes:increase10m' + here,
          legend: '{{workload}}: OOM, {{blame}}',
        },
      ]),
    ]],
    [8, [
      p.table('Workloads',
              'Kind, pod and cgroup of each workload. The column cgroup is CGROUP in the runbooks.',
              'none',
              'faultscope_workload_info' + here,
              ['workload', 'kind', 'namespace', 'pod', 'container', 'cgroup'],
              'is'),
    ]],
    [7, [
      p.table('Probes',
              'The attach type of each probe on this kernel.',
              'none',
              'faultscope_probe_info' + host,
              ['probe', 'attach_type'],
              'is'),
      p.lines("The exporter's own cost",
              'CPU seconds per second that the exporter uses.',
              'percentunit',
              [{
                expr: 'rate(process_cpu_seconds_total%s[$__rate_interval])'
                      % '{cluster=~"$cluster", job=~"$job", instance="$instance"}',
                legend: 'CPU',
              }]),
      p.lines("The exporter's memory",
              'Resident memory of the exporter.',
              'bytes',
              [{
                expr: 'process_resident_memory_bytes{cluster=~"$cluster", job=~"$job", instance="$instance"}',
                legend: 'resident',
              }]),
      p.lines('Series', 'Samples per scrape, workloads, and workloads summed as ~other.', 'short', [
        {
          expr: 'scrape_samples_scraped{cluster=~"$cluster", job=~"$job", instance="$instance"}',
          legend: 'samples',
        },
        { expr: 'faultscope_workloads' + host, legend: 'workloads' },
        { expr: 'faultscope_workloads_aggregated' + host, legend: 'workloads in ~other' },
      ]),
    ]],
  ])
)
