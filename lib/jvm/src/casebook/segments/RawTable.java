package casebook.segments;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** A hash table from raw keys, as they lie in a buffer, and a number beside them; a key is copied when it is new only. */
final class RawTable<V> {
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long MIX = 0x9E3779B97F4A7C15L;

  private record Entry<V>(byte[] key, long beside, long hash, V value) {}

  private final List<Entry<V>> entries = new ArrayList<>();
  private int[] slots = new int[1 << 12];
  private long bytes;

  int size() {
    return entries.size();
  }

  /** Of all keys. */
  long bytes() {
    return bytes;
  }

  /** Returns the value of a key, made when the key is new. */
  V get(ByteBuffer key, long beside, Supplier<V> make) {
    byte[] array = key.array();
    int start = key.arrayOffset() + key.position();
    int length = key.remaining();
    long hash = hash(array, start, length, beside);
    int slot = (int) hash & slots.length - 1;
    for (; slots[slot] != 0; slot = slot + 1 & slots.length - 1) {
      Entry<V> entry = entries.get(slots[slot] - 1);
      if (entry.hash == hash && entry.beside == beside && Arrays.equals(entry.key, 0, entry.key.length, array, start, start + length)) {
        return entry.value;
      }
    }
    Entry<V> made = new Entry<>(Arrays.copyOfRange(array, start, start + length), beside, hash, make.get());
    entries.add(made);
    slots[slot] = entries.size();
    bytes += length;
    if (2 * entries.size() > slots.length) {
      enlarge();
    }
    return made.value;
  }

  byte[] key(int index) {
    return entries.get(index).key;
  }

  V value(int index) {
    return entries.get(index).value;
  }

  void clear() {
    entries.clear();
    slots = new int[1 << 12];
    bytes = 0;
  }

  private void enlarge() {
    slots = new int[2 * slots.length];
    for (int index = 0; index < entries.size(); index++) {
      int slot = (int) entries.get(index).hash & slots.length - 1;
      while (slots[slot] != 0) {
        slot = slot + 1 & slots.length - 1;
      }
      slots[slot] = index + 1;
    }
  }

  private static long hash(byte[] array, int start, int length, long beside) {
    long hash = beside * MIX + length;
    int end = start + length;
    int at = start;
    for (; at <= end - 8; at += 8) {
      hash = mixed(hash ^ (long) LONG.get(array, at));
    }
    for (; at < end; at++) {
      hash = mixed(hash ^ array[at]);
    }
    return hash;
  }

  private static long mixed(long value) {
    long product = value * MIX;
    return product ^ product >>> 32;
  }
}
