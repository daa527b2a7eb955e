// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Kernels of the fleet: bad accesses that were absorbed, errors that they reported, taint.
local p = import 'panels.libsonnet';

local here = '{instance=~"$instance", module=~"$module"}';
local hosts = '{instance=~"$instance"}';

p.dashboard(
  'kernel',
  'kernel triage',
  'What precedes a crash of the kernel, and what it reported: which module, on which hosts.',
  [
    p.choice('instance', 'faultscope_build_info', 'instance', many=true),
    p.choice('module',
             '{__name__=~"faultscope_kernel_(fixups|reports)_total"}',
             'module',
             many=true),
  ],
  p.rows([
    [4, [
      p.number('Reports, a day',
               'Oopses, KASAN, KFENCE, hung tasks, lockups.',
               'short',
               'sum(increase(faultscope_kernel_reports_total%s[1d])) or vector(0)'
               % '{instance=~"$instance", module=~"$module", kind!="warn"}',
               [1, 10]),
      p.number('Hosts that reported',
               'Of those, in a day.',
               'none',
               'count(sum by (instance) (increase(faultscope_kernel_reports_total%s[1d])) > 0) '
               % here + 'or vector(0)',
               [1, 10]),
      p.number('Modules at bad addresses',
               'Absorbed by exception tables, in a day.',
               'none',
               'count(sum by (module) (increase(faultscope_kernel_faults_recovered_total%s[1d])) > 0) '
               % here + 'or vector(0)'),
      p.number('Tainted hosts',
               'With any flag of taint.',
               'none',
               'count(count by (instance) (faultscope_kernel_tainted_info%s)) or vector(0)'
               % hosts),
    ]],
    [9, [
      p.lines('Bad accesses absorbed, by module',
              'A module that does so ten times as often as the day before is a precursor.',
              'ops',
              [{
                expr: 'sum by (module) (rate(faultscope_kernel_faults_recovered_total%s[5m])) > 0' % here,
                legend: '{{module}}',
                exemplar: true,
              }]),
      p.lines('Against the day before',
              'Rate of now, divided by that of yesterday.',
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
              'Of all hosts chosen.',
              'short',
              [{
                expr: 'sum by (kind) (increase(faultscope_kernel_reports_total%s[10m])) > 0' % here,
                legend: '{{kind}}',
              }]),
      p.lines('Faults in kernel mode',
              'At user addresses: copies, mostly. At kernel addresses: bad.',
              'ops',
              [{
                expr: 'sum by (address) (rate(faultscope_kernel_faults_total%s[5m]))' % hosts,
                legend: '{{address}}',
              }]),
      p.lines('Killed for want of memory',
              'By the OOM killer.',
              'short',
              [{
                expr: 'sum by (scope) (increase(faultscope_oom_kills_total%s[10m]))' % hosts,
                legend: '{{scope}}',
              }]),
    ]],
    [9, [
      p.table('Reports since the exporters began',
              'By host, kind and module.',
              'short',
              'topk(50, faultscope_kernel_reports_total%s > 0)' % here,
              ['instance', 'kind', 'module'],
              'reports',
              [1, 10]),
      p.table('Taint',
              'P: a proprietary module, O: one from elsewhere, W: warned, D: died.',
              'none',
              'count by (flag, instance) (faultscope_kernel_tainted_info%s)' % hosts,
              ['instance', 'flag'],
              'is'),
      p.table('Kernels',
              'How many hosts run which.',
              'none',
              'count by (kernel, version) (faultscope_build_info%s)' % hosts,
              ['kernel', 'version'],
              'hosts'),
    ]],
  ])
)
