package casebook.logs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Finds in one pass which of many literals occur (Aho and Corasick, 1975): only their rules are tried. */
final class Literals {
  private static final int LETTERS = 128;

  /** The next state by state and letter. */
  private final int[] next;

  /** Literals that end at a state; {@code null} for none. */
  private final int[][] ending;

  private final int words;

  Literals(List<String> texts) {
    List<int[]> trie = new ArrayList<>(List.of(node()));
    List<List<Integer>> ends = new ArrayList<>(List.of(new ArrayList<>()));
    for (int text = 0; text < texts.size(); text++) {
      int state = 0;
      for (char letter : texts.get(text).toCharArray()) {
        if (trie.get(state)[letter] < 0) {
          trie.get(state)[letter] = trie.size();
          trie.add(node());
          ends.add(new ArrayList<>());
        }
        state = trie.get(state)[letter];
      }
      ends.get(state).add(text);
    }
    link(trie, ends);
    next = new int[trie.size() * LETTERS];
    for (int state = 0; state < trie.size(); state++) {
      System.arraycopy(trie.get(state), 0, next, state * LETTERS, LETTERS);
    }
    ending = ends.stream().map(of -> of.isEmpty() ? null : of.stream().mapToInt(Integer::intValue).toArray()).toArray(int[][]::new);
    words = (texts.size() + 63) / 64;
  }

  private static int[] node() {
    int[] node = new int[LETTERS];
    Arrays.fill(node, -1);
    return node;
  }

  /** Links each missing step to the step of the longest known suffix. */
  private static void link(List<int[]> trie, List<List<Integer>> ends) {
    int[] suffix = new int[trie.size()];
    ArrayDeque<Integer> queue = new ArrayDeque<>(List.of(0));
    while (!queue.isEmpty()) {
      int state = queue.remove();
      int[] steps = trie.get(state);
      for (int letter = 0; letter < LETTERS; letter++) {
        int otherwise = state == 0 ? 0 : trie.get(suffix[state])[letter];
        if (steps[letter] < 0) {
          steps[letter] = otherwise;
        } else {
          suffix[steps[letter]] = otherwise;
          ends.get(steps[letter]).addAll(ends.get(otherwise));
          queue.add(steps[letter]);
        }
      }
    }
  }

  /** An empty set of literals. */
  long[] none() {
    return new long[words];
  }

  /** Adds the literals that occur in a part of an array; {@code false} if there are none. */
  boolean find(byte[] bytes, int from, int until, long[] found) {
    boolean any = false;
    int state = 0;
    for (int index = from; index < until; index++) {
      int letter = bytes[index];
      state = letter < 0 ? 0 : next[state * LETTERS + letter];
      int[] here = ending[state];
      if (here != null) {
        any = true;
        for (int text : here) {
          found[text >> 6] |= 1L << text;
        }
      }
    }
    return any;
  }
}
