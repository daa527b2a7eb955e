// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Dashboard of all hosts: workloads near a limit, failed calls, time in page faults, exporters.
local p = import 'panels.libsonnet';

local of = '{cluster=~"$cluster", job=~"$job"}';
local maps = 'instance_workload:faultscope_worst_process_mappings:ratio' + of;
local fds = 'instance_workload:faultscope_worst_process_fds:ratio' + of;
local stall = 'instance_workload:faultscope_major_fault_stall_seconds:rate5m' + of;
local calls = 'instance_workload:faultscope_mapping_failures:increase10m' + of;
local opens = 'instance_workload:faultscope_fd_failures:increase5m' + of;
local kills = 'instance_workload:faultscope_oom_kill_causes:increase10m' + of;
local counted = 'faultscope_collector_enabled{cluster=~"$cluster", job=~"$job", collector="%s"}';

// A sum of recorded failures: 0 only if a host has the collector, otherwise no value.
local failures(sums, collector) =
  '(%s) and on () (sum(%s) > 0)'
  % [std.join(' + ', ['(sum(%s) or vector(0))' % one for one in sums]), counted % collector];

local who = ['cluster', 'instance', 'namespace', 'workload'];

// Seconds until a growing ratio reaches 1, for ratios above 0.25 that reach 1 within a week.
local left(ratio) =
  'bottomk(20, (1 - (%(r)s > 0.25)) / (deriv(%(r)s[1h]) > 0) < 7 * 86400)' % { r: ratio };

p.dashboard(
  'fleet',
  'fleet',
  'All hosts, most urgent first: alerts, failures, workloads near a limit, forecasts, exporters.',
  [
    p.choice('cluster', 'faultscope_build_info', 'cluster', many=true),
    p.choice('job', 'faultscope_build_info{cluster=~"$cluster"}', 'job', many=true),
  ],
  p.rows([
    [4, [
      p.number('Alerts',
               'faultscope alerts that fire now.',
               'none',
               'count(ALERTS{alertname=~"Faultscope.*", alertstate="firing", cluster=~"$cluster"}) '
               + 'or vector(0)',
               [1, 10]),
      p.number('OOM kills',
               'Processes that the OOM killer ended in the last 10 minutes.',
               'none',
               failures([kills], 'oom'),
               [1, 10]),
      p.number('Failed calls',
               'Calls that failed at a limit on mappings or file descriptors, in the last minutes. The '
               + 'number next to it says how many hosts count them.',
               'short',
               failures([calls, opens], 'refusals'),
               [1, 100]),
      p.number('Hosts that count failed calls',
               'On the others, the failed calls are not known: see faultscope_collector_off_info.',
               'none',
               'sum(%s)' % (counted % 'refusals')),
      p.number('Near a limit',
               'Workloads with a process above 80 % of a limit.',
               'none',
               'count(%s > 0.8 or %s > 0.8) or vector(0)' % [maps, fds],
               [1, 10]),
      p.number('Hosts down',
               'Exporters that Prometheus cannot scrape.',
               'none',
               'count(up%s == 0) or vector(0)' % of,
               [1, 5]),
      p.number('Hosts', 'Exporters that Prometheus can scrape.', 'none', 'sum(up%s)' % of),
      p.number('Series',
               'Time series of all faultscope exporters.',
               'short',
               'sum(scrape_samples_scraped%s)' % of),
    ]],
    [9, [
      p.table('Failed calls of workloads',
              'Mapping and file descriptor calls that failed at a limit in the last minutes.',
              'short',
              'topk(20, sum by (cluster, instance, namespace, workload) (%s or %s))' % [calls, opens],
              who,
              'failed',
              [1, 100]),
      p.table('OOM kills of workloads',
              'Processes that the OOM killer ended in the last 10 minutes, by what is to blame.',
              'short',
              'topk(20, %s)' % kills,
              who + ['blame'],
              'killed',
              [1, 10]),
    ]],
    [10, [
      p.table('Nearest to vm.max_map_count',
              'Share of vm.max_map_count in use by the process with the most mappings.',
              'percentunit',
              'topk(20, %s)' % maps,
              who,
              'used',
              [0.8, 0.95]),
      p.table('Nearest to RLIMIT_NOFILE',
              'Share of RLIMIT_NOFILE in use by the process that is nearest to this limit.',
              'percentunit',
              'topk(20, %s)' % fds,
              who,
              'used',
              [0.8, 0.95]),
    ]],
    [8, [
      p.table('Time until vm.max_map_count',
              'Linear forecast from the last hour, for workloads above 25 % of vm.max_map_count.',
              's',
              left(maps),
              who,
              'left'),
      p.table('Time until RLIMIT_NOFILE',
              'Linear forecast from the last hour, for workloads above 25 % of RLIMIT_NOFILE.',
              's',
              left(fds),
              who,
              'left'),
    ]],
    [8, [
      p.lines('Failed mapping calls',
              'Mapping calls that failed, by the limit that was reached.',
              'short',
              [{ expr: 'sum by (reason) (%s)' % calls, legend: '{{reason}}' }]),
      p.lines('Failed file descriptor calls',
              'EMFILE: a process reached RLIMIT_NOFILE. ENFILE: the host reached fs.file-max.',
              'short',
              [{
                expr: 'sum by (errno) (increase(faultscope_fd_failures_total%s[5m]))' % of,
                legend: '{{errno}}',
                exemplar: true,
              }]),
      p.lines('Killed', 'SIGSEGV, SIGBUS and SIGABRT signals, and OOM kills.', 'short', [
        {
          expr: 'sum by (signal) (instance_workload:faultscope_fatal_signals:increase15m%s)' % of,
          legend: '{{signal}}',
        },
        { expr: 'sum by (blame) (%s)' % kills, legend: 'OOM, {{blame}}' },
      ]),
    ]],
    [8, [
      p.lines('Waiting for pages',
              'Seconds per second that threads wait in major page faults: top ten workloads.',
              's',
              [{ expr: 'topk(10, %s)' % stall, legend: '{{instance}} {{workload}}' }]),
      p.lines('Swapping in',
              'Page faults per second that read from swap: top ten workloads.',
              'ops',
              [{
                expr: 'topk(10, rate(faultscope_swap_in_faults_total%s[5m]))' % of,
                legend: '{{instance}} {{workload}}',
              }]),
    ]],
    [8, [
      p.lines('Incomplete exporters', 'Exporters that measure less than they should.', 'short', [
        { expr: 'count(faultscope_up%s == 0) or vector(0)' % of, legend: 'partial metrics' },
        {
          expr: 'count(count by (instance) (faultscope_collector_enabled%s == 0)) or vector(0)' % of,
          legend: 'without a collector',
        },
        {
          expr: 'count(faultscope_workloads_aggregated%s > 0) or vector(0)' % of,
          legend: 'workloads in ~other',
        },
        {
          expr: 'count(rate(faultscope_events_dropped_total%s[5m]) > 0) or vector(0)' % of,
          legend: 'lose events',
        },
      ]),
      p.lines('Versions', 'Hosts by version of the exporter.', 'short', [
        { expr: 'count by (version) (faultscope_build_info%s)' % of, legend: '{{version}}' },
      ]),
      p.lines('Scrapes', 'Duration of a scrape: slowest exporter, and median of all.', 's', [
        { expr: 'max(faultscope_scrape_duration_seconds%s)' % of, legend: 'slowest' },
        { expr: 'quantile(0.5, faultscope_scrape_duration_seconds%s)' % of, legend: 'median' },
      ]),
    ]],
  ])
)
