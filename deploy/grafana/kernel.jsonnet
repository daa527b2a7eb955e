// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Kernels of all hosts: recovered kernel faults, error reports, taint.
local p = import 'panels.libsonnet';

local here = '{instance=~"$instance", module=~"$module"}';
local hosts = '{instance=~"$instance"}';

p.dashboard(
  'kernel',
  'kernel triage',
  'Kernel faults and error reports that may precede a crash: which module, on which hosts.',
  [
    p.choice('instance', 'faultscope_build_info', 'instance', many=true),
    p.choice('module',
             '{__name__=~"faultscope_kernel_(fixups|reports)_total"}',
             'module',
             many=true),
  ],
  p.rows([
    [4, [
      p.number('Reports in 24 hours',
               'Oopses, KASAN, KFENCE, hung tasks, lockups.',
               'short',
               'sum(increase(faultscope_kernel_reports_total%s[1d])) or vector(0)'
               % '{instance=~"$instance", module=~"$module", kind!="warn"}',
               [1, 10]),
      p.number('Hosts that reported',
               'Hosts whose kernel reported an error in 24 hours.',
               'none',
               'count(sum by (instance) (increase(faultscope_kernel_reports_total%s[1d])) > 0) '
               % here + 'or vector(0)',
               [1, 10]),
      p.number('Modules with invalid accesses',
               'Modules with recovered kernel faults in 24 hours.',
               'none',
               'count(sum by (module) (increase(faultscope_kernel_faults_recovered_total%s[1d])) > 0) '
               % here + 'or vector(0)'),
      p.number('Tainted hosts',
               'Hosts whose kernel has a taint flag.',
               'none',
               'count(count by (instance) (faultscope_kernel_tainted_info%s)) or vector(0)'
               % hosts),
    ]],
    [9, [
      p.lines('Recovered kernel faults, by module',
              'Ten times the rate of the day before often precedes a crash.',
              'ops',
              [{
                expr: 'sum by (module) (rate(faultscope_kernel_faults_recovered_total%s[5m])) > 0' % here,
                legend: '{{module}}',
                exemplar: true,
              }]),
      p.lines('Compared with the day before',
              'Present rate of recovered kernel faults divided by that of yesterday.',
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
              'For all selected hosts.',
              'short',
              [{
                expr: 'sum by (kind) (increase(faultscope_kernel_reports_total%s[10m])) > 0' % here,
                legend: '{{kind}}',
              }]),
      p.lines('Faults in kernel mode',
              'At user addresses: usually user copies, which is normal. At kernel addresses: bugs.',
              'ops',
              [{
                expr: 'sum by (address) (rate(faultscope_kernel_faults_total%s[5m]))' % hosts,
                legend: '{{address}}',
              }]),
      p.lines('OOM kills',
              'Processes killed by the OOM killer.',
              'short',
              [{
                expr: 'sum by (scope) (increase(faultscope_oom_kills_total%s[10m]))' % hosts,
                legend: '{{scope}}',
              }]),
    ]],
    [9, [
      p.table('Reports since the exporters started',
              'By host, kind and module.',
              'short',
              'topk(50, faultscope_kernel_reports_total%s > 0)' % here,
              ['instance', 'kind', 'module'],
              'reports',
              [1, 10]),
      p.table('Taint',
              'P: proprietary module, O: out-of-tree module, W: the kernel warned, D: the kernel had an oops.',
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
