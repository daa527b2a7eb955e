// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keeps known amounts of memory in the heap of Java, whose garbage collector moves objects, and
// outside of it.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

public class Hold {
    static final int MIB = 1 << 20;
    static final List<Object> KEPT = new ArrayList<>();

    static void holdHeap() {
        for (int i = 0; i < 60 * 1024; i++) KEPT.add(new byte[1024 - 16]);
    }

    static void holdDirect() {
        for (int i = 0; i < 40; i++) {
            ByteBuffer one = ByteBuffer.allocateDirect(MIB);
            for (int at = 0; at < MIB; at += 4096) one.put(at, (byte) 1);
            KEPT.add(one);
        }
    }

    public static void main(String[] args) throws Exception {
        holdHeap();
        holdDirect();
        System.out.println("{\"holds\":{}}");
        System.out.flush();
        System.in.read();
    }
}
