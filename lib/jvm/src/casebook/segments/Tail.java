package casebook.segments;

/** The form of the end of a file after its last sound batch. */
final class Tail {
  private final long from;
  private final String fault;
  private final long behind;
  private final boolean certain;
  private long lastNonZero;
  private long end;
  private boolean givenUp;

  /**
   * @param behind end of the batch by its stated length; -1 when the length is implausible
   * @param certain the fault is certain if the file has the complete batch
   */
  Tail(long from, String fault, long behind, boolean certain) {
    this.from = from;
    this.fault = fault;
    this.behind = behind;
    this.certain = certain;
    lastNonZero = from - 1;
  }

  void see(Window window, long at, int length) {
    int first = window.at(at);
    for (int index = first + length - 1; index >= first; index--) {
      if (window.buffer().get(index) != 0) {
        lastNonZero = at + index - first;
        return;
      }
    }
  }

  /** Sets the position at which the search ended. */
  void endAt(long position) {
    end = position;
  }

  long end() {
    return end;
  }

  /** Records that the search ended before the end of the file. */
  void giveUp() {
    givenUp = true;
  }

  /** The reason in words; {@code last} for a range that ends at the end of the file. */
  String reason(boolean last, boolean stated) {
    return limited(last ? kind(stated) : fault);
  }

  String limited(String said) {
    return givenUp ? said + "; the search for sound batches behind it was given up at its limit" : said;
  }

  /** Whether a copy of a segment during a write ends like this: within a batch, or in preallocated zeros. */
  boolean isTorn(boolean stated) {
    return torn(stated) != null;
  }

  private String kind(boolean stated) {
    String torn = torn(stated);
    return torn == null ? fault + ", and nothing sound follows" : torn;
  }

  private String torn(boolean stated) {
    if (certain && behind <= end) {
      return null;
    }
    if (lastNonZero < from) {
      return "zeros to the end of the file";
    }
    if (end - from < Header.SHORTEST) {
      return "torn: the file ends inside a header";
    }
    if (behind > end && stated) {
      return "torn: the file has " + (end - from) + " of the batch's " + (behind - from) + " bytes";
    }
    if (end - lastNonZero > Header.SHORTEST) {
      return "torn: zeros from byte " + (lastNonZero + 1) + " to the end of the file";
    }
    return null;
  }
}
