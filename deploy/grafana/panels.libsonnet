// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Functions that return panels as plain objects of Grafana's JSON; they need no jsonnet library.
local source = { type: 'prometheus', uid: '${datasource}' };

local target(i, query) = {
  refId: std.char(65 + i),
  datasource: source,
  expr: query.expr,
  legendFormat: std.get(query, 'legend', '__auto'),
  exemplar: std.get(query, 'exemplar', false),
  instant: std.get(query, 'instant', false),
  range: !self.instant,
  format: std.get(query, 'format', 'time_series'),
};

// Returns a panel without position and id, which `rows` adds.
local panel(type, title, description, queries) = {
  type: type,
  title: title,
  description: description,
  datasource: source,
  targets: std.mapWithIndex(target, queries),
  fieldConfig: { defaults: {}, overrides: [] },
  options: {},
};

local thresholds(steps) = {
  mode: 'absolute',
  steps: [{ color: 'green', value: null }] + [
    { color: ['orange', 'red'][i], value: steps[i] }
    for i in std.range(0, std.length(steps) - 1)
  ],
};

{
  // A panel with one or several lines over time. Each query is an object with the keys expr, legend
  // and exemplar.
  lines(title, description, unit, queries, steps=[], stacked=false)::
    panel('timeseries', title, description, queries) {
      fieldConfig: {
        defaults: {
          unit: unit,
          min: 0,
          custom: {
            lineWidth: 1,
            fillOpacity: if stacked then 30 else 0,
            showPoints: 'never',
            stacking: { mode: if stacked then 'normal' else 'none' },
            thresholdsStyle: { mode: if steps == [] then 'off' else 'dashed' },
          },
        } + if steps == [] then {} else { thresholds: thresholds(steps) },
        overrides: [],
      },
      options: {
        legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },

  // A panel that shows one number: the current value of expr. Without a value, nothing was measured.
  number(title, description, unit, expr, steps=[])::
    panel('stat', title, description, [{ expr: expr, instant: true }]) {
      fieldConfig: {
        defaults: { unit: unit, thresholds: thresholds(steps), noValue: 'not measured' },
        overrides: [],
      },
      options: { colorMode: 'value', reduceOptions: { calcs: ['lastNotNull'] } },
    },

  // A table with one line for each series of an instant query. `columns` lists the labels to show, in
  // this order; `value` is the title of the value. A cell of `instance` links to the host's dashboard.
  table(title, description, unit, expr, columns, value, steps=[])::
    panel('table', title, description, [{ expr: expr, instant: true, format: 'table' }]) {
      fieldConfig: {
        defaults: {},
        overrides: [
          {
            matcher: { id: 'byName', options: value },
            properties: [
              { id: 'unit', value: unit },
              { id: 'thresholds', value: thresholds(steps) },
              {
                id: 'custom.cellOptions',
                value: { type: if steps == [] then 'auto' else 'color-text' },
              },
            ],
          },
          {
            matcher: { id: 'byName', options: 'instance' },
            properties: [{
              id: 'links',
              value: [{
                title: 'this host',
                url: '/d/faultscope-host?var-datasource=${datasource}'
                     + '&var-instance=${__data.fields.instance}',
              }],
            }],
          },
        ],
      },
      transformations: [{
        id: 'organize',
        options: {
          renameByName: { Value: value },
          indexByName: { [columns[i]]: i for i in std.range(0, std.length(columns) - 1) },
        },
      }, {
        id: 'filterFieldsByName',
        options: { include: { names: columns + [value] } },
      }],
      options: { sortBy: [{ displayName: value, desc: true }] },
    },

  // A heat map of a classic histogram over time: expr returns its buckets, by the label le.
  heatmap(title, description, unit, expr)::
    panel('heatmap', title, description, [{ expr: expr, legend: '{{le}}', format: 'heatmap' }]) {
      options: {
        calculate: false,
        yAxis: { unit: unit },
        color: { mode: 'scheme', scheme: 'Oranges', scale: 'exponential', exponent: 0.5 },
        tooltip: { show: true, yHistogram: true },
      },
    },

  // Places panels. Each of `lines` is [height, [panel…]]; the panels of a line share 24 columns.
  rows(lines)::
    local place(done, line) =
      local width = std.floor(24 / std.length(line[1]));
      {
        y: done.y + line[0],
        panels: done.panels + [
          line[1][i] {
            id: std.length(done.panels) + i + 1,
            gridPos: { x: i * width, y: done.y, w: width, h: line[0] },
          }
          for i in std.range(0, std.length(line[1]) - 1)
        ],
      };
    std.foldl(place, lines, { y: 0, panels: [] }).panels,

  datasource:: {
    name: 'datasource',
    label: 'Prometheus',
    type: 'datasource',
    query: 'prometheus',
  },

  // A dashboard variable whose choices are the values of a label of a metric.
  choice(name, metric, label, many=false):: {
    name: name,
    type: 'query',
    datasource: source,
    definition: self.query.query,
    query: { query: 'label_values(%s, %s)' % [metric, label], refId: name },
    refresh: 2,
    sort: 1,
    multi: many,
    includeAll: many,
    allValue: if many then '.*' else null,
  },

  dashboard(name, title, description, variables, panels):: {
    uid: 'faultscope-' + name,
    title: 'faultscope: ' + title,
    description: description,
    tags: ['faultscope'],
    schemaVersion: 38,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [$.datasource] + variables },
    links: [{ type: 'dashboards', title: 'faultscope', tags: ['faultscope'], keepTime: true }],
    panels: panels,
  },
}
