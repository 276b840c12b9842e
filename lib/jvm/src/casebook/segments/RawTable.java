package casebook.segments;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** A hash table whose keys are raw bytes in a buffer and a number. Only a new key is copied. */
final class RawTable<V> {
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long MIX = 0x9E3779B97F4A7C15L;

  private record Entry<V>(byte[] key, long beside, long hash, V value) {
    boolean is(byte[] array, int start, int length, long otherBeside) {
      return beside == otherBeside && key.length == length && Arrays.equals(key, 0, length, array, start, start + length);
    }
  }

  private final List<Entry<V>> entries = new ArrayList<>();
  private Entry<V>[] slots = none(1 << 12);
  private Entry<V> last;
  private long bytes;

  int size() {
    return entries.size();
  }

  /** Bytes of all keys. */
  long bytes() {
    return bytes;
  }

  @SuppressWarnings("unchecked")
  private static <V> Entry<V>[] none(int slots) {
    return new Entry[slots];
  }

  /** Returns the value of a key; a new key makes its value. */
  V get(ByteBuffer key, long beside, Function<ByteBuffer, V> make) {
    byte[] array = key.array();
    int start = key.arrayOffset() + key.position();
    int length = key.remaining();
    if (last != null && last.is(array, start, length, beside)) {
      return last.value;
    }
    long hash = hash(array, start, length, beside);
    int slot = (int) hash & slots.length - 1;
    for (Entry<V> entry; (entry = slots[slot]) != null; slot = slot + 1 & slots.length - 1) {
      if (entry.hash == hash && entry.is(array, start, length, beside)) {
        last = entry;
        return entry.value;
      }
    }
    Entry<V> made = new Entry<>(Arrays.copyOfRange(array, start, start + length), beside, hash, make.apply(key));
    entries.add(made);
    slots[slot] = made;
    last = made;
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
    slots = none(1 << 12);
    last = null;
    bytes = 0;
  }

  private void enlarge() {
    slots = none(2 * slots.length);
    for (Entry<V> entry : entries) {
      int slot = (int) entry.hash & slots.length - 1;
      while (slots[slot] != null) {
        slot = slot + 1 & slots.length - 1;
      }
      slots[slot] = entry;
    }
  }

  /** Hashes eight bytes at a time; the last eight may overlap those before. */
  private static long hash(byte[] array, int start, int length, long beside) {
    long hash = mixed(beside * MIX + length);
    int end = start + length;
    for (int at = start; at < end - 8; at += 8) {
      hash = mixed(hash ^ (long) LONG.get(array, at));
    }
    if (length >= 8) {
      return mixed(hash ^ (long) LONG.get(array, end - 8));
    }
    for (int at = start; at < end; at++) {
      hash = mixed(hash ^ array[at]);
    }
    return hash;
  }

  private static long mixed(long value) {
    long product = value * MIX;
    return product ^ product >>> 32;
  }
}
