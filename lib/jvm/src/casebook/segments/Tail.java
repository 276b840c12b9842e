package casebook.segments;

/** What the end of a file looks like behind its last sound batch. */
final class Tail {
  private final long from;
  private final String fault;
  private final long behind;
  private final boolean certain;
  private long lastNonZero;
  private long end;
  private boolean givenUp;

  /**
   * @param behind where the batch ends, as its length says; -1 when that makes no sense
   * @param certain that the fault is this one, when the file has all of the batch
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

  /** Where the search ended. */
  void endAt(long position) {
    end = position;
  }

  long end() {
    return end;
  }

  /** The search ended before the file did. */
  void giveUp() {
    givenUp = true;
  }

  /** Says what it is, of a range that reaches to the end of the file or not. */
  String reason(boolean last, boolean stated) {
    return limited(last ? kind(stated) : fault);
  }

  String limited(String said) {
    return givenUp ? said + "; the search for sound batches behind it was given up at its limit" : said;
  }

  /** Whether a copy of a segment that is being written ends so: within a batch, or in the zeros of what is reserved. */
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
