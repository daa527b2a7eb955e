// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Dashboard of all hosts: workloads near a limit, failed calls, time in page faults, exporters.
local p = import 'panels.libsonnet';

local maps = 'instance_workload:faultscope_worst_process_mappings:ratio';
local fds = 'instance_workload:faultscope_worst_process_fds:ratio';
local stall = 'instance_workload:faultscope_major_fault_stall_seconds:rate5m';
local who = ['instance', 'workload'];

// Seconds until a growing ratio reaches 1, for ratios above 0.25 that reach 1 within a week.
local left(ratio) =
  'bottomk(20, (1 - (%(r)s > 0.25)) / (deriv(%(r)s[1h]) > 0) < 7 * 86400)' % { r: ratio };

p.dashboard(
  'fleet',
  'fleet',
  'All hosts: workloads near a limit, failed calls, and time that threads wait in page faults.',
  [],
  p.rows([
    [4, [
      p.number('Hosts', 'Exporters that Prometheus can scrape.', 'none', 'sum(up{job="faultscope"})'),
      p.number('Hosts down',
               'Exporters that Prometheus cannot scrape.',
               'none',
               'count(up{job="faultscope"} == 0) or vector(0)',
               [1, 5]),
      p.number('Alerts',
               'faultscope alerts that fire now.',
               'none',
               'count(ALERTS{alertname=~"Faultscope.*", alertstate="firing"}) or vector(0)',
               [1, 10]),
      p.number('Near a limit',
               'Workloads with a process above 80 % of a limit.',
               'none',
               'count(%s > 0.8 or %s > 0.8) or vector(0)' % [maps, fds],
               [1, 10]),
      p.number('Failed calls',
               'Calls that failed at a limit on mappings or file descriptors, in the last hour. The '
               + 'number next to it says how many hosts count them.',
               'short',
               'sum(increase(faultscope_mapping_failures_total[1h])) + '
               + 'sum(increase(faultscope_fd_failures_total[1h]))',
               [1, 100]),
      p.number('Hosts that count failed calls',
               'On the others, the failed calls are not known: see faultscope_collector_off_info.',
               'none',
               'sum(faultscope_collector_enabled{collector="refusals"})'),
      p.number('Series',
               'Time series of all faultscope exporters.',
               'short',
               'sum(scrape_samples_scraped{job="faultscope"})'),
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
      p.lines('Waiting for pages',
              'Seconds per second that threads wait in major page faults: top ten workloads.',
              's',
              [{ expr: 'topk(10, %s)' % stall, legend: '{{instance}} {{workload}}' }]),
      p.lines('Swapping in',
              'Page faults per second that read from swap: top ten workloads.',
              'ops',
              [{
                expr: 'topk(10, rate(faultscope_swap_in_faults_total[5m]))',
                legend: '{{instance}} {{workload}}',
              }]),
    ]],
    [8, [
      p.lines('Failed mapping calls',
              'Mapping calls that failed, by the limit that was reached.',
              'short',
              [{
                expr: 'sum by (reason) (increase(faultscope_mapping_failures_total[5m]))',
                legend: '{{reason}}',
                exemplar: true,
              }]),
      p.lines('Failed file descriptor calls',
              'EMFILE: a process reached RLIMIT_NOFILE. ENFILE: the host reached fs.file-max.',
              'short',
              [{
                expr: 'sum by (errno) (increase(faultscope_fd_failures_total[5m]))',
                legend: '{{errno}}',
                exemplar: true,
              }]),
      p.lines('Killed', 'SIGSEGV, SIGBUS and SIGABRT signals, and OOM kills.', 'short', [
        {
          expr: 'sum by (signal) (increase(faultscope_fatal_signals_total[5m]))',
          legend: '{{signal}}',
          exemplar: true,
        },
        {
          expr: 'sum by (scope) (increase(faultscope_oom_kills_total[5m]))',
          legend: 'OOM, {{scope}}',
        },
      ]),
    ]],
    [8, [
      p.lines('Scrapes', 'Duration of a scrape: slowest exporter, and median of all.', 's', [
        { expr: 'max(faultscope_scrape_duration_seconds)', legend: 'slowest' },
        { expr: 'quantile(0.5, faultscope_scrape_duration_seconds)', legend: 'median' },
      ]),
      p.lines('Incomplete exporters', 'Exporters that measure less than they should.', 'short', [
        { expr: 'count(faultscope_up == 0) or vector(0)', legend: 'partial metrics' },
        {
          expr: 'count(count by (instance) (faultscope_collector_enabled == 0)) or vector(0)',
          legend: 'without a collector',
        },
        { expr: 'count(faultscope_workloads_aggregated > 0) or vector(0)', legend: 'workloads in ~other' },
        {
          expr: 'count(rate(faultscope_events_dropped_total[5m]) > 0) or vector(0)',
          legend: 'lose events',
        },
      ]),
    ]],
  ])
)
