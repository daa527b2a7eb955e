// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A server that keeps its sockets open when clients close theirs (allowHalfOpen).
'use strict';
const net = require('net');
const clients = Number(process.argv[2]);

const kept = [];
const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  kept.push(socket);
  socket.resume();
});

function connectAndLeave(left, done) {
  if (!left) {
    done();
    return;
  }
  const client = net.connect(server.address().port, '127.0.0.1', () => client.destroy());
  client.on('close', () => connectAndLeave(left - 1, done));
}

server.listen(0, '127.0.0.1', () => connectAndLeave(clients, () => {
  console.log('ready');
  process.stdin.once('data', () => connectAndLeave(clients, () => console.log('ok')));
  process.stdin.on('end', () => process.exit(0));
}));
