// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Dashboard of the kernels of all hosts: recovered kernel faults, error reports, taint.
local p = import 'panels.libsonnet';

local here = '{cluster=~"$cluster", job=~"$job", instance=~"$instance", module=~"$module"}';
local hosts = '{cluster=~"$cluster", job=~"$job", instance=~"$instance"}';

p.dashboard(
  'kernel',
  'kernel triage',
  'Kernel faults and error reports that may precede a crash: which module, on which hosts.',
  [
    p.choice('cluster', 'faultscope_build_info', 'cluster', many=true),
    p.choice('job', 'faultscope_build_info{cluster=~"$cluster"}', 'job', many=true),
    p.choice('instance', 'faultscope_build_info{cluster=~"$cluster", job=~"$job"}', 'instance', many=true),
    p.choice('module',
             '{__name__=~"faultscope_kernel_(faults_recovered|reports)_total"}',
             'module',
             many=true),
  ],
  p.rows([
    [4, [
      p.number('Reports in 24 hours',
               'Error reports of kernels: oops, KASAN, KFENCE, hung task, lockup.',
               'short',
               'sum(increase(faultscope_kernel_reports_total%s[1d])) or vector(0)'
               % '{cluster=~"$cluster", job=~"$job", instance=~"$instance", module=~"$module", kind!="warn"}',
               [1, 10]),
      p.number('Hosts that reported',
               'Number of hosts whose kernel reported an error in the last 24 hours.',
               'none',
               'count(sum by (instance) (increase(faultscope_kernel_reports_total%s[1d])) > 0) '
               % here + 'or vector(0)',
               [1, 10]),
      p.number('Modules with invalid accesses',
               'Number of kernel modules with recovered kernel faults in the last 24 hours.',
               'none',
               'count(sum by (module) (increase(faultscope_kernel_faults_recovered_total%s[1d])) > 0) '
               % here + 'or vector(0)'),
      p.number('Tainted hosts',
               'Number of hosts whose kernel has a taint flag.',
               'none',
               'count(count by (instance) (faultscope_kernel_tainted_info%s)) or vector(0)'
               % hosts),
    ]],
    [9, [
      p.lines('Recovered kernel faults, by module',
              'Recovered kernel faults per second. A rise to ten times often precedes a crash.',
              'ops',
              [{
                expr: 'sum by (module) (rate(faultscope_kernel_faults_recovered_total%s[5m])) > 0' % here,
                legend: '{{module}}',
                exemplar: true,
              }]),
      p.lines('Compared with the day before',
              'Present rate of recovered kernel faults, divided by the rate of the day before.',
              'short',
              [{
                expr: 'sum by (module) (rate(faultscope_kernel_faults_recovered_total%s[5m])) / '
                      % here
                      + 'sum by (module) (rate(faultscope_kernel_faults_recovered_total%s[1d] offset 1h))'
                        % here,
                legend: '{{module}}',
              }],
              [10]),
    ]],
    [8, [
      p.lines('Reports, by kind',
              'Error reports of the kernels of all selected hosts.',
              'short',
              [{
                expr: 'sum by (kind) (increase(faultscope_kernel_reports_total%s[10m])) > 0' % here,
                legend: '{{kind}}',
              }]),
      p.lines('Faults in kernel mode',
              'Faults at user addresses are usually normal user copies; at kernel addresses: bugs.',
              'ops',
              [{
                expr: 'sum by (address) (rate(faultscope_kernel_faults_total%s[5m]))' % hosts,
                legend: '{{address}}',
              }]),
      p.lines('OOM kills',
              'Number of processes that the OOM killer killed.',
              'short',
              [{
                expr: 'sum by (scope) (increase(faultscope_oom_kills_total%s[10m]))' % hosts,
                legend: '{{scope}}',
              }]),
    ]],
    [9, [
      p.table('Reports since the exporters started',
              'Error reports of the kernel by host, kind and module.',
              'short',
              'topk(50, faultscope_kernel_reports_total%s > 0)' % here,
              ['instance', 'kind', 'module'],
              'reports',
              [1, 10]),
      p.table('Taint',
              'Taint flags. P: proprietary module, O: out-of-tree module, W: warning, D: oops.',
              'none',
              'count by (flag, instance) (faultscope_kernel_tainted_info%s)' % hosts,
              ['instance', 'flag'],
              'is'),
      p.table('Kernels',
              'Number of hosts for each kernel version.',
              'none',
              'count by (kernel, version) (faultscope_build_info%s)' % hosts,
              ['kernel', 'version'],
              'hosts'),
    ]],
  ])
)
