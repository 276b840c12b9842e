package casebook.segments.spark;

import casebook.segments.BatchRecords;
import casebook.segments.BatchWalker;
import casebook.segments.Damage;
import casebook.segments.Header;
import casebook.segments.Undecodable;
import casebook.spark.Columns;
import java.io.IOException;

/** Makes the rows of one mode from the batches and damage of a walk. Between calls, all state is in the walk and here. */
abstract class Rows {
  private final int columns;
  protected BatchWalker walker;
  protected Common common;

  Rows(Mode mode) {
    columns = mode.schema().size();
  }

  /** Starts another range. */
  void begin(BatchWalker walker, Common common) {
    this.walker = walker;
    this.common = common;
  }

  /**
   * Writes rows until the batch is full.
   *
   * @return false at the end of the range
   */
  abstract boolean fill(Columns out) throws IOException;

  protected void damage(Columns out, Damage damage) {
    common.writeDamage(out, damage, columns);
    out.endRow();
  }

  /** Rows of records. */
  abstract static class OfRecords extends Rows {
    protected final BatchRecords records;
    private final Wanted wanted;

    OfRecords(Mode mode, BatchRecords records, Wanted wanted) {
      super(mode);
      this.records = records;
      this.wanted = wanted;
    }

    abstract void write(Columns out, Header header);

    /** Whether each record has a row, so that a count of records is a count of rows. */
    boolean rowEach() {
      return true;
    }

    /** Whether rows that were held back must be written first. */
    boolean interrupted() {
      return false;
    }

    @Override
    boolean fill(Columns out) throws IOException {
      while (!out.full() && !interrupted()) {
        if (records.next()) {
          write(out, walker.header());
        } else if (!step(out)) {
          return false;
        }
      }
      return true;
    }

    private boolean step(Columns out) throws IOException {
      switch (walker.step()) {
        case BATCH -> open(out);
        case DAMAGE -> damage(out, walker.damage());
        case END -> {
          return false;
        }
      }
      return true;
    }

    private void open(Columns out) throws IOException {
      if (!wanted.batch(walker.header())) {
        return;
      }
      try {
        records.open(walker.header(), walker.batch());
        if (out.none() && rowEach()) {
          out.endRows(records.count());
          records.close();
        }
      } catch (Undecodable error) {
        damage(out, walker.undecodable(error.getMessage()));
      }
    }
  }
}
