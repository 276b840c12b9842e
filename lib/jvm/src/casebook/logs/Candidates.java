package casebook.logs;

import java.util.Arrays;

/** The rules whose literal is in a text, in the table's order: only these are tried. */
final class Candidates {
  private final Rules rules = new Rules();
  private long[] bits = Rules.LITERALS.none();

  /** Whether there are any in a text, instead of those of the text before. */
  boolean find(byte[] bytes, int from, int until) {
    Arrays.fill(bits, 0);
    return Rules.LITERALS.find(bytes, from, until, bits);
  }

  /** Adds those of another text. */
  void add(byte[] bytes) {
    Rules.LITERALS.find(bytes, 0, bytes.length, bits);
  }

  long[] kept() {
    return bits.clone();
  }

  void restore(long[] kept) {
    bits = kept;
  }

  Rule rule(int number) {
    return rules.all.get(number);
  }

  /** Number of the first from a number on; -1 when there is none. */
  int next(int from) {
    for (int word = from >> 6; word < bits.length; word++) {
      long left = bits[word] & (word == from >> 6 ? -1L << from : -1L);
      if (left != 0) {
        return (word << 6) + Long.numberOfTrailingZeros(left);
      }
    }
    return -1;
  }
}
