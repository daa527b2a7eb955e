# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes small memory dumps of x86-64 and arm64 kernels: ELF files with the page tables, the log, the
list of modules and the description of the kernel (VMCOREINFO), as the kernel lays them out in
memory."""
import struct
import zlib

PAGE = 4096
BYTES = 1 << 20
PHYSICAL = 0x10000000  # physical address of the memory in the dump
MACHINES = {"x86_64": (62, 0xffffffff81000000), "arm64": (183, 0xffff800080000000)}
COUNT_BITS, SIZE_BITS = 5, 12  # of the rings of the log
COMMITTED, FINALIZED = 1 << 62, 2 << 62


class Memory:
    """Physical memory, which the kernel maps at one virtual address."""

    def __init__(self, arch):
        self.arch, (self.machine, self.base) = arch, MACHINES[arch]
        self.data = bytearray(BYTES)
        self.used = PAGE  # the first page is of VMCOREINFO
        self.info = ["OSRELEASE=6.12.0-test", "PAGESIZE=4096"]
        self.map()

    def take(self, size, align=8):
        self.used = -(-self.used // align) * align
        at, self.used = self.used, self.used + size
        assert self.used <= BYTES
        return at

    def put(self, data, align=8):
        """Stores bytes and returns their virtual address."""
        at = self.take(len(data), align)
        self.data[at:at + len(data)] = data
        return self.base + at

    def put_at(self, address, data):
        self.data[address - self.base:address - self.base + len(data)] = data

    def entry(self, table, index, value):
        struct.pack_into("<Q", self.data, table + 8 * index, value)

    def map(self):
        """Makes page tables of four levels that map all memory at the virtual address."""
        x86 = self.arch == "x86_64"
        tables = [self.take(PAGE, PAGE) for _ in range(3)]
        last = [self.take(PAGE, PAGE) for _ in range(-(-BYTES // (512 * PAGE)))]
        address = self.base & ((1 << 48) - 1)
        for level, table in enumerate(tables):
            below = [*tables, last[0]][level + 1]
            self.entry(table, address >> (39 - 9 * level) & 511, PHYSICAL + below | 3)
        for page in range(BYTES // PAGE):
            self.entry(last[page // 512], ((address >> 12) + page) & 511,
                       PHYSICAL + page * PAGE | 3)
        top = self.base + tables[0]
        if x86:
            start_kernel_map = 0xffffffff80000000
            self.info += [f"SYMBOL(init_top_pgt)={top:x}",
                          f"NUMBER(phys_base)={PHYSICAL - (self.base - start_kernel_map)}",
                          "NUMBER(pgtable_l5_enabled)=0"]
        else:
            self.info += [f"SYMBOL(swapper_pg_dir)={top:x}", "NUMBER(VA_BITS)=48",
                          f"NUMBER(kimage_voffset)=0x{self.base - PHYSICAL:x}"]

    def elf(self):
        info = "\n".join(self.info).encode() + b"\n"
        assert len(info) < PAGE
        self.data[:len(info)] = info
        offset = 64 + 56
        head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 4, self.machine, 1, 0, 64, 0,
                           0, 64, 56, 1, 0, 0, 0)
        load = struct.pack("<IIQQQQQQ", 1, 6, offset, 0, PHYSICAL, BYTES, BYTES, 0)
        return head + load + bytes(self.data)


    def kdump(self):
        """Returns the memory as a compressed dump (makedumpfile's diskdump_mod.h), without pages of
        zeros, as makedumpfile -d 1 -c makes it."""
        self.elf()  # stores VMCOREINFO
        first, pages = PHYSICAL // PAGE, BYTES // PAGE
        last = first + pages
        blocks = -(-last // (PAGE * 8))
        names = b"".join(name.ljust(65, b"\0") for name in (
            b"Linux", b"host", b"6.12.0-test", b"#1", self.arch.replace("arm64", "aarch64").encode(),
            b""))
        head = struct.pack("<8si", b"KDUMP   ", 6) + names
        head = head.ljust(424, b"\0") + struct.pack("<IiiIIIIIIi", 1, PAGE, 1, 2 * blocks, last, 0, 0,
                                                    0, 0, 0)
        there, dumped = bytearray(blocks * PAGE), bytearray(blocks * PAGE)
        descriptors, packed = [], b""
        for page in range(pages):
            number, data = first + page, bytes(self.data[page * PAGE:(page + 1) * PAGE])
            there[number // 8] |= 1 << number % 8
            if not any(data):
                continue
            dumped[number // 8] |= 1 << number % 8
            small = zlib.compress(data)
            descriptors.append((len(packed), len(small)))
            packed += small
        start = PAGE * (2 + 2 * blocks) + 24 * len(descriptors)
        table = b"".join(struct.pack("<QIIQ", start + at, size, 1, 0) for at, size in descriptors)
        sub = struct.pack("<QiiQQQQQQQQQQQ", 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last, last)
        return (head.ljust(PAGE, b"\0") + sub.ljust(PAGE, b"\0") + bytes(there) + bytes(dumped) +
                table + packed)


def records_of(log):
    """Yields (ns, text) of the lines of a log with timestamps."""
    for line in log.splitlines():
        time, text = line.split("] ", 1)
        yield int(float(time.lstrip("[ ")) * 1e9), text.encode()


def put_ring(memory, log):
    """Stores a log as Linux 5.10 and later do: kernel/printk/printk_ringbuffer.h. Old records are
    overwritten, and a text that does not fit before the end of its ring is at its beginning."""
    count, size = 1 << COUNT_BITS, 1 << SIZE_BITS
    descs, infos, text = bytearray(24 * count), bytearray(88 * count), bytearray(size)
    first_id = (1 << 62) - 3  # the ids overflow
    position = size * 7 - 600
    records = list(records_of(log))[-(count - 1):]
    for number, (when, line) in enumerate(records):
        number_id = (first_id + number) % (1 << 62)
        length = -(-(len(line) + 8) // 8) * 8
        begin = position
        if begin // size != (begin + length - 1) // size:
            position = (begin // size + 1) * size
        at = position % size
        text[at:at + 8] = struct.pack("<Q", number_id)
        text[at + 8:at + 8 + len(line)] = line
        position += length
        state = FINALIZED if number % 2 else COMMITTED
        struct.pack_into("<QQQ", descs, number_id % count * 24, state | number_id, begin, position)
        struct.pack_into("<QQHBBI", infos, number_id % count * 88, number, when, len(line), 0, 3 << 5,
                         1)
    head = (first_id + len(records) - 1) % (1 << 62)
    ring = struct.pack("<IIQQQQQ", COUNT_BITS, 0, memory.put(bytes(descs)),
                       memory.put(bytes(infos)), head, first_id, 0)
    ring += struct.pack("<IIQQQ", SIZE_BITS, 0, memory.put(bytes(text)), 0, 0)
    pointer = memory.put(struct.pack("<Q", memory.put(ring)))
    memory.info += [f"SYMBOL(prb)={pointer:x}", "OFFSET(printk_ringbuffer.desc_ring)=0",
                    "OFFSET(printk_ringbuffer.text_data_ring)=48",
                    "OFFSET(prb_desc_ring.count_bits)=0", "OFFSET(prb_desc_ring.descs)=8",
                    "OFFSET(prb_desc_ring.infos)=16", "OFFSET(prb_desc_ring.head_id)=24",
                    "OFFSET(prb_desc_ring.tail_id)=32", "SIZE(prb_desc)=24",
                    "OFFSET(prb_desc.state_var)=0", "OFFSET(prb_desc.text_blk_lpos)=8",
                    "OFFSET(prb_data_blk_lpos.begin)=0", "OFFSET(prb_data_blk_lpos.next)=8",
                    "SIZE(printk_info)=88", "OFFSET(printk_info.ts_nsec)=8",
                    "OFFSET(printk_info.text_len)=16", "OFFSET(prb_data_ring.size_bits)=0",
                    "OFFSET(prb_data_ring.data)=8"]


def put_records(memory, log):
    """Stores a log as Linux 3.5 to 5.9 do: struct printk_log of kernel/printk/printk.c. The log
    begins near the end of the buffer, and continues at the beginning."""
    size = 1 << 13
    buffer = bytearray(size)
    at = first = size - 512
    for when, line in records_of(log):
        length = -(-(16 + len(line)) // 8) * 8
        if at + length + 16 > size:
            struct.pack_into("<QHHHBB", buffer, at, 0, 0, 0, 0, 0, 0)
            at = 0
        struct.pack_into("<QHHHBB", buffer, at, when, length, len(line), 0, 0, 3 << 5)
        buffer[at + 16:at + 16 + len(line)] = line
        at += length
    words = {"log_buf": struct.pack("<Q", memory.put(bytes(buffer))),
             "log_buf_len": struct.pack("<I", size), "log_first_idx": struct.pack("<I", first),
             "log_next_idx": struct.pack("<I", at)}
    memory.info += [f"SYMBOL({name})={memory.put(word):x}" for name, word in words.items()]
    memory.info += ["SIZE(printk_log)=16", "OFFSET(printk_log.ts_nsec)=0",
                    "OFFSET(printk_log.len)=8", "OFFSET(printk_log.text_len)=10"]


def put_modules(memory, names):
    """Stores the list of modules, and the symbol `modules` as scripts/kallsyms.c does. A token
    stands for one or more characters."""
    at = [memory.put(bytes(128)) for _ in range(len(names) + 1)]  # the first is the list's head
    links = [address if number == 0 else address + 8 for number, address in enumerate(at)]
    for number, link in enumerate(links):
        memory.put_at(link, struct.pack("<QQ", links[(number + 1) % len(links)], links[number - 1]))
        if number:
            memory.put_at(link + 16, names[number - 1].encode() + b"\0")
    tokens = [bytes([code]) for code in range(256)]
    tokens[1] = b"mod"
    table, index = b"", b""
    for token in tokens:
        index += struct.pack("<H", len(table))
        table += token + b"\0" if token != b"\0" else b"\0"
    offset = at[0] - memory.base
    # the first symbol of this name is no list
    symbols = [(b"Tstart", 0), (b"t\x01ules", 64), (b"T" + b"x" * 200, 8), (b"D\x01ules", offset)]
    packed = b""
    for name, _ in symbols:
        length = len(name)
        packed += bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])
        packed += name
    x86 = memory.arch == "x86_64"
    values = b"".join(struct.pack("<i", -1 - value) if x86 else struct.pack("<I", value)
                      for _, value in symbols)
    parts = {"names": packed, "num_syms": struct.pack("<I", len(symbols)), "token_table": table,
             "token_index": index, "offsets": values, "relative_base": struct.pack("<Q", memory.base)}
    memory.info += [f"SYMBOL(kallsyms_{name})={memory.put(part):x}" for name, part in parts.items()]


def dump_of(log, arch="x86_64", modules=(), old=False, form="elf", more=b""):
    """Returns a dump of a kernel with a log (lines "[seconds] text") and modules. `form` is elf or
    kdump. `more` is put into the memory, at a page."""
    memory = Memory(arch)
    (put_records if old else put_ring)(memory, log)
    if modules:
        put_modules(memory, modules)
    memory.put(more, PAGE)
    return getattr(memory, form)()
