package casebook.segments.spark;

import casebook.segments.Header;
import casebook.segments.SegmentName;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The filters that reduce reading: comparisons of a column with constants, joined by AND. They also drop damage, whose offset and
 * time are null; a scan that wants damage must not filter by them.
 */
final class Wanted implements Serializable {
  private static final Map<Mode, String> FIRST_OFFSET =
      Map.of(Mode.RECORDS, "offset", Mode.BATCHES, "base_offset", Mode.GROUP_RECORDS, "log_offset");
  private static final Set<String> OFFSETS = Set.of("offset", "log_offset", "base_offset", "last_offset");

  private final Map<String, Interval> intervals = new HashMap<>();
  private final Map<String, Set<Object>> values = new HashMap<>();
  private final transient List<Predicate> used = new ArrayList<>();
  private final Interval offsets;
  private final Interval times;
  private final boolean controlToo;
  private final boolean othersToo;

  private Wanted(Mode mode, Predicate... predicates) {
    for (Predicate predicate : predicates) {
      add(predicate);
    }
    offsets = interval(FIRST_OFFSET.get(mode));
    times = mode == Mode.RECORDS || mode == Mode.GROUP_RECORDS ? interval("timestamp") : Interval.ALL;
    controlToo = among("kind", "control") || among("kind", "damage");
    othersToo = !Set.<Object>of("control").equals(values.get("kind"));
  }

  static Wanted everything(Mode mode) {
    return new Wanted(mode);
  }

  static Wanted of(Mode mode, Predicate[] predicates) {
    return new Wanted(mode, predicates);
  }

  /** The predicates that reduce reading. */
  Predicate[] used() {
    return used.toArray(Predicate[]::new);
  }

  /** Whether a segment can have wanted rows. Its offsets end below the next segment's base. */
  boolean file(SegmentName name, long ceiling) {
    return among("log_topic", name.topic())
        && among("log_partition", name.partition())
        && among("segment", name.base())
        && (name.base() == null || offsets(name.base(), ceiling - 1));
  }

  /** Whether a range of offsets can have wanted rows. */
  boolean offsets(long first, long last) {
    return OFFSETS.stream().allMatch(column -> interval(column).meets(first, last));
  }

  /** Whether a batch can have wanted records. */
  boolean batch(Header header) {
    boolean wrapper = header.count < 0;
    return (header.control() ? controlToo : othersToo)
        && offsets.meets(wrapper ? Long.MIN_VALUE : header.offset, header.lastOffset)
        && (header.maxTimestamp < 0 || header.magic < 2 && wrapper || times.least() <= micros(header.maxTimestamp));
  }

  /** Whether only some offsets or times are wanted. */
  boolean narrow() {
    return leastOffset() > 0 || mostOffset() < Long.MAX_VALUE || leastTime() > Long.MIN_VALUE;
  }

  long leastOffset() {
    return OFFSETS.stream().mapToLong(column -> interval(column).least()).max().orElseThrow();
  }

  long mostOffset() {
    return OFFSETS.stream().mapToLong(column -> interval(column).most()).min().orElseThrow();
  }

  /** In milliseconds. */
  long leastTime() {
    long least = times.least();
    return least == Long.MIN_VALUE ? least : Math.floorDiv(least, 1000);
  }

  private static long micros(long milliseconds) {
    return milliseconds > Long.MAX_VALUE / 1000 ? Long.MAX_VALUE : milliseconds * 1000;
  }

  private Interval interval(String column) {
    return intervals.getOrDefault(column, Interval.ALL);
  }

  private boolean among(String column, Object value) {
    if (value instanceof Number number && !interval(column).meets(number.longValue(), number.longValue())) {
      return false;
    }
    Set<Object> allowed = values.get(column);
    return allowed == null || value != null && allowed.contains(value instanceof Number number ? (Object) number.longValue() : value);
  }

  private void add(Predicate predicate) {
    Expression[] children = predicate.children();
    if (predicate.name().equals("AND")) {
      Stream.of(children).map(Predicate.class::cast).forEach(this::add);
      return;
    }
    if (children.length < 2 || !(children[0] instanceof NamedReference reference) || reference.fieldNames().length != 1) {
      return;
    }
    String column = reference.fieldNames()[0];
    List<Object> constants = Arrays.stream(children).skip(1).map(Wanted::constant).collect(Collectors.toList());
    if (constants.contains(null)) {
      return;
    }
    if (predicate.name().equals("IN") || predicate.name().equals("=") && constants.get(0) instanceof String) {
      values.merge(column, new HashSet<>(constants), (all, more) -> all.stream().filter(more::contains).collect(Collectors.toSet()));
      used.add(predicate);
    } else if (Set.of("=", "<", "<=", ">", ">=").contains(predicate.name()) && constants.get(0) instanceof Long value) {
      intervals.put(column, interval(column).under(predicate.name(), value));
      used.add(predicate);
    }
  }

  /** A whole number or a text; {@code null} for everything else. */
  private static Object constant(Expression expression) {
    Object value = expression instanceof Literal<?> literal ? literal.value() : null;
    if (value instanceof Long || value instanceof Integer) {
      return ((Number) value).longValue();
    }
    return value instanceof UTF8String ? value.toString() : null;
  }
}
