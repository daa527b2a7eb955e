// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// All hosts: who is near a limit, who was refused, who waits; and whether all exporters answer.
local p = import 'panels.libsonnet';

local maps = 'instance_workload:faultscope_worst_process_mappings:ratio';
local fds = 'instance_workload:faultscope_worst_process_fds:ratio';
local stall = 'instance_workload:faultscope_major_fault_stall_seconds:rate5m';
local who = ['instance', 'workload'];

// Seconds until a ratio that grows is 1, of those above a quarter that will be within a week.
local left(ratio) =
  'bottomk(20, (1 - (%(r)s > 0.25)) / (deriv(%(r)s[1h]) > 0) < 7 * 86400)' % { r: ratio };

p.dashboard(
  'fleet',
  'fleet',
  'Every host that is scraped: limits that are near, calls that were refused, time lost to faults.',
  [],
  p.rows([
    [4, [
      p.number('Hosts', 'Exporters that answer.', 'none', 'sum(up{job="faultscope"})'),
      p.number('Hosts down',
               'Exporters that do not answer.',
               'none',
               'count(up{job="faultscope"} == 0) or vector(0)',
               [1, 5]),
      p.number('Alerts',
               'Alerts of faultscope that fire.',
               'none',
               'count(ALERTS{alertname=~"Faultscope.*", alertstate="firing"}) or vector(0)',
               [1, 10]),
      p.number('Near a limit',
               'Workloads with a process above 80 % of a limit.',
               'none',
               'count(%s > 0.8 or %s > 0.8) or vector(0)' % [maps, fds],
               [1, 10]),
      p.number('Refused',
               'Calls refused for want of mappings or descriptors, in the last hour.',
               'short',
               '(sum(increase(faultscope_mapping_failures_total[1h])) or vector(0)) + '
               + '(sum(increase(faultscope_fd_failures_total[1h])) or vector(0))',
               [1, 100]),
      p.number('Series',
               'Samples that one round of scrapes brings.',
               'short',
               'sum(scrape_samples_scraped{job="faultscope"})'),
    ]],
    [10, [
      p.table('Nearest to vm.max_map_count',
              'The process with most mappings of each workload, as a share of the limit.',
              'percentunit',
              'topk(20, %s)' % maps,
              who,
              'used',
              [0.8, 0.95]),
      p.table('Nearest to RLIMIT_NOFILE',
              'The process of each workload that is nearest to its own soft limit.',
              'percentunit',
              'topk(20, %s)' % fds,
              who,
              'used',
              [0.8, 0.95]),
    ]],
    [8, [
      p.table('Mappings will run out in',
              'A straight line through the last hour, for those above a quarter of the limit.',
              's',
              left(maps),
              who,
              'left'),
      p.table('Descriptors will run out in',
              'A straight line through the last hour, for those above a quarter of the limit.',
              's',
              left(fds),
              who,
              'left'),
    ]],
    [8, [
      p.lines('Waiting for pages',
              'Thread-seconds a second in major faults: the ten worst.',
              's',
              [{ expr: 'topk(10, %s)' % stall, legend: '{{instance}} {{workload}}' }]),
      p.lines('Swapping in',
              'Faults that read a page from swap: the ten worst.',
              'ops',
              [{
                expr: 'topk(10, rate(faultscope_swap_in_faults_total[5m]))',
                legend: '{{instance}} {{workload}}',
              }]),
    ]],
    [8, [
      p.lines('Mappings refused',
              'Calls refused, by the limit that refused them.',
              'short',
              [{
                expr: 'sum by (reason) (increase(faultscope_mapping_failures_total[5m]))',
                legend: '{{reason}}',
                exemplar: true,
              }]),
      p.lines('Descriptors refused',
              "EMFILE: a process limit. ENFILE: the host's.",
              'short',
              [{
                expr: 'sum by (errno) (increase(faultscope_fd_failures_total[5m]))',
                legend: '{{errno}}',
                exemplar: true,
              }]),
      p.lines('Killed', 'Fault signals by name, and kills for want of memory.', 'short', [
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
      p.lines('Scrapes', 'The slowest collection of any exporter, and the median.', 's', [
        { expr: 'max(faultscope_scrape_duration_seconds)', legend: 'slowest' },
        { expr: 'quantile(0.5, faultscope_scrape_duration_seconds)', legend: 'median' },
      ]),
      p.lines('Not whole', 'Exporters that see less than they should.', 'short', [
        { expr: 'count(faultscope_up == 0) or vector(0)', legend: 'partial answers' },
        {
          expr: 'count(count by (instance) (faultscope_collector_enabled == 0)) or vector(0)',
          legend: 'without a collector',
        },
        { expr: 'count(faultscope_workloads_aggregated > 0) or vector(0)', legend: 'fold workloads' },
        {
          expr: 'count(rate(faultscope_events_dropped_total[5m]) > 0) or vector(0)',
          legend: 'lose events',
        },
      ]),
    ]],
  ])
)
