package casebook.segments;

/** A batch that has a correct checksum, but no readable records. */
public final class Undecodable extends Exception {
  Undecodable(String reason) {
    super(reason);
  }

  Undecodable(Throwable cause) {
    super(cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage().lines().findFirst().orElse(""), cause);
  }
}
