package casebook.segments.spark;

import java.io.Serializable;

/** Numbers from {@code least} to {@code most}, both included. */
record Interval(long least, long most) implements Serializable {
  static final Interval ALL = new Interval(Long.MIN_VALUE, Long.MAX_VALUE);

  /** The part that satisfies a comparison with a number. */
  Interval under(String comparison, long value) {
    return switch (comparison) {
      case "=" -> and(value, value);
      case ">=" -> and(value, Long.MAX_VALUE);
      case "<=" -> and(Long.MIN_VALUE, value);
      case ">" -> value == Long.MAX_VALUE ? and(1, 0) : and(value + 1, Long.MAX_VALUE);
      case "<" -> value == Long.MIN_VALUE ? and(1, 0) : and(Long.MIN_VALUE, value - 1);
      default -> this;
    };
  }

  boolean meets(long from, long to) {
    return from <= most && to >= least;
  }

  boolean all() {
    return equals(ALL);
  }

  private Interval and(long from, long to) {
    return new Interval(Math.max(least, from), Math.min(most, to));
  }
}
