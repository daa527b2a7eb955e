# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads and writes recordings by docs/design/recording-format.md alone, without the program's code.

A recording is a Layout and a list of records. A record is a list [kind, time in ns, {field: value},
reference, brief]; recording-format.md describes reference and brief. A field is (name, index). The
value of a field is a number, or bytes if the type of the field is t.
"""

import struct
import zlib

FILE_HEADER = struct.Struct("<8sII")
CHUNK_HEADER = struct.Struct("<IIIIIIQ")
MAGIC, FORMAT, BYTE_ORDER, CHUNK = b"FSREC\r\n\032", 3, 0x01020304, 0x4B435346
KEY, FIELDS = 1, 2
NONE, NEW, FIRST = 0, 1, 2


class Layout:
    """The kinds of records in a recording, and the fields of each kind in the order of the file."""

    def __init__(self, text):
        # Maps the number of a record kind to [name of the kind, [(type, size, count, from, name,
        # unit) of each field]].
        self.kinds = {}
        kind = None
        for line in text.splitlines():
            word = line.split()
            if word[0] == "r":
                kind = int(word[1])
                self.kinds[kind] = [word[2], []]
            else:
                self.kinds[kind][1].append((word[1], *map(int, word[2:5]), *word[5:7]))

    def text(self):
        return "".join(f"r {kind} {name}\n" + "".join("f %s %u %u %u %s %s\n" % one
                                                      for one in fields)
                       for kind, (name, fields) in self.kinds.items())

    def elements(self, kind):
        """Returns (type, size, (name, index)) of each field id of a kind, from id 1 on."""
        return [(one[0], one[1], (one[4], one[3] + i)) for one in self.kinds[kind][1]
                for i in range(one[2])]


def unpack_number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def pack_number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def zigzag(value):
    value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return (value << 1 ^ value >> 63) & (1 << 64) - 1


class State:
    """Decoder state that a chunk needs from earlier chunks: time, slots, last record of each kind.
    """

    def __init__(self):
        self.t_ns, self.slot, self.slots, self.last = 0, -1, [], {}

    def begin(self, kind, reference):
        """Returns two values. The first is the list of fields from which a record stores only
        differences. The second is the record's slot number, or None if the record has no slot."""
        if reference == NEW:
            self.slots.append({})
            return dict(self.last.get(kind, {})), len(self.slots) - 1
        if reference >= FIRST:
            self.slot += unzigzag(reference - FIRST) + 1
            return dict(self.slots[self.slot]), self.slot
        return dict(self.last.get(kind, {})), None

    def keep(self, kind, kept, fields):
        self.last[kind] = dict(fields)
        if kept is not None:
            self.slots[kept] = dict(fields)


class Chunk:
    """One chunk of a recording: the records of one interval."""

    def __init__(self, flags, t_ns, records):
        self.flags, self.t_ns, self.records = flags, t_ns, records


def read(data):
    """Returns the Layout and the list of chunks of a recording."""
    magic, number, order = FILE_HEADER.unpack_from(data)
    assert (magic, number, order) == (MAGIC, FORMAT, BYTE_ORDER), "no recording of this format"
    at, layout, chunks, state = FILE_HEADER.size, None, [], State()
    while at < len(data):
        mark, crc, payload_crc, packed, raw, flags, t_ns = CHUNK_HEADER.unpack_from(data, at)
        assert mark == CHUNK and crc == zlib.crc32(data[at + 8:at + CHUNK_HEADER.size])
        at += CHUNK_HEADER.size
        payload = data[at:at + packed]
        at += packed
        assert payload_crc == zlib.crc32(payload)
        payload = zlib.decompress(payload)
        assert len(payload) == raw
        if flags & FIELDS:
            layout = Layout(payload.decode())
            continue
        if flags & KEY:
            state = State()
        chunks.append(Chunk(flags, t_ns, list(read_records(payload, layout, state))))
    return layout, chunks


class Values:
    """The set of all numbers in a recording, and the set of all texts in it."""

    def __init__(self, path):
        values = {value for chunk in read(path.read_bytes())[1] for record in chunk.records
                  for value in record[2].values()}
        self.texts = {value.decode(errors="replace") for value in values
                      if isinstance(value, bytes)}
        self.numbers = {value for value in values if not isinstance(value, bytes)}


def read_records(data, layout, state):
    at = 0
    while at < len(data):
        kind, at = unpack_number(data, at)
        t_ns, at = unpack_number(data, at)
        reference, at = unpack_number(data, at)
        brief, reference = reference & 1, reference >> 1
        fields, kept = state.begin(kind, reference)
        elements, number = layout.elements(kind), 0
        while True:
            gap, at = unpack_number(data, at)
            if not gap:
                break
            number += gap
            sort, _, name = elements[number - 1]
            value, at = unpack_number(data, at)
            if sort == "t":
                fields[name] = data[at:at + value]
                at += value
            else:
                fields[name] = fields.get(name, 0) + unzigzag(value)
        state.t_ns += unzigzag(t_ns)
        state.keep(kind, kept, fields)
        yield [kind, state.t_ns, fields, reference, brief]


def write(layout, chunks):
    """Returns the bytes of a recording with these chunks."""
    out = bytearray(FILE_HEADER.pack(MAGIC, FORMAT, BYTE_ORDER))

    def put(payload, flags, t_ns):
        packed = zlib.compress(payload, 6)
        tail = struct.pack("<IIIIQ", zlib.crc32(packed), len(packed), len(payload), flags, t_ns)
        out.extend(struct.pack("<II", CHUNK, zlib.crc32(tail)) + tail + packed)

    put(layout.text().encode(), FIELDS, 0)
    state = State()
    for chunk in chunks:
        if chunk.flags & KEY:
            state = State()
        put(b"".join(write_record(one, layout, state) for one in chunk.records), chunk.flags,
            chunk.t_ns)
    return bytes(out)


def write_record(record, layout, state):
    kind, t_ns, fields, reference, brief = record
    was, kept = state.begin(kind, reference)
    out = [pack_number(kind), pack_number(zigzag(t_ns - state.t_ns)),
           pack_number(reference << 1 | brief)]
    last = 0
    for number, (sort, _, name) in enumerate(layout.elements(kind), 1):
        value = fields.get(name, b"" if sort == "t" else 0)
        before = was.get(name, b"" if sort == "t" else 0)
        if value == before:
            continue
        out.append(pack_number(number - last))
        out.append(pack_number(len(value)) + value if sort == "t" else
                   pack_number(zigzag(value - before)))
        last = number
    out.append(b"\0")
    state.t_ns = t_ns
    state.keep(kind, kept, fields)
    return b"".join(out)
